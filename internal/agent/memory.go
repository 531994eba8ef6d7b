package agent

import (
	"context"
	"slices"
	"sync"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// MemoryLog keeps a run's log in memory. Like the stored log it numbers
// entries when it commits them, joins adjacent deltas, and stores nothing of a
// commit that fails. The zero value is ready; every method may be called from
// any goroutine.
type MemoryLog struct {
	// Fail is asked before each commit, numbered from 1; an error is that
	// commit's. A failed Append shows up at the next call, as in the store.
	// nil: every commit succeeds.
	Fail func(commit int) error
	// Stop is asked after each commit that succeeded: true sets the cancel flag,
	// which every later call but Finish reports. nil: never.
	Stop func(commit int) bool
	// Committed is called after each commit with its entries, from the run's
	// goroutine; nil where nobody listens.
	Committed func(entries []*part.Entry)

	mu      sync.Mutex
	entries []*part.Entry
	pending []*part.Entry // deltas that wait for the next commit
	commits int
	lost    error // of an earlier commit; every later one fails with it, but Finish
	stop    bool  // the cancel flag is set
	over    bool

	state     planning.State
	kept      bool // state is the chat's open plan
	revisions []part.PlanData
	waiting   []part.Waiting
	step      int
	outputs   map[string][]byte
}

// Append commits structural entries at once and lets deltas wait for them.
func (l *MemoryLog) Append(entries ...*part.Entry) error {
	l.mu.Lock()
	if l.lost != nil || l.over && slices.ContainsFunc(entries, func(e *part.Entry) bool { return !e.Late }) {
		defer l.mu.Unlock()
		return l.lost
	}
	l.pending = append(l.pending, entries...)
	var committed []*part.Entry
	if slices.ContainsFunc(entries, func(e *part.Entry) bool { return !isDelta(e) }) {
		var err error
		if committed, err = l.commit(nil); err != nil {
			l.lost = err
		}
	}
	stop := l.stop
	l.mu.Unlock()
	l.tell(committed)
	if stop {
		return ErrStopRequested
	}
	return nil
}

// Sync commits what waits.
func (l *MemoryLog) Sync(context.Context) error {
	return l.settle(nil, nil)
}

// CommitPlan stores the state, the revision and the entries together.
func (l *MemoryLog) CommitPlan(_ context.Context, state planning.State, change *part.PlanData, entries ...*part.Entry) error {
	return l.settle(entries, func() {
		l.state, l.kept = state, true
		if change != nil {
			l.revisions = append(l.revisions, *change)
		}
	})
}

// CommitStep marks the step as completed.
func (l *MemoryLog) CommitStep(_ context.Context, step int, state planning.State, entries ...*part.Entry) error {
	return l.settle(entries, func() { l.step, l.state = step, state })
}

// SetWaiting stores what the run waits for.
func (l *MemoryLog) SetWaiting(_ context.Context, waiting []part.Waiting, entries ...*part.Entry) error {
	return l.settle(entries, func() { l.waiting = slices.Clone(waiting) })
}

// SaveOutput keeps a whole tool output.
func (l *MemoryLog) SaveOutput(_ context.Context, toolCallID, _ string, output []byte) error {
	return l.settle(nil, func() {
		if l.outputs == nil {
			l.outputs = map[string][]byte{}
		}
		l.outputs[toolCallID] = slices.Clone(output)
	})
}

// Finish settles the run; the entries of an earlier lost commit stay lost.
func (l *MemoryLog) Finish(_ context.Context, plan *planning.State, entries ...*part.Entry) error {
	l.mu.Lock()
	if l.over {
		defer l.mu.Unlock()
		return nil
	}
	l.lost, l.stop = nil, false
	l.mu.Unlock()
	return l.settle(entries, func() {
		l.over, l.waiting = true, nil
		l.state, l.kept = planning.State{}, plan != nil
		if plan != nil {
			l.state = *plan
		}
	})
}

// Entries is the committed log.
func (l *MemoryLog) Entries() []*part.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// State is the newest stored plan state; false once the plan is retired or
// where none was stored.
func (l *MemoryLog) State() (planning.State, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.kept
}

// Revisions are the stored plan changes, oldest first.
func (l *MemoryLog) Revisions() []part.PlanData {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.revisions)
}

// Waiting is what the run waits for now.
func (l *MemoryLog) Waiting() []part.Waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.waiting)
}

// Output is the whole output of a tool call, nil where none was saved.
func (l *MemoryLog) Output(toolCallID string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outputs[toolCallID]
}

// Commits counts the commits so far, failed ones included.
func (l *MemoryLog) Commits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.commits
}

// settle commits what waits and the entries, and applies change with them.
func (l *MemoryLog) settle(entries []*part.Entry, change func()) error {
	l.mu.Lock()
	if l.lost != nil || l.over {
		defer l.mu.Unlock()
		return l.lost
	}
	if l.stop {
		defer l.mu.Unlock()
		return ErrStopRequested
	}
	waiting := l.pending
	committed, err := l.commit(entries)
	if err != nil {
		l.pending = waiting // only this commit's own entries are lost
		l.mu.Unlock()
		return err
	}
	if change != nil {
		change()
	}
	l.mu.Unlock()
	l.tell(committed)
	return nil
}

// commit numbers and joins the pending entries and the given ones.
func (l *MemoryLog) commit(entries []*part.Entry) ([]*part.Entry, error) {
	l.commits++
	if l.Fail != nil {
		if err := l.Fail(l.commits); err != nil {
			l.pending = nil
			return nil, err
		}
	}
	from := len(l.entries)
	for _, e := range append(l.pending, entries...) {
		if n := len(l.entries); n > from && joins(l.entries[n-1], e) {
			joined := *l.entries[n-1]
			joined.Delta += e.Delta
			joined.InputTextDelta += e.InputTextDelta
			l.entries[n-1] = &joined
			continue
		}
		c := *e
		c.Seq = int64(len(l.entries) + 1)
		l.entries = append(l.entries, &c)
	}
	l.pending = nil
	l.stop = l.stop || l.Stop != nil && l.Stop(l.commits)
	return slices.Clone(l.entries[from:]), nil
}

func (l *MemoryLog) tell(committed []*part.Entry) {
	if l.Committed != nil && len(committed) > 0 {
		l.Committed(committed)
	}
}

func isDelta(e *part.Entry) bool {
	return e.Type == part.TextDelta || e.Type == part.ReasoningDelta || e.Type == part.ToolInputDelta
}

// joins: both are deltas of one part.
func joins(a, b *part.Entry) bool {
	return isDelta(a) && a.Type == b.Type && a.ID == b.ID && a.ToolCallID == b.ToolCallID && a.Step == b.Step
}
