package store

import (
	"errors"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// op is what a commit does beside adding entries to a log.
type op struct {
	entries     []*part.Entry
	state       *planning.State // of the planner
	change      *part.PlanData
	step        int // completed
	setsWaiting bool
	waiting     []part.Waiting
	finish      bool
	digest      digest

	// Under the log's lock.
	withdrawn bool // nobody waits for it any more
	done      bool
	err       error
}

// batch is one log's share of a commit.
type batch struct {
	log     *RunLog
	base    int64 // the log's last seq before it
	plain   int   // how many of the entries are not the op's
	entries []*part.Entry
	rows    []entryRow
	op      *op
	since   time.Time // when the oldest entry came
	tried   time.Time // first

	// unsure: an earlier try may have been stored, its answer was lost.
	unsure bool
	// dropped: the op was withdrawn after such a try, so that it may be stored.
	dropped *op

	// Of the last try.
	outcome error      // the run's own: fenced, ended, stop requested
	state   part.State // the run's, in the database
	cancel  bool       // the cancel flag is set
}

// take hands what waits to the writer, numbered; nil where nothing does.
func (l *RunLog) take() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight || l.failed() != nil || len(l.pending) == 0 && l.op == nil {
		return nil
	}
	b := &batch{log: l, base: l.lastSeq, plain: len(l.pending), entries: l.pending, op: l.op, since: l.since}
	if b.op != nil {
		b.entries = append(b.entries, b.op.entries...)
	}
	l.pending, l.size, l.op, l.inFlight = nil, 0, nil, true
	for i, given := range b.entries {
		e := *given
		e.Seq = b.base + int64(i) + 1
		if e.Time.IsZero() {
			e.Time = l.db.now()
		}
		row, stored := rowOfEntry(&e)
		b.entries[i] = stored
		b.rows = append(b.rows, row)
	}
	return b
}

// upto is the log's last seq after the batch.
func (b *batch) upto() int64 { return b.base + int64(len(b.current())) }

// current is the entries that the next try stores.
func (b *batch) current() []*part.Entry {
	if b.dropped != nil {
		return b.entries[:b.plain]
	}
	return b.entries
}

// usage is the run's after the next try; the writer alone calls it.
func (b *batch) usage() part.Usage {
	u := b.log.usage
	for _, e := range b.current() {
		if e.Type == part.FinishStep && e.Usage != nil {
			u = u.Plus(*e.Usage)
		}
	}
	return u
}

// late: all of it came after the run's end.
func (b *batch) late() bool {
	for _, e := range b.entries {
		if !e.Late {
			return false
		}
	}
	return len(b.entries) > 0
}

// good: the run is about to end as finished, which a requested stop forbids.
func (b *batch) good() bool {
	return b.op != nil && b.op.finish && b.entries[len(b.entries)-1].State == part.Finished
}

// withdraw takes the op out of a batch that failed, if nobody waits for it any
// more or because. False: nothing is left to store.
func (b *batch) withdraw(because error) bool {
	l := b.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.op == nil || because == nil && !b.op.withdrawn {
		return true
	}
	if because == nil {
		because = errWithdrawn
	}
	if b.unsure {
		b.dropped, b.op = b.op, nil
		b.dropped.err = because
		return true
	}
	b.op.done, b.op.err = true, because
	b.op = nil
	b.entries, b.rows = b.entries[:b.plain], b.rows[:b.plain]
	if b.plain == 0 {
		l.inFlight = false
		l.again()
	}
	l.changed.Broadcast()
	return b.plain > 0
}

var errWithdrawn = errors.New("the database did not answer in time")

// settled takes the outcome of a batch that needs no further try.
func (l *RunLog) settled(b *batch, failure error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight = false
	l.stop = l.stop || b.cancel
	switch {
	case failure != nil:
		l.lost = failure
	case b.outcome != nil:
		l.err = b.outcome
	default:
		l.lastSeq, l.usage = b.upto(), b.usage()
		l.finished = l.finished || b.op != nil && b.op.finish
	}
	if o := b.op; o != nil {
		o.done, o.err = true, l.failed()
	}
	if o := b.dropped; o != nil { // its err is set
		o.done = true
	}
	l.again()
	l.changed.Broadcast()
}

// again tells the writer of what came meanwhile, or the owner that nothing more
// is stored; the caller holds the lock.
func (l *RunLog) again() {
	if l.failed() == nil && (len(l.pending) > 0 || l.op != nil) && !l.db.writer.wants(l, l.op != nil) {
		l.lost = ErrClosed
	}
	if err := l.failed(); err != nil && l.op != nil {
		l.op.done, l.op.err = true, err
		l.op = nil
	}
	l.changed.Broadcast()
}
