package live

import "sync"

const (
	maxFrames = 64      // frames that a viewer may be behind
	maxBytes  = 1 << 20 // of them together
)

// window is what viewers read: the state and the newest frames that led to it.
// Immutable; each publication makes the next one and closes changed.
type window struct {
	frames  []*frame // oldest first; their numbers have no gap
	last    int      // number of the newest frame ever published
	state   *state   // nil before the first look
	err     error    // the view is over
	changed chan struct{}
	joins   *joins // frames for viewers that join at state
}

// frame is one publication.
type frame struct {
	n     int
	plain []byte
	// deflate is plain as a chunk that follows all chunks of its epoch.
	deflate []byte
	opens   bool   // the first of an epoch: deflate needs no chunk before it
	after   *state // what the page shows once it has the frame

	once  sync.Once
	alone []byte // deflate for those who joined in the middle of the epoch
}

// solo is plain as a chunk that needs no other; made once, when first needed.
func (f *frame) solo() []byte {
	f.once.Do(func() { f.alone = deflated(f.plain) })
	return f.alone
}

// publish makes s the state, and events, where there are any, the way to it.
func (v *view) publish(s *state, events []byte) {
	w := v.window.Load()
	next := &window{frames: w.frames, last: w.last, state: s, changed: make(chan struct{}), joins: w.joins}
	if s != w.state {
		next.joins = &joins{}
	}
	if len(events) > 0 {
		chunk, opens := v.shared.deflate(events)
		next.last++
		next.frames = kept(w.frames, &frame{n: next.last, plain: events, deflate: chunk, opens: opens, after: s})
	}
	v.window.Store(next)
	close(w.changed)
}

// end tells the viewers that the view is over.
func (v *view) end(err error) {
	w := *v.window.Load()
	old := w.changed
	w.err = err
	w.changed = make(chan struct{})
	v.window.Store(&w)
	close(old)
}

// kept is a new ring with f at its end.
func kept(frames []*frame, f *frame) []*frame {
	size, from := len(f.plain), len(frames)
	for from > 0 && len(frames)-from+1 < maxFrames && size+len(frames[from-1].plain) <= maxBytes {
		from--
		size += len(frames[from].plain)
	}
	next := make([]*frame, 0, len(frames)-from+1)
	return append(append(next, frames[from:]...), f)
}

// since are the frames behind number n; false where some are gone.
func (w *window) since(n int) ([]*frame, bool) {
	if n == w.last {
		return nil, true
	}
	if len(w.frames) == 0 || n < w.frames[0].n-1 {
		return nil, false
	}
	return w.frames[n-w.frames[0].n+1:], true
}
