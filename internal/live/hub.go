// Package live keeps one view for each chat that somebody watches. A view folds
// the log once, renders and encodes each change once, and every viewer in step
// gets the same bytes (docs/architecture.md, 'Live').
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/views"
)

// ErrClosed ends a stream because the hub shuts down or the view went; the
// client reconnects with its cursor.
var ErrClosed = errors.New("live: closed")

// Config is what a Hub works from. Entries and Chat must be safe for concurrent
// use; every other field may be zero.
type Config struct {
	// Entries reads a run's log behind a seq, in order.
	Entries func(ctx context.Context, runID string, after int64) ([]*part.Entry, error)
	// Chat reads the chat page beside its runs.
	Chat func(ctx context.Context, chatID string) (views.ChatState, error)
	Now  func() time.Time
	// Render is the markdown renderer; internal/markdown where it is nil.
	Render views.Renderer
	// Cost is what a run's tokens cost, "" where unknown; may be nil.
	Cost func(model string, u part.Usage) string
	Log  *slog.Logger

	Heartbeat time.Duration // longest silence of a stream; 15 s
	Tick      time.Duration // shortest time between two renderings of a view; 25 ms
	Grace     time.Duration // how long a view outlives its last viewer; 10 s
	ListPause time.Duration // shortest time between two looks at other chats' titles and states; 2 s
}

func (c Config) filled() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Cost == nil {
		c.Cost = func(string, part.Usage) string { return "" }
	}
	for _, d := range []struct {
		field    *time.Duration
		standard time.Duration
	}{{&c.Heartbeat, 15 * time.Second}, {&c.Tick, 25 * time.Millisecond}, {&c.Grace, 10 * time.Second}, {&c.ListPause, 2 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.standard
		}
	}
	c.Render = newHTMLCache(c.Render).render
	return c
}

// Wake says that something changed.
type Wake struct {
	RunID   string        // whose log grew; "" for none
	Entries []*part.Entry // what was added to it; nil = look into the log
	Chrome  bool          // what stands beside the runs changed (views.ChatState)
}

// Cursor is what a page shows already: a run and the seq of its last entry.
// Without a run the stream starts with the newest run, whole.
type Cursor struct {
	RunID string
	Seq   int64
}

// Frame is a piece of a viewer's stream. The bytes are shared: nobody writes to
// them.
type Frame struct {
	Plain   []byte // whole server-sent events
	Deflate []byte // the same as a chunk of this viewer's gzip member, see GzipHeader
	// Newest is the time of the newest entry that is shown by it; zero where the
	// frame shows none, or none that is new.
	Newest time.Time
}

// Hub has the views. It is safe for concurrent use.
type Hub struct {
	cfg    Config
	ctx    context.Context // the life of all views
	cancel context.CancelFunc
	loops  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	views  map[string]*view // by chat
}

// NewHub is a Hub without views.
func NewHub(cfg Config) *Hub {
	h := &Hub{cfg: cfg.filled(), views: map[string]*view{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// runView is a snapshot as the components take it.
func (c Config) runView(s *fold.Snapshot, now time.Time) views.RunView {
	return views.RunView{Snap: s, Now: now, Render: c.Render, Cost: c.Cost(s.Start.Model, s.Usage)}
}

// Wake tells the chat's view, if there is one. It never blocks.
func (h *Hub) Wake(chatID string, w Wake) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.views[chatID]; v != nil {
		v.wake(w)
	}
	if w.Chrome {
		for id, v := range h.views {
			if id != chatID {
				v.wakeList()
			}
		}
	}
}

// Subscribe joins a chat's view behind the cursor. The error is the store's, the
// context's or ErrClosed.
func (h *Hub) Subscribe(ctx context.Context, chatID string, c Cursor) (*Viewer, error) {
	v, err := h.join(chatID)
	if err != nil {
		return nil, err
	}
	viewer := &Viewer{view: v}
	if err := v.await(ctx, 1); err != nil {
		viewer.Close()
		return nil, fmt.Errorf("watch chat: %w", err)
	}
	if viewer.base, err = v.at(ctx, c); err != nil {
		viewer.Close()
		return nil, fmt.Errorf("watch chat behind its cursor: %w", err)
	}
	return viewer, nil
}

// join finds or starts the chat's view and counts a viewer in.
func (h *Hub) join(chatID string) (*view, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	v := h.views[chatID]
	if v == nil {
		v = newView(h, chatID)
		h.views[chatID] = v
		h.loops.Go(v.loop)
	}
	v.viewers++
	if v.leaving != nil {
		v.leaving.Stop()
		v.leaving = nil
	}
	return v, nil
}

// leave counts a viewer out; the last one takes the view with it after a grace.
func (h *Hub) leave(v *view) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v.viewers--
	if v.viewers > 0 || h.views[v.chatID] != v {
		return
	}
	v.leaving = time.AfterFunc(h.cfg.Grace, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if v.viewers == 0 {
			h.forget(v)
		}
	})
}

// forget ends the view; the caller holds the lock.
func (h *Hub) forget(v *view) {
	if h.views[v.chatID] == v {
		delete(h.views, v.chatID)
	}
	v.cancel()
}

// Watched is the number of views and of their viewers.
func (h *Hub) Watched() (chats, viewers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.views {
		viewers += v.viewers
	}
	return len(h.views), viewers
}

// Shutdown ends every stream, so that clients reconnect elsewhere or later, and
// waits for the views.
func (h *Hub) Shutdown(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	for _, v := range h.views {
		if v.leaving != nil {
			v.leaving.Stop()
		}
	}
	h.mu.Unlock()
	h.cancel()
	gone := make(chan struct{})
	go func() {
		h.loops.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}
