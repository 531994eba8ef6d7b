package bus

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"stagefold/internal/part"
)

// maxWake bounds a wake message; larger entries go as a bare seq.
const maxWake = 64 << 10

const (
	wakeSubject = "stagefold.wake."
	fromHeader  = "Stagefold-From"
)

// Wake says that something of a chat changed: the log of a run grew, or (without
// RunID) its list or queue. Entries may be missing; then the log has them.
type Wake struct {
	ChatID  string        `json:"chatId"`
	RunID   string        `json:"runId,omitempty"`
	Seq     int64         `json:"seq,omitempty"`
	Entries []*part.Entry `json:"entries,omitempty"`
	Chrome  bool          `json:"chrome,omitempty"` // the chat beside its runs changed
}

// Wake tells the other instances. It never waits; a wake that is lost is made
// good by the viewers' own look at the database.
func (b *Bus) Wake(w Wake) error {
	body, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("encode a wake: %w", err)
	}
	if len(body) > maxWake {
		w.Entries = nil
		if body, err = json.Marshal(w); err != nil {
			return fmt.Errorf("encode a wake: %w", err)
		}
	}
	msg := nats.NewMsg(wakeSubject + w.ChatID)
	msg.Header.Set(fromHeader, b.o.Instance)
	msg.Data = body
	return b.conn.PublishMsg(msg)
}

// OnWake calls f for each wake of another instance. f must not block.
func (b *Bus) OnWake(f func(Wake)) error {
	_, err := b.conn.Subscribe(wakeSubject+"*", func(m *nats.Msg) {
		if m.Header.Get(fromHeader) == b.o.Instance {
			return
		}
		var w Wake
		if json.Unmarshal(m.Data, &w) == nil {
			f(w)
		}
	})
	if err != nil {
		return fmt.Errorf("subscribe to wakes: %w", err)
	}
	return nil
}
