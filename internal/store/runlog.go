package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// maxPending bounds what one run may have waiting for the database, in bytes of
// text; its owner waits then.
const maxPending = 1 << 20

// RunLog is a run's log as its owner writes it. One goroutine calls it.
type RunLog struct {
	db            *DB
	runID, chatID string
	epoch         int64

	mu       sync.Mutex
	changed  *sync.Cond
	pending  []*part.Entry
	size     int
	since    time.Time // when the oldest pending entry came
	op       *op       // waits for the next commit
	inFlight bool
	lastSeq  int64
	stored   uint64 // commits that succeeded
	err      error  // sticky: fenced, finished, or the database is gone
	stop     bool   // the cancel flag was seen
	told     bool   // ErrStopRequested was reported
	finished bool
}

// op is what a commit does beside adding entries.
type op struct {
	state   *planning.State // with the chat
	change  *part.PlanData
	step    int // completed
	waiting *[]part.Waiting
	finish  bool
	entries []*part.Entry
	done    bool
	err     error
}

// batch is one run's share of a commit.
type batch struct {
	log      *RunLog
	from     int64 // last_seq before
	entries  []*part.Entry
	op       *op
	since    time.Time
	outcome  error // fenced, finished, failed
	cancel   bool  // the cancel flag is set
	repeated bool  // it was committed before, only the answer was lost
}

// Claim makes this process the run's owner: running, epoch and attempts one
// higher. The error is ErrFinished where the run has ended or is gone.
func (d *DB) Claim(ctx context.Context, runID string) (*RunLog, Run, error) {
	var row runRow
	err := d.tx(ctx, func(tx *gorm.DB) error {
		r := tx.Exec("UPDATE runs SET state = 'running', waiting = '', epoch = epoch + 1, attempts = attempts + 1, started_at = CASE started_at WHEN 0 THEN ? ELSE started_at END WHERE id = ? AND state IN ('queued', 'running', 'waiting')", ms(d.o.Now()), runID)
		if r.Error != nil {
			return wrap("claim run", r.Error)
		}
		if r.RowsAffected == 0 {
			return ErrFinished
		}
		return wrap("read run", tx.Table("runs").Select(runColumns).Where("runs.id = ?", runID).Take(&row).Error)
	})
	if err != nil {
		return nil, Run{}, err
	}
	l := &RunLog{db: d, runID: row.ID, chatID: row.ChatID, epoch: row.Epoch, lastSeq: row.LastSeq}
	l.changed = sync.NewCond(&l.mu)
	return l, row.run(), nil
}

// Append adds entries to the next commit; anything but a delta starts it at
// once. With ErrStopRequested, reported once, the entries were taken; with any
// other error they were not.
func (l *RunLog) Append(entries ...*part.Entry) error {
	l.mu.Lock()
	for l.size > maxPending && l.err == nil {
		l.changed.Wait()
	}
	if err := l.failed(); err != nil {
		l.mu.Unlock()
		return err
	}
	structural := false
	if len(l.pending) == 0 {
		l.since = time.Now()
	}
	for _, e := range entries {
		structural = structural || !isDelta(e)
		l.pending = join(l.pending, e)
		l.size += len(e.Delta) + len(e.InputTextDelta) + len(e.Output) + len(e.Input) + len(e.Data) + 100
	}
	err := l.stopRequested()
	l.mu.Unlock()
	l.db.writer.wants(l, structural)
	return err
}

// failed is the sticky error; the caller holds the lock.
func (l *RunLog) failed() error {
	if l.err == nil && l.finished {
		return ErrFinished
	}
	return l.err
}

// stopRequested reports the cancel flag once; the caller holds the lock.
func (l *RunLog) stopRequested() error {
	if l.stop && !l.told {
		l.told = true
		return ErrStopRequested
	}
	return nil
}

// Sync waits until everything appended is durable.
func (l *RunLog) Sync(ctx context.Context) error {
	l.db.writer.wants(l, true)
	err := l.wait(ctx, func() bool { return len(l.pending) == 0 && !l.inFlight })
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return err
	}
	if l.err != nil {
		return l.err
	}
	return l.stopRequested()
}

// wait waits until ready says yes, the log failed or ctx ends.
func (l *RunLog) wait(ctx context.Context, ready func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.changed.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !ready() && l.err == nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.changed.Wait()
	}
	return nil
}

// CommitPlan stores the planner's state with the chat, the revision and the
// entries in one transaction and waits. On an error nothing of it is stored.
func (l *RunLog) CommitPlan(ctx context.Context, state planning.State, change *part.PlanData, entries ...*part.Entry) error {
	return l.do(ctx, &op{state: &state, change: change, entries: entries})
}

// CommitStep adds the entries and marks the step as completed, and waits.
func (l *RunLog) CommitStep(ctx context.Context, step int, state planning.State, entries ...*part.Entry) error {
	return l.do(ctx, &op{state: &state, step: step, entries: entries})
}

// SetWaiting stores that the run waits, or with nil that it goes on, and waits.
func (l *RunLog) SetWaiting(ctx context.Context, waiting []part.Waiting, entries ...*part.Entry) error {
	return l.do(ctx, &op{waiting: &waiting, entries: entries})
}

// Finish settles the run in one transaction: the last entries, its state, the
// chat's plan (nil retires it), the packed log and the search index. Nothing
// reopens it.
func (l *RunLog) Finish(ctx context.Context, plan *planning.State, entries ...*part.Entry) error {
	if len(entries) == 0 || entries[len(entries)-1].Type != part.Finish {
		return errors.New("the last entry of a run must be a finish entry")
	}
	return l.do(ctx, &op{state: plan, finish: true, entries: entries})
}

// SaveOutput keeps the whole output of a tool call.
func (l *RunLog) SaveOutput(ctx context.Context, toolCallID, mediaType string, output []byte) error {
	return wrap("store tool output", l.db.write.WithContext(ctx).Exec("INSERT INTO tool_outputs (run_id, call_id, media_type, body) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, call_id) DO UPDATE SET media_type = excluded.media_type, body = excluded.body", l.runID, toolCallID, mediaType, output).Error)
}

// do commits what is pending, then the op, and waits for both.
func (l *RunLog) do(ctx context.Context, o *op) error {
	l.mu.Lock()
	if err := l.failed(); err != nil {
		l.mu.Unlock()
		return err
	}
	if len(l.pending) == 0 {
		l.since = time.Now()
	}
	l.op = o
	l.mu.Unlock()
	l.db.writer.wants(l, true)
	err := l.wait(ctx, func() bool { return o.done })
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.done {
		if o.err == nil && o.finish {
			l.finished = true
			return nil
		}
		if o.err == nil {
			return l.stopRequested()
		}
		return o.err
	}
	if l.op == o { // not taken yet: withdrawn
		l.op = nil
	}
	if err == nil {
		err = l.err
	}
	return err
}

// take hands what waits to the writer; one batch is under way at a time.
func (l *RunLog) take() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight || l.err != nil || (len(l.pending) == 0 && l.op == nil) {
		return nil
	}
	b := &batch{log: l, from: l.lastSeq, op: l.op, since: l.since}
	b.entries = append(b.entries, l.pending...)
	if l.op != nil {
		b.entries = append(b.entries, l.op.entries...)
	}
	for i, e := range b.entries {
		c := *e
		c.Seq = l.lastSeq + int64(i) + 1
		if c.Time.IsZero() {
			c.Time = l.db.o.Now()
		}
		b.entries[i] = &c
	}
	l.pending, l.size, l.op, l.inFlight = nil, 0, nil, true
	return b
}

// settled takes the outcome of a batch.
func (l *RunLog) settled(b *batch) {
	l.mu.Lock()
	l.inFlight = false
	l.stop = l.stop || b.cancel
	if b.op != nil {
		b.op.done, b.op.err = true, b.outcome
	}
	plan := b.op != nil && b.op.change != nil
	switch {
	case b.outcome == nil:
		l.lastSeq = b.from + int64(len(b.entries))
		l.stored++
	case plan && !errors.Is(b.outcome, ErrFenced) && !errors.Is(b.outcome, ErrFinished):
		// Nothing of the plan's commit is stored; what was appended before it waits on.
		before := b.entries[:len(b.entries)-len(b.op.entries)]
		l.pending = append(append([]*part.Entry(nil), before...), l.pending...)
	default:
		l.err = b.outcome
	}
	more, urgent := len(l.pending) > 0 || l.op != nil, l.op != nil
	l.changed.Broadcast()
	l.mu.Unlock()
	if more && b.outcome == nil {
		l.db.writer.wants(l, urgent)
	}
}

// state is the run's state after the batch.
func (b *batch) state() part.State {
	switch {
	case b.op != nil && b.op.finish:
		return b.entries[len(b.entries)-1].State
	case b.op != nil && b.op.waiting != nil && len(*b.op.waiting) > 0:
		return part.Waits
	}
	return part.Running
}

// writeBatch writes one run's batch into the transaction. An outcome of the run
// itself is left in the batch; an error is the database's.
func (d *DB) writeBatch(tx *gorm.DB, b *batch) error {
	l := b.log
	to := b.from + int64(len(b.entries))
	r := tx.Exec("UPDATE runs SET last_seq = ? WHERE id = ? AND epoch = ? AND last_seq = ? AND state IN ('running', 'waiting')", to, l.runID, l.epoch, b.from)
	if r.Error != nil {
		return wrap("append to log", r.Error)
	}
	var row runRow
	if err := tx.Select("epoch", "last_seq", "state", "cancel_requested").Where("id = ?", l.runID).Take(&row).Error; err != nil {
		if errors.Is(err, gorm.ErrRecordNotFound) {
			b.outcome = ErrFinished
			return nil
		}
		return wrap("read run", err)
	}
	b.cancel = row.CancelRequested != 0
	if r.RowsAffected == 0 {
		switch {
		case row.Epoch != l.epoch:
			b.outcome = ErrFenced
		case row.LastSeq == to && len(b.entries) > 0:
			b.repeated = true // committed before, only the answer was lost
		case part.State(row.State).Terminal():
			b.outcome = ErrFinished
		default:
			b.outcome = &permanentError{fmt.Errorf("the log of run %s is at %d, not at %d", l.runID, row.LastSeq, b.from)}
		}
		return nil
	}
	rows := make([]entryRow, 0, len(b.entries))
	for _, e := range b.entries {
		rows = append(rows, rowOfEntry(l.runID, e))
	}
	if len(rows) > 0 {
		if err := tx.CreateInBatches(&rows, 100).Error; err != nil {
			return wrap("append to log", err)
		}
	}
	if b.op != nil {
		return d.writeOp(tx, b)
	}
	return nil
}
