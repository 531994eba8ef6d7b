package live

import (
	"context"
	"slices"
	"sync"

	"stagefold/internal/fold"
	"stagefold/views"
)

// base is what a page shows: a run and how far, and the chrome, nil where that
// is not known. Without a run nothing is known.
type base struct {
	run    string
	snap   *fold.Snapshot
	past   *past // where snap is not one of the view's own
	chrome *chrome
}

// between is the way from what a page shows to a state.
func (v *view) between(from base, to *state) (*patches, error) {
	p := &patches{}
	roots := to.chat.RunIDs
	at := slices.Index(roots, from.run)
	switch {
	case from.run == to.run && from.snap == to.snap:
	case from.run == to.run && begun(from.snap):
		if err := v.within(p, from, to.snap); err != nil {
			return nil, err
		}
	case from.run == to.run || from.run == "" || at < 0:
		p.forget = from.run == "" || at < 0
		if begun(to.snap) {
			p.article(v.runView(to.snap))
		}
	default:
		if err := v.finish(p, from); err != nil {
			return nil, err
		}
		for _, id := range roots[at+1 : max(at+1, slices.Index(roots, to.run))] {
			snap, err := v.whole(id)
			if err != nil {
				return nil, err
			}
			if begun(snap) {
				p.article(v.runView(snap))
			}
		}
		if begun(to.snap) {
			p.article(v.runView(to.snap))
		}
	}
	if begun(to.snap) {
		p.seq = to.snap.Seq
	}
	for i := range chromeParts {
		if from.chrome == nil || from.chrome.key[i] != to.chrome.key[i] {
			p.html(to.chrome.html[i])
		}
	}
	return p, nil
}

// finish brings a run to its end that is no longer the newest.
func (v *view) finish(p *patches, from base) error {
	if from.snap.Terminal() {
		return nil
	}
	end, err := v.whole(from.run)
	switch {
	case err != nil:
		return err
	case begun(from.snap):
		return v.within(p, from, end)
	case begun(end):
		p.article(v.runView(end))
	}
	return nil
}

// within is the way inside one run. Snapshots of two folders share nothing, and
// everything would be a change: a page from elsewhere is compared with what its
// own folder makes of the log.
func (v *view) within(p *patches, from base, now *fold.Snapshot) error {
	was := from.snap
	if from.past != nil {
		var err error
		if was, now, err = from.past.span(v, now.Seq); err != nil {
			return err
		}
	}
	p.changes(v.runView(was), v.runView(now))
	return nil
}

// whole is a run as its log has it now.
func (v *view) whole(run string) (*fold.Snapshot, error) {
	entries, err := v.hub.cfg.Entries(v.ctx, run, 0)
	if err != nil {
		return nil, err
	}
	return named(fold.Fold(entries), run), nil
}

func (v *view) runView(s *fold.Snapshot) views.RunView {
	return v.hub.cfg.runView(s, v.hub.cfg.Now())
}

// article puts a run at the end of the timeline. A page that was rendered while
// the run was queued has its article already; that one goes.
func (p *patches) article(run views.RunView) {
	p.elements(remove, "#"+run.ID())
	e := p.elements(appends, "#"+views.TimelineID, views.RunArticle(run))
	e.seq = run.Snap.Seq
}

// joins are the frames made for those who join at one state: who shows the same
// gets the same.
type joins struct {
	mu     sync.Mutex
	frames map[base]*joinFrame
}

// maxJoins bounds them: cursors come from outside.
const maxJoins = 64

type joinFrame struct {
	once           sync.Once
	plain, deflate []byte
	err            error
}

func (j *joins) frame(v *view, from base, to *state) (*joinFrame, error) {
	j.mu.Lock()
	f := j.frames[from]
	if f == nil {
		if j.frames == nil || len(j.frames) >= maxJoins {
			j.frames = map[base]*joinFrame{}
		}
		f = &joinFrame{}
		j.frames[from] = f
	}
	j.mu.Unlock()
	f.once.Do(func() {
		p, err := v.between(from, to)
		if err != nil {
			f.err = err
			return
		}
		f.plain = p.encode()
		f.deflate = deflated(f.plain)
	})
	return f, f.err
}

// at is what a page with this cursor shows.
func (v *view) at(ctx context.Context, c Cursor) (base, error) {
	if c.RunID == "" {
		return base{}, nil
	}
	if !v.reached(c) { // the page is newer than the view: its commit's wake is on the way
		if err := v.refresh(ctx); err != nil {
			return base{}, err
		}
	}
	s := v.window.Load().state
	if !slices.Contains(s.chat.RunIDs, c.RunID) || s.run == c.RunID && s.snap.Seq < c.Seq {
		return base{}, nil
	}
	for _, seen := range v.states() {
		if seen.run == c.RunID && seen.snap.Seq == c.Seq {
			return base{run: c.RunID, snap: seen.snap}, nil
		}
	}
	past := v.pasts.at(c)
	snap, _, err := past.span(v, c.Seq)
	return base{run: c.RunID, snap: snap, past: past}, err
}

// reached: the view's state is not behind the cursor.
func (v *view) reached(c Cursor) bool {
	s := v.window.Load().state
	if s.run == c.RunID {
		return s.snap.Seq >= c.Seq
	}
	return slices.Contains(s.chat.RunIDs, c.RunID)
}

// states are those that the window still has.
func (v *view) states() []*state {
	w := v.window.Load()
	states := []*state{w.state}
	for _, f := range w.frames {
		states = append(states, f.after)
	}
	return states
}
