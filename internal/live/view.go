package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stagefold/internal/part"
)

// maxPending bounds the entries that wait for the next rendering; beyond, the
// view reads them from the log.
const maxPending = 4096

// view is one chat that somebody watches. Its loop alone folds and renders; the
// window is what viewers read, without a lock.
type view struct {
	hub    *Hub
	chatID string
	ctx    context.Context
	cancel context.CancelFunc
	window atomic.Pointer[window]
	pasts  pasts
	follow follower // the loop's own
	shared sharedDeflater

	viewers int         // under hub.mu
	leaving *time.Timer // under hub.mu; set while nobody watches

	mu      sync.Mutex
	pending pending
	takes   int             // how often the loop took pending
	looks   int             // the take whose look has ended
	looked  chan struct{}   // closed at the end of the next look
	run     string          // the run whose entries Wake may hand over
	foreign map[string]bool // runs of the chat that are no root runs
	signal  chan struct{}   // of size 1: pending is not empty
}

// pending is what the next look has to do.
type pending struct {
	entries []*part.Entry // of the followed run, as woken
	log     bool          // read the followed run's log
	chrome  bool          // read the chat
	list    bool          // read the chat, but not too often: another chat changed
	runs    []string      // runs that the view does not know
}

func newView(h *Hub, chatID string) *view {
	v := &view{hub: h, chatID: chatID, foreign: map[string]bool{}, signal: make(chan struct{}, 1), looked: make(chan struct{})}
	v.ctx, v.cancel = context.WithCancel(h.ctx)
	v.window.Store(&window{changed: make(chan struct{})})
	v.pending.chrome, v.pending.log = true, true
	v.signal <- struct{}{}
	return v
}

// wake notes what the next look has to do.
func (v *view) wake(w Wake) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &v.pending
	switch {
	case w.RunID == "" || v.foreign[w.RunID]:
		if !w.Chrome {
			return
		}
	case w.RunID != v.run:
		p.runs = append(p.runs, w.RunID)
		p.chrome, p.log = true, true
	case w.Entries == nil || len(p.entries)+len(w.Entries) > maxPending:
		p.log = true
	default:
		p.entries = append(p.entries, w.Entries...)
	}
	p.chrome = p.chrome || w.Chrome
	v.raise()
}

// wakeList notes that another chat changed.
func (v *view) wakeList() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending.list = true
	v.raise()
}

func (v *view) raise() {
	select {
	case v.signal <- struct{}{}:
	default:
	}
}

// refresh has the loop read chat and log, and waits until it has.
func (v *view) refresh(ctx context.Context) error {
	v.mu.Lock()
	v.pending.chrome, v.pending.log = true, true
	ticket := v.takes + 1
	v.raise()
	v.mu.Unlock()
	return v.await(ctx, ticket)
}

// await waits for the end of the loop's nth look.
func (v *view) await(ctx context.Context, ticket int) error {
	for {
		v.mu.Lock()
		looks, looked := v.looks, v.looked
		v.mu.Unlock()
		if err := v.window.Load().err; err != nil {
			return err
		}
		if looks >= ticket {
			return nil
		}
		select {
		case <-looked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lookEnded lets those go on who await this look.
func (v *view) lookEnded() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.looks = v.takes
	close(v.looked)
	v.looked = make(chan struct{})
}

// take hands pending to the loop. ok is false where all there is to do is the
// list, and that not yet.
func (v *view) take(listDue bool) (p pending, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p = v.pending
	if p.list && !p.chrome && !p.log && p.entries == nil && !listDue {
		return pending{}, false
	}
	v.pending = pending{}
	v.takes++
	p.chrome = p.chrome || p.list
	return p, true
}

// loop looks after each wake, at most once a tick, and sleeps otherwise.
func (v *view) loop() {
	err := v.watch()
	if errors.Is(err, context.Canceled) {
		err = ErrClosed
	}
	if !errors.Is(err, ErrClosed) {
		v.hub.cfg.Log.Error("live view ended", "chat", v.chatID, "err", err)
	}
	v.hub.mu.Lock()
	v.hub.forget(v)
	v.hub.mu.Unlock()
	v.end(err)
	v.lookEnded()
}

func (v *view) watch() error {
	cfg := v.hub.cfg
	beat, tick, list := time.NewTimer(cfg.Heartbeat), stopped(), stopped()
	defer beat.Stop()
	defer tick.Stop()
	defer list.Stop()
	var looked, listed time.Time
	for {
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case <-beat.C:
			v.publish(v.window.Load().state, heartbeat())
			beat.Reset(cfg.Heartbeat)
			continue
		case <-list.C:
		case <-v.signal:
		}
		if rest := cfg.Tick - time.Since(looked); rest > 0 {
			tick.Reset(rest)
			select {
			case <-v.ctx.Done():
				return v.ctx.Err()
			case <-tick.C:
			}
		}
		p, ok := v.take(time.Since(listed) >= cfg.ListPause)
		if !ok {
			list.Reset(cfg.ListPause - time.Since(listed))
			continue
		}
		looked = time.Now()
		if p.chrome {
			listed = looked
		}
		sent, err := v.look(p)
		if err != nil {
			return err
		}
		if sent {
			beat.Reset(cfg.Heartbeat)
		}
	}
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// watchRun sets the run whose entries wakes may hand over.
func (v *view) watchRun(run string, unknown []string, roots []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run = run
	for _, id := range unknown {
		if !slices.Contains(roots, id) {
			v.foreign[id] = true
		}
	}
}
