package store

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/part"
)

const (
	tryFrom   = time.Second            // one transaction may take a third of the patience, at least this
	tryTime   = 10 * time.Second       // and at most this
	lastTries = 3 * time.Second        // for what waits when the database is closed
	pauseFrom = 20 * time.Millisecond  // between two tries of what failed; doubled up to
	pauseTo   = time.Second            //
	lonePass  = 500 * time.Millisecond // for trying failed batches one by one
)

// writer commits the logs of all runs of this process: one transaction carries
// what waits, every CommitEvery while something does, and at once after a
// structural entry. One goroutine does it.
type writer struct {
	db     *DB
	loop   sync.WaitGroup
	bell   chan struct{} // something waits
	urgent chan struct{} // commit now
	quit   chan struct{}
	once   sync.Once
	ctx    context.Context // of all tries; ends lastTries behind quit
	cancel context.CancelFunc
	order  sync.Mutex // from before a commit to behind its Committed calls

	// The loop's own.
	held  []*batch // failed, to be tried again
	pause time.Duration

	mu     sync.Mutex
	dirty  map[*RunLog]struct{}
	closed bool
	lag    time.Duration // how long the oldest entry of the last commit waited
	oldest time.Time     // since when what is being committed waits; zero: nothing is
}

func startWriter(d *DB) *writer {
	w := &writer{db: d, dirty: map[*RunLog]struct{}{}, bell: make(chan struct{}, 1), urgent: make(chan struct{}, 1), quit: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.loop.Go(w.run)
	return w
}

// stop commits what waits, within lastTries, then ends the writer.
func (w *writer) stop() {
	w.once.Do(func() { close(w.quit) })
	late := time.AfterFunc(lastTries, w.cancel)
	defer late.Stop()
	w.loop.Wait()
	w.cancel()
}

// wants marks a log as having something to commit; false where the writer has
// ended.
func (w *writer) wants(l *RunLog, now bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.dirty[l] = struct{}{}
	ring(w.bell)
	if now {
		ring(w.urgent)
	}
	return true
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	for w.await() {
		w.round()
	}
	for !w.end(w.ctx.Err() != nil) {
		w.round()
		if len(w.held) > 0 {
			w.sleep()
		}
	}
}

// await waits for the next round; false: the database is being closed.
func (w *writer) await() bool {
	pause := w.db.o.CommitEvery
	urgent := w.urgent
	if len(w.held) > 0 {
		pause, urgent = w.pause, nil
	} else {
		select {
		case <-w.bell:
		case <-w.quit:
			return false
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-urgent:
	case <-timer.C:
	case <-w.quit:
		return false
	}
	return true
}

// sleep waits for the next of the last tries.
func (w *writer) sleep() {
	timer := time.NewTimer(w.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ctx.Done():
	}
}

// end closes the writer where nothing waits, or anyway where the time is up;
// what waits then fails.
func (w *writer) end(timeIsUp bool) bool {
	w.mu.Lock()
	if !timeIsUp && (len(w.held) > 0 || len(w.dirty) > 0) {
		w.mu.Unlock()
		return false
	}
	w.closed = true
	left := w.dirty
	w.dirty = nil
	w.mu.Unlock()
	for _, b := range w.held {
		b.log.settled(b, ErrClosed)
	}
	for l := range left {
		l.mu.Lock()
		l.again()
		l.mu.Unlock()
	}
	return true
}

// round commits what waits in one transaction. Where that fails each batch is
// tried alone, so that one run's trouble is not another's; what fails for now is
// held for the next round.
func (w *writer) round() {
	batches := w.gather()
	if len(batches) == 0 {
		return
	}
	w.order.Lock()
	defer w.order.Unlock()
	if err := w.try(batches); err == nil {
		for _, b := range batches {
			w.settle(b)
		}
	} else if len(batches) == 1 {
		w.missed(batches[0], err)
	} else {
		w.alone(batches)
	}
	if len(w.held) == 0 {
		w.pause = 0
	} else {
		w.pause = min(max(2*w.pause, pauseFrom), pauseTo)
	}
	w.waited()
}

// gather is what was held and what waits.
func (w *writer) gather() []*batch {
	w.mu.Lock()
	logs := w.dirty
	w.dirty = map[*RunLog]struct{}{}
	w.mu.Unlock()
	var batches []*batch
	for _, b := range w.held {
		if b.withdraw(nil) {
			batches = append(batches, b)
		}
	}
	w.held = nil
	for l := range logs {
		if b := l.take(); b != nil {
			b.tried = time.Now()
			batches = append(batches, b)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.oldest = time.Time{}
	for _, b := range batches {
		if w.oldest.IsZero() || b.since.Before(w.oldest) {
			w.oldest = b.since
		}
	}
	return batches
}

// waited notes the lag.
func (w *writer) waited() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) > 0 {
		return
	}
	w.lag, w.oldest = time.Since(w.oldest), time.Time{}
}

// try commits batches in one transaction. A batch's own outcome is no error.
func (w *writer) try(batches []*batch) error {
	ctx, cancel := context.WithTimeout(w.ctx, min(max(w.db.o.Patience/3, tryFrom), tryTime))
	defer cancel()
	batches = slices.SortedFunc(slices.Values(batches), func(a, b *batch) int { // chats are locked in one order
		return cmp.Or(cmp.Compare(a.log.chatID, b.log.chatID), cmp.Compare(a.log.runID, b.log.runID))
	})
	committing, err := w.db.try(ctx, func(tx *gorm.DB) error { return w.db.commit(tx, batches) })
	if committing && err != nil {
		for _, b := range batches {
			b.unsure = true
		}
	}
	return err
}

// alone tries failed batches one by one, for a bounded time; those it does not
// come to are first the next time.
func (w *writer) alone(batches []*batch) {
	end := time.Now().Add(lonePass)
	for i, b := range batches {
		if time.Now().After(end) {
			w.held = append(batches[i:], w.held...)
			return
		}
		if err := w.try([]*batch{b}); err != nil {
			w.missed(b, err)
		} else {
			w.settle(b)
		}
	}
}

// missed decides about a batch that failed alone.
func (w *writer) missed(b *batch, err error) {
	switch patient := time.Since(b.tried) < w.db.o.Patience; {
	case transient(err) && patient:
		w.held = append(w.held, b)
		return
	case !transient(err) && b.op != nil: // the op's fault, as likely as not
		if b.withdraw(err) {
			w.held = append(w.held, b)
		}
	default:
		b.log.settled(b, err)
	}
	w.db.o.Logger.Error("a commit failed", slog.String("run", b.log.runID), slog.Any("err", err))
}

// settle tells the owner and watchers of a batch that was tried with success.
func (w *writer) settle(b *batch) {
	if errors.Is(b.outcome, ErrStopRequested) { // its finish is refused, the rest goes on
		b.log.stopped()
		b.unsure = false
		if b.withdraw(ErrStopRequested) {
			w.held = append(w.held, b)
		}
		return
	}
	if b.outcome == nil && w.db.o.Committed != nil {
		w.db.o.Committed(Committed{RunID: b.log.runID, ChatID: b.log.chatID, Entries: b.current(), State: b.state})
	}
	if b.outcome == nil && b.op != nil && b.op.finish {
		ring(w.db.packer.bell)
	}
	b.log.settled(b, nil)
}

// WriterLag is how long the oldest entry of the last commit waited, or, while
// the database is away, how long the oldest one waits already.
func (d *DB) WriterLag() time.Duration {
	w := d.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.oldest.IsZero() {
		return max(w.lag, time.Since(w.oldest))
	}
	return w.lag
}

// ended: the state is one that nothing changes any more.
func ended(s string) bool { return part.State(s).Terminal() }
