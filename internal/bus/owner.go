package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const ownerSubject = "stagefold.owner."

// Letter is a message to the owner of a run.
type Letter struct {
	Kind       string `json:"kind"` // "alive", "stop", "answer", "decide"
	MessageID  string `json:"messageId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	Text       string `json:"text,omitempty"`
}

// Hold makes this process the one that letters to the run reach, until Release.
// take answers each letter: true for delivered.
func (b *Bus) Hold(runID string, take func(Letter) bool) error {
	sub, err := b.conn.Subscribe(ownerSubject+runID, func(m *nats.Msg) {
		var l Letter
		if json.Unmarshal(m.Data, &l) != nil {
			return
		}
		reply := "no"
		if l.Kind == "alive" || take(l) {
			reply = "yes"
		}
		_ = m.Respond([]byte(reply))
	})
	if err != nil {
		return fmt.Errorf("listen for letters to run %s: %w", runID, err)
	}
	b.mu.Lock()
	old := b.held[runID]
	b.held[runID] = sub
	b.mu.Unlock()
	if old != nil {
		_ = old.Unsubscribe()
	}
	return nil
}

// Release undoes Hold.
func (b *Bus) Release(runID string) {
	b.mu.Lock()
	sub := b.held[runID]
	delete(b.held, runID)
	b.mu.Unlock()
	if sub != nil {
		_ = sub.Unsubscribe()
	}
}

// Tell sends a letter to the run's owner and reports whether it was delivered.
// False without an error: nobody owns the run, or its owner does not answer.
func (b *Bus) Tell(ctx context.Context, runID string, l Letter) (bool, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return false, fmt.Errorf("encode a letter: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	m, err := b.conn.RequestWithContext(ctx, ownerSubject+runID, body)
	switch {
	case err == nil:
		return string(m.Data) == "yes", nil
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return false, nil
	}
	return false, fmt.Errorf("tell the owner of run %s: %w", runID, err)
}

// Owned reports whether a living process holds the run.
func (b *Bus) Owned(ctx context.Context, runID string) bool {
	ok, err := b.Tell(ctx, runID, Letter{Kind: "alive"})
	return err == nil && ok
}
