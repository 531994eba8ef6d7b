package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"gorm.io/gorm"
)

// writer commits the logs of all runs of this process: one transaction carries
// what waits, every CommitEvery while something does, and at once after a
// structural entry.
type writer struct {
	db   *DB
	done sync.WaitGroup

	mu     sync.Mutex
	dirty  map[*RunLog]bool
	closed bool
	bell   chan struct{} // something waits
	urgent chan struct{} // commit now
	quit   chan struct{}

	// lag is how long the oldest entry of the last commit waited; read by metrics.
	lag time.Duration
}

func startWriter(d *DB) *writer {
	w := &writer{db: d, dirty: map[*RunLog]bool{}, bell: make(chan struct{}, 1), urgent: make(chan struct{}, 1), quit: make(chan struct{})}
	w.done.Go(w.loop)
	return w
}

// stop commits what waits, then ends the writer.
func (w *writer) stop() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.closed = true
	w.mu.Unlock()
	close(w.quit)
	w.done.Wait()
}

// wants marks a log as having something to commit.
func (w *writer) wants(l *RunLog, now bool) {
	w.mu.Lock()
	w.dirty[l] = true
	w.mu.Unlock()
	ring(w.bell)
	if now {
		ring(w.urgent)
	}
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

func (w *writer) loop() {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-w.bell:
		case <-w.quit:
			w.commit()
			return
		}
		timer.Reset(w.db.o.CommitEvery)
		select {
		case <-w.urgent:
		case <-timer.C:
		case <-w.quit:
		}
		w.commit()
	}
}

// commit takes what waits in every dirty log through one transaction. Where
// that fails each run has a transaction of its own, so that one run's trouble
// is not another's.
func (w *writer) commit() {
	w.mu.Lock()
	logs := w.dirty
	w.dirty = map[*RunLog]bool{}
	w.mu.Unlock()
	var batches []*batch
	for l := range logs {
		if b := l.take(); b != nil {
			batches = append(batches, b)
		}
	}
	if len(batches) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.db.o.Patience)
	defer cancel()
	if err := w.try(ctx, batches); err == nil {
		w.settle(batches)
		return
	}
	var alone sync.WaitGroup
	for _, b := range batches {
		alone.Go(func() { w.commitAlone(b) })
	}
	alone.Wait()
}

// try commits the batches in one transaction. Each batch's own outcome (fenced,
// finished) is not an error of the transaction.
func (w *writer) try(ctx context.Context, batches []*batch) error {
	return w.db.tx(ctx, func(tx *gorm.DB) error {
		for _, b := range batches {
			b.outcome, b.repeated = nil, false
			if err := w.db.writeBatch(tx, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// commitAlone tries one batch until it is in, or until Patience is used up.
func (w *writer) commitAlone(b *batch) {
	deadline, cancel := context.WithTimeout(context.Background(), w.db.o.Patience)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := w.try(deadline, []*batch{b})
		if err == nil {
			break
		}
		var permanent *permanentError
		if errors.As(err, &permanent) || deadline.Err() != nil || w.stopping() {
			w.db.o.Logger.Error("a run's log was not stored", slog.String("run", b.log.runID), slog.Any("err", err))
			b.outcome = err
			break
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.quit:
			timer.Stop()
		case <-deadline.Done():
			timer.Stop()
		}
	}
	w.settle([]*batch{b})
}

func (w *writer) stopping() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// settle tells owners and watchers what became of the batches.
func (w *writer) settle(batches []*batch) {
	oldest := time.Time{}
	for _, b := range batches {
		if oldest.IsZero() || b.since.Before(oldest) {
			oldest = b.since
		}
		if b.outcome == nil && w.db.o.Committed != nil && len(b.entries) > 0 {
			w.db.o.Committed(Committed{RunID: b.log.runID, ChatID: b.log.chatID, Entries: b.entries, State: b.state()})
		}
		b.log.settled(b)
	}
	if !oldest.IsZero() {
		w.mu.Lock()
		w.lag = time.Since(oldest)
		w.mu.Unlock()
	}
}

// WriterLag is how long the oldest entry of the last commit waited.
func (d *DB) WriterLag() time.Duration {
	d.writer.mu.Lock()
	defer d.writer.mu.Unlock()
	return d.writer.lag
}

// permanentError is one that no repetition mends.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }
