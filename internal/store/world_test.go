package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/pgtest"
	"stagefold/internal/planning"
)

// world is a database for one test, with a clock and ids of its own.
type world struct {
	*DB
	t   testing.TB
	o   Options
	ctx context.Context

	mu      sync.Mutex
	clock   time.Time
	made    int
	commits []Committed
	told    chan Committed // where a test wants them; never blocks
}

var begin = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// each runs a test on both databases. Deltas wait for the next structural entry
// or Sync, so that nothing depends on time.
func each(t *testing.T, f func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) { f(t, newWorld(t, Options{Dir: t.TempDir()})) })
	t.Run("postgres", func(t *testing.T) { f(t, newWorld(t, Options{URL: pgtest.NewDatabase(t)})) })
}

func newWorld(t testing.TB, o Options) *world {
	t.Helper()
	w := &world{t: t, ctx: context.Background(), clock: begin, told: make(chan Committed, 10_000)}
	if o.CommitEvery == 0 {
		o.CommitEvery = time.Hour
	}
	o.Now, o.NewID, o.Committed = w.now, w.id, w.committed
	w.o = o
	w.open()
	t.Cleanup(func() {
		if w.DB != nil {
			w.must(w.Close())
		}
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	db, err := Open(w.ctx, w.o)
	w.must(err)
	w.DB = db
}

// reopen is another process that goes on with the same database.
func (w *world) reopen() {
	w.t.Helper()
	w.must(w.Close())
	w.open()
}

// now goes on by a second each time.
func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(time.Second)
	return w.clock
}

func (w *world) id() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	return fmt.Sprintf("id%d", w.made)
}

func (w *world) committed(c Committed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits = append(w.commits, c)
	select {
	case w.told <- c:
	default:
	}
}

// committedOf is everything that was told of a run, in order.
func (w *world) committedOf(runID string) (list []*part.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.commits {
		if c.RunID == runID {
			list = append(list, c.Entries...)
		}
	}
	return list
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) chat(id string) Chat {
	w.t.Helper()
	c, err := w.CreateChat(w.ctx, Chat{ID: id, PlanningMode: planning.Metronome})
	w.must(err)
	return c
}

// started is a new chat with a claimed run.
func (w *world) started(id string) *RunLog {
	w.t.Helper()
	w.chat("chat-" + id)
	w.post("chat-"+id, "m-"+id, "text of "+id, id)
	l, _, err := w.Claim(w.ctx, id)
	w.must(err)
	return l
}

func (w *world) post(chat, message, text, run string) PostResult {
	w.t.Helper()
	r, err := w.PostMessage(w.ctx, Post{ChatID: chat, MessageID: message, Text: text, NewRunID: run, Model: "rehearsal", Mode: planning.Metronome})
	w.must(err)
	return r
}

func (w *world) run(id string) Run {
	w.t.Helper()
	r, err := w.Run(w.ctx, id)
	w.must(err)
	return r
}

func (w *world) entries(id string, after int64) []*part.Entry {
	w.t.Helper()
	list, err := w.Entries(w.ctx, id, after, 0)
	w.must(err)
	return list
}

// Entries of a scripted run.

func start() *part.Entry {
	return &part.Entry{Type: part.Start, Data: json.RawMessage(`{"runId":"r"}`)}
}

func startStep(n int) *part.Entry { return &part.Entry{Type: part.StartStep, Step: n} }

func textStart(step int, id string) *part.Entry {
	return &part.Entry{Type: part.TextStart, Step: step, ID: id}
}

func delta(step int, id, s string) *part.Entry {
	return &part.Entry{Type: part.TextDelta, Step: step, ID: id, Delta: s}
}

func textEnd(step int, id string) *part.Entry {
	return &part.Entry{Type: part.TextEnd, Step: step, ID: id}
}

func callStart(step int, id string) *part.Entry {
	return &part.Entry{Type: part.ToolInputStart, Step: step, ToolCallID: id, ToolName: "read_file"}
}

func callDelta(step int, id, s string) *part.Entry {
	return &part.Entry{Type: part.ToolInputDelta, Step: step, ToolCallID: id, InputTextDelta: s}
}

func callInput(step int, id, input string) *part.Entry {
	return &part.Entry{Type: part.ToolInputAvailable, Step: step, ToolCallID: id, ToolName: "read_file", Input: json.RawMessage(input)}
}

func callOutput(step int, id, output string) *part.Entry {
	return &part.Entry{Type: part.ToolOutput, Step: step, ToolCallID: id, Output: json.RawMessage(output)}
}

func finishStep(n int, output int64) *part.Entry {
	return &part.Entry{Type: part.FinishStep, Step: n, FinishReason: part.ReasonStop, Usage: &part.Usage{Input: 10, Output: output}}
}

func finish(s part.State) *part.Entry {
	return &part.Entry{Type: part.Finish, State: s, FinishReason: part.ReasonStop, Usage: &part.Usage{Input: 20, Output: 7}}
}

// plan is a planner's state with done of total stages done.
func plan(revision, done, total int) planning.State {
	s := planning.State{HasPlan: true, Plan: planning.Plan{Mode: planning.Metronome, Revision: revision, Pointer: done}}
	for i := range total {
		st := planning.Stage{ID: fmt.Sprintf("s%d", i), Content: fmt.Sprintf("Stage %d", i), Deliverable: "d", Status: planning.Pending}
		switch {
		case i < done:
			st.Status, st.Evidence = planning.Done, "seen"
		case i == done:
			st.Status = planning.InProgress
		}
		s.Plan.Stages = append(s.Plan.Stages, st)
	}
	return s
}

func change(s planning.State) *part.PlanData {
	return &part.PlanData{Plan: s.Plan, Tool: "plan", Explanation: "because", Note: "note"}
}

// brief is entries in one line each.
func brief(list []*part.Entry) (out []string) {
	for _, e := range list {
		s := fmt.Sprintf("%d %s", e.Seq, e.Type)
		if id := e.ID + e.ToolCallID; id != "" {
			s += " " + id
		}
		if d := e.Delta + e.InputTextDelta; d != "" {
			s += " " + d
		}
		out = append(out, s)
	}
	return out
}

// gist is entries in one line each, whichever commits cut their deltas.
func gist(list []*part.Entry) (out []string) {
	for _, line := range brief(pack(list)) {
		_, line, _ = strings.Cut(line, " ")
		out = append(out, line)
	}
	return out
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// inOrder checks that seqs rise from 1 without gaps.
func inOrder(t testing.TB, list []*part.Entry) {
	t.Helper()
	for i, e := range list {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d has seq %d", i+1, e.Seq)
		}
	}
}
