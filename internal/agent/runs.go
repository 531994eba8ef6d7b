package agent

import (
	"context"
	"errors"
	"sync"
)

var (
	// ErrShutdown is the cause with which Shutdown abandons runs: nothing more
	// is written, and another owner takes them over.
	ErrShutdown = errors.New("the server shuts down")
	// ErrLive: a run of that id is live already.
	ErrLive = errors.New("the run is live already")
)

// Runs is the set of live runs of this process: one goroutine and one cancel
// for each.
type Runs struct {
	mu     sync.Mutex
	live   map[string]*liveRun // by run id
	closed bool
	wait   sync.WaitGroup
}

type liveRun struct {
	cancel context.CancelCauseFunc
	inbox  *inbox
}

// NewRuns returns an empty set.
func NewRuns() *Runs {
	return &Runs{live: map[string]*liveRun{}}
}

// Start runs the job in a goroutine of its own and returns at once. done is
// called once with the outcome, from that goroutine, after the run left the
// set. The error is ErrLive or ErrShutdown; then done is never called.
func (r *Runs) Start(job Job, log Log, done func(Outcome)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrShutdown
	}
	if r.live[job.RunID] != nil {
		return ErrLive
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l := &liveRun{cancel: cancel, inbox: newInbox()}
	r.live[job.RunID] = l
	r.wait.Go(func() {
		outcome := work(ctx, job, log, l.inbox)
		cancel(nil)
		r.mu.Lock()
		delete(r.live, job.RunID)
		r.mu.Unlock()
		if done != nil {
			done(outcome)
		}
	})
	return nil
}

// Stop ends the run as stopped; it returns before the run has settled. False:
// no such run is live here.
func (r *Runs) Stop(runID string) bool {
	l := r.find(runID)
	if l == nil {
		return false
	}
	l.cancel(ErrStopRequested)
	return true
}

// Answer hands the user's answer to a run that waits for one. The error is
// ErrNotLive or ErrNotWaiting.
func (r *Runs) Answer(runID string, a Answer) error {
	l := r.find(runID)
	if l == nil {
		return ErrNotLive
	}
	return l.inbox.answer(a)
}

// Decide hands over the user's decision on an approval. The error is
// ErrNotLive, ErrUnknownCall or ErrDecided.
func (r *Runs) Decide(runID, toolCallID string, d Decision) error {
	l := r.find(runID)
	if l == nil {
		return ErrNotLive
	}
	return l.inbox.decide(toolCallID, d)
}

// Live reports whether the run is live here.
func (r *Runs) Live(runID string) bool {
	return r.find(runID) != nil
}

// Shutdown abandons every run with the cause ErrShutdown, refuses new ones and
// waits until all have returned or ctx ends. It writes nothing.
func (r *Runs) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	for _, l := range r.live {
		l.cancel(ErrShutdown)
	}
	r.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		r.wait.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Runs) find(runID string) *liveRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[runID]
}
