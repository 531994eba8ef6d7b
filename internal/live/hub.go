// Package live keeps one view for each chat that somebody watches. A view folds
// the log once, renders and encodes each change once, and every viewer in step
// gets the same bytes (docs/architecture.md, 'Live').
package live

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"stagefold/internal/part"
	"stagefold/views"
)

// ErrClosed: the hub is shutting down; the client reconnects.
var ErrClosed = errors.New("live: closed")

// Config is what a Hub works from. Entries and Chat must be safe for concurrent
// use; the rest may be zero.
type Config struct {
	// Entries reads a run's log behind a seq, in order.
	Entries func(ctx context.Context, runID string, after int64) ([]*part.Entry, error)
	// Chat reads the chat page beside its runs.
	Chat func(ctx context.Context, chatID string) (views.ChatState, error)
	Now  func() time.Time
	// Heartbeat is the longest silence of a stream; 15 s.
	Heartbeat time.Duration
	// Render is the markdown renderer; the project's own where it is nil.
	Render views.Renderer
	Log    *slog.Logger
}

// Wake says that something changed.
type Wake struct {
	RunID   string        // whose log grew; "" for none
	Entries []*part.Entry // what was added; nil = look into the log
	Chrome  bool          // what stands beside the runs changed (views.ChatState)
}

// Cursor is what a page shows already: a run and the seq of its last entry.
type Cursor struct {
	RunID string
	Seq   int64
}

// Frame is a piece of a viewer's stream.
type Frame struct {
	Plain   []byte // server-sent events
	Deflate []byte // the same as a chunk of the viewer's gzip member
}

// Hub has the views.
type Hub struct{ cfg Config }

// Viewer is one reader of a view.
type Viewer struct{}

// NewHub is a Hub without views.
func NewHub(cfg Config) *Hub { return &Hub{cfg: cfg} }

// Wake tells the chat's view, if there is one. It never blocks.
func (h *Hub) Wake(chatID string, w Wake) {}

// Subscribe joins a chat's view behind the cursor.
func (h *Hub) Subscribe(ctx context.Context, chatID string, c Cursor) (*Viewer, error) {
	return &Viewer{}, nil
}

// Shutdown ends every stream and waits until the views are gone.
func (h *Hub) Shutdown(ctx context.Context) {}

// GzipHeader begins a viewer's gzip member.
var GzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// Next waits for frames. It ends with an error of the context, of the store or
// ErrClosed.
func (v *Viewer) Next(ctx context.Context) ([]Frame, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// GzipTrailer ends the viewer's gzip member after the frames it was given.
func (v *Viewer) GzipTrailer() []byte { return nil }

// Close leaves the view.
func (v *Viewer) Close() {}
