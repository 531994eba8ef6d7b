package live

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stagefold/internal/part"
	"stagefold/views"
)

// testTime is the one time of these tests: pages rendered at different moments
// must be equal.
var testTime = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// chatLog is a chat's logs in memory, and the wakes that a store would send.
type chatLog struct {
	hub *Hub

	mu   sync.Mutex
	chat views.ChatState
	logs map[string][]*part.Entry
	fail error // what reading answers
}

func newChatLog() *chatLog {
	return &chatLog{chat: views.ChatState{ID: "chat", Title: "A chat"}, logs: map[string][]*part.Entry{}}
}

// newHub is a hub on the log that ends with the test.
func newHub(t testing.TB, l *chatLog) *Hub {
	h := NewHub(Config{Entries: l.entries, Chat: l.state, Now: func() time.Time { return testTime }, Tick: time.Millisecond, Grace: time.Hour, Heartbeat: time.Hour})
	l.hub = h
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	return h
}

func (l *chatLog) entries(_ context.Context, run string, after int64) ([]*part.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.logs[run], func(e *part.Entry) bool { return e.Seq > after })
	if i < 0 {
		return nil, l.fail
	}
	return slices.Clone(l.logs[run][i:]), l.fail
}

func (l *chatLog) state(context.Context, string) (views.ChatState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat
	c.RunIDs, c.Queue, c.Now = slices.Clone(c.RunIDs), slices.Clone(c.Queue), testTime
	return c, l.fail
}

// begin starts a run with its first entry.
func (l *chatLog) begin(run, text string) {
	l.mu.Lock()
	l.chat.RunIDs = append(l.chat.RunIDs, run)
	l.mu.Unlock()
	l.add(run, &part.Entry{Type: part.Start, Data: asJSON(part.StartData{RunID: run, ChatID: "chat", UserText: text})})
}

// add commits entries and wakes the view with them.
func (l *chatLog) add(run string, entries ...*part.Entry) {
	l.commit(run, entries...)
	l.hub.Wake("chat", Wake{RunID: run, Entries: entries})
}

func (l *chatLog) commit(run string, entries ...*part.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		e.Seq = int64(len(l.logs[run]) + 1)
		e.Time = testTime.Add(time.Duration(e.Seq) * time.Millisecond)
		l.logs[run] = append(l.logs[run], e)
	}
}

func (l *chatLog) last(run string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.logs[run]))
}

func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// writer makes a run's entries up, at random and well-formed: text in markdown,
// reasoning, tools, plans whose stages come, go and move, steps taken back.
type writer struct {
	r      *rand.Rand
	step   int
	parts  int
	open   *part.Entry // the text or reasoning that still streams
	rest   string      // what it has still to say
	stages []todo
	names  int
}

type todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

const said = "The build got slow on **14 February**.\n\n| stage | before | now |\n|---|--:|--:|\n" +
	"| compile | 41 s | 43 s |\n| test | 66 s | 311 s |\n| package | 12 s | 12 s |\n\n- keep the *database* on `tmpfs`\n- run the tests in parallel\n\n" +
	"```go\nfunc main() {\n\tprintln(\"<b>hello</b>\")\n}\n```\n\n> quoted\n> text\n\nThe end, [a link](https://example.test) and no more.\n"

func (w *writer) entry(e part.Entry) *part.Entry {
	e.Step = w.step
	return &e
}

// next is what one commit brings.
func (w *writer) next() []*part.Entry {
	if w.step == 0 {
		w.step = 1
		return []*part.Entry{w.entry(part.Entry{Type: part.StartStep})}
	}
	if w.open != nil {
		return w.more()
	}
	w.parts++
	id := fmt.Sprintf("x%d", w.parts)
	switch n := w.r.IntN(12); {
	case n < 3:
		w.open = w.entry(part.Entry{Type: part.TextStart, ID: id})
		w.rest = strings.Repeat(said, 1+w.r.IntN(3))
		return []*part.Entry{w.open}
	case n < 4:
		w.open = w.entry(part.Entry{Type: part.ReasoningStart, ID: id})
		w.rest = "I should look at this first.\n\nThen at that."
		return []*part.Entry{w.open}
	case n < 7:
		return w.tool(id, "read_file", asJSON(map[string]string{"path": "a.txt"}), asJSON("one\ntwo"))
	case n < 11:
		w.plan()
		return w.tool(id, "write_todos", asJSON(map[string]any{"todos": w.stages}), asJSON(map[string]any{"todos": w.stages}))
	}
	if w.r.IntN(3) == 0 {
		return []*part.Entry{w.entry(part.Entry{Type: part.StepReset})}
	}
	w.step++
	usage := part.Usage{Input: 100, Output: 10}
	return []*part.Entry{{Step: w.step - 1, Type: part.FinishStep, FinishReason: part.ReasonToolCalls, Usage: &usage}, w.entry(part.Entry{Type: part.StartStep})}
}

// more is the next delta, or the end, of what streams.
func (w *writer) more() []*part.Entry {
	delta, end := part.TextDelta, part.TextEnd
	if w.open.Type == part.ReasoningStart {
		delta, end = part.ReasoningDelta, part.ReasoningEnd
	}
	id := w.open.ID
	if w.rest == "" {
		w.open = nil
		return []*part.Entry{w.entry(part.Entry{Type: end, ID: id})}
	}
	n := min(len(w.rest), 1+w.r.IntN(120))
	text := w.rest[:n]
	w.rest = w.rest[n:]
	return []*part.Entry{w.entry(part.Entry{Type: delta, ID: id, Delta: text})}
}

func (w *writer) tool(id, name string, in, out json.RawMessage) []*part.Entry {
	return []*part.Entry{
		w.entry(part.Entry{Type: part.ToolInputStart, ToolCallID: id, ToolName: name}),
		w.entry(part.Entry{Type: part.ToolInputAvailable, ToolCallID: id, ToolName: name, Input: in}),
		w.entry(part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: out}),
	}
}

// plan changes the list: goes on, adds, drops or moves stages.
func (w *writer) plan() {
	add := func() {
		w.names++
		w.stages = append(w.stages, todo{fmt.Sprintf("s%d", w.names), fmt.Sprintf("Stage %d", w.names), "pending"})
	}
	w.stages = slices.Clone(w.stages)
	if len(w.stages) == 0 {
		for range 2 + w.r.IntN(4) {
			add()
		}
		w.stages[0].Status = "in_progress"
		return
	}
	i := w.r.IntN(len(w.stages))
	switch w.r.IntN(6) {
	case 0:
		add()
	case 1:
		w.stages = slices.Delete(w.stages, i, i+1)
	case 2:
		j := w.r.IntN(len(w.stages))
		w.stages[i], w.stages[j] = w.stages[j], w.stages[i]
	case 3:
		w.stages[i].Content += " again"
	default:
		active := slices.IndexFunc(w.stages, func(s todo) bool { return s.Status == "in_progress" })
		if active >= 0 {
			w.stages[active].Status = "done"
		}
		if i = slices.IndexFunc(w.stages, func(s todo) bool { return s.Status == "pending" }); i >= 0 {
			w.stages[i].Status = "in_progress"
		}
	}
}

// finish ends what is open and the run.
func (w *writer) finish() []*part.Entry {
	var out []*part.Entry
	if w.open != nil {
		w.rest = ""
		out = w.more()
	}
	return append(out, w.entry(part.Entry{Type: part.Finish, State: part.Finished, FinishReason: part.ReasonStop}))
}
