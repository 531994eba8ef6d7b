package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// maxPending bounds what one run may have waiting for the database, in bytes of
// text; its owner waits then.
const maxPending = 512 << 10

// RunLog is a run's log as its owner writes it. One goroutine calls it.
type RunLog struct {
	db            *DB
	runID, chatID string
	root          bool
	epoch         int64

	mu       sync.Mutex
	changed  *sync.Cond
	pending  []*part.Entry
	size     int       // of pending
	since    time.Time // when the oldest of pending, or op, came
	op       *op       // for the next commit, after pending
	inFlight bool      // the writer has a batch; nothing else of this log until it is settled
	lastSeq  int64
	usage    part.Usage // of the steps in the log
	err      error      // final: fenced, or ended or deleted by others
	lost     error      // a commit failed and its entries are lost; Finish alone goes on
	stop     bool       // the cancel flag is set
	finished bool       // by Finish; late entries alone are taken
}

func newRunLog(d *DB, r Run) *RunLog {
	l := &RunLog{db: d, runID: r.ID, chatID: r.ChatID, root: r.ParentRunID == "", epoch: r.Epoch, lastSeq: r.LastSeq, usage: r.Usage, stop: r.CancelRequested}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Append adds entries to the next commit; anything but a delta starts it at
// once. It waits only where the database is away and very much is pending. With
// ErrStopRequested the entries were taken, with any other error they were not.
// After Finish only late entries are taken.
func (l *RunLog) Append(entries ...*part.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.size > maxPending && l.failed() == nil {
		l.changed.Wait()
	}
	if err := l.failed(); err != nil {
		return err
	}
	structural := false
	for _, e := range entries {
		if l.finished && !e.Late {
			return ErrFinished
		}
		structural = structural || !isDelta(e)
	}
	if len(l.pending) == 0 {
		l.since = time.Now()
	}
	for _, e := range entries {
		l.pending = join(l.pending, e)
		l.size += sizeOf(e)
	}
	if !l.db.writer.wants(l, structural) {
		l.lost = ErrClosed
		return ErrClosed
	}
	if l.stop && !l.finished {
		return ErrStopRequested
	}
	return nil
}

// sizeOf is about what an entry takes in memory, in bytes.
func sizeOf(e *part.Entry) int {
	return 200 + len(e.Delta) + len(e.InputTextDelta) + len(e.Input) + len(e.RawInput) + len(e.Output) + len(e.ErrorText) + len(e.Data) + len(e.ProviderMetadata)
}

// failed is why nothing is taken any more; the caller holds the lock.
func (l *RunLog) failed() error {
	if l.err != nil {
		return l.err
	}
	return l.lost
}

// Sync waits until everything appended is durable.
func (l *RunLog) Sync(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(ctx); err != nil {
		return err
	}
	if l.stop && !l.finished {
		return ErrStopRequested
	}
	return nil
}

// flush waits until nothing is pending; the caller holds the lock.
func (l *RunLog) flush(ctx context.Context) error {
	if len(l.pending) > 0 && !l.db.writer.wants(l, true) {
		l.lost = ErrClosed
	}
	defer l.wakeAt(ctx)()
	for len(l.pending) > 0 || l.inFlight {
		switch {
		case l.failed() != nil:
			return l.failed()
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		l.changed.Wait()
	}
	return l.failed()
}

// wakeAt wakes those who wait when ctx ends.
func (l *RunLog) wakeAt(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.changed.Broadcast()
	})
}

// CommitPlan stores the planner's state with the run and, of a root run, with
// the chat, the revision and the entries in one transaction and waits. On an
// error nothing of it is stored, and the log goes on.
func (l *RunLog) CommitPlan(ctx context.Context, state planning.State, change *part.PlanData, entries ...*part.Entry) error {
	return l.do(ctx, &op{state: &state, change: change, entries: entries})
}

// CommitStep adds the entries and marks the step as completed, and waits.
func (l *RunLog) CommitStep(ctx context.Context, step int, state planning.State, entries ...*part.Entry) error {
	return l.do(ctx, &op{state: &state, step: step, entries: entries})
}

// SetWaiting stores that the run waits, or with nil that it goes on, and waits.
func (l *RunLog) SetWaiting(ctx context.Context, waiting []part.Waiting, entries ...*part.Entry) error {
	return l.do(ctx, &op{waiting: waiting, setsWaiting: true, entries: entries})
}

// Finish settles the run in one transaction: the last entries, its state, the
// chat's plan (nil retires it), the packed log and the search index. Nothing
// reopens it; a second Finish changes nothing. The error is ErrStopRequested,
// and nothing is stored, where a stop was asked for and the run is about to end
// as finished.
func (l *RunLog) Finish(ctx context.Context, plan *planning.State, entries ...*part.Entry) error {
	if len(entries) == 0 || entries[len(entries)-1].Type != part.Finish || !entries[len(entries)-1].State.Terminal() {
		return errors.New("the last entry of a run must be a finish entry with a terminal state")
	}
	l.mu.Lock()
	finished, lost := l.finished, l.lost
	l.mu.Unlock()
	if finished {
		return nil
	}
	if lost != nil {
		if err := l.resync(ctx); err != nil {
			return err
		}
	}
	l.mu.Lock()
	err := l.flush(ctx)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	digest, err := l.db.digest(l.db.read.WithContext(ctx), l.runID, entries...)
	if err != nil {
		return err
	}
	return l.do(ctx, &op{state: plan, finish: true, digest: digest, entries: entries})
}

// resync goes on behind what is stored, after a commit whose entries are lost.
func (l *RunLog) resync(ctx context.Context) error {
	row, err := l.db.owned(l.db.write.WithContext(ctx), l)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, ErrFenced), errors.Is(err, ErrFinished):
		l.err = err
	case err == nil && ended(row.State):
		l.err, err = ErrFinished, ErrFinished
	case err == nil:
		l.lastSeq, l.stop = row.LastSeq, l.stop || row.CancelRequested != 0
		l.lost, l.pending, l.size = nil, nil, 0
	}
	return err
}

// SaveOutput keeps the whole output of a tool call; ErrFenced where the run has
// another owner.
func (l *RunLog) SaveOutput(ctx context.Context, toolCallID, mediaType string, output []byte) error {
	if output == nil {
		output = []byte{}
	}
	return l.db.tx(ctx, func(tx *gorm.DB) error {
		if _, err := l.db.owned(tx, l); err != nil {
			return err
		}
		return wrap("store tool output", tx.Exec("INSERT INTO tool_outputs (run_id, call_id, media_type, body) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, call_id) DO UPDATE SET media_type = excluded.media_type, body = excluded.body",
			l.runID, text(toolCallID), text(mediaType), output).Error)
	})
}

// do commits what is pending, then the op, and waits for both. Where ctx ends
// it is withdrawn, and do waits until that is sure.
func (l *RunLog) do(ctx context.Context, o *op) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failed() != nil:
		return l.failed()
	case l.finished:
		return ErrFinished
	case l.stop && !o.finish:
		return ErrStopRequested
	}
	if len(l.pending) == 0 {
		l.since = time.Now()
	}
	l.op = o
	if !l.db.writer.wants(l, true) {
		l.op, l.lost = nil, ErrClosed
		return ErrClosed
	}
	defer l.wakeAt(ctx)()
	for !o.done {
		if ctx.Err() != nil {
			o.withdrawn = true
			if l.op == o {
				l.op = nil
				return context.Cause(ctx)
			}
		}
		l.changed.Wait()
	}
	return o.err
}

// stopped notes that the cancel flag is set.
func (l *RunLog) stopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = true
}
