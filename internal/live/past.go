package live

import (
	"sync"

	"stagefold/internal/fold"
)

// past is a run folded up to a cursor, and from there on.
type past struct {
	cursor Cursor

	mu  sync.Mutex
	f   follower
	was *fold.Snapshot // at the cursor
	now *fold.Snapshot // at f.seq
}

// span gives the run at the cursor and at seq, both from one folder.
func (p *past) span(v *view, seq int64) (was, now *fold.Snapshot, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.was != nil && p.f.seq == seq {
		return p.was, p.now, nil
	}
	if p.was == nil || p.f.seq > seq {
		p.f = follower{run: p.cursor.RunID, folder: fold.New()}
		if err := p.f.readTo(v.ctx, v.hub.cfg, min(seq, p.cursor.Seq)); err != nil {
			return nil, nil, err
		}
		p.was = named(p.f.folder.Snapshot(), p.cursor.RunID)
	}
	if err := p.f.readTo(v.ctx, v.hub.cfg, seq); err != nil {
		return nil, nil, err
	}
	p.now = named(p.f.folder.Snapshot(), p.cursor.RunID)
	return p.was, p.now, nil
}

// pasts keeps some: many pages come back at once when a server starts again.
type pasts struct {
	mu   sync.Mutex
	kept map[Cursor]*past
}

// maxPasts bounds what a view keeps: cursors come from outside.
const maxPasts = 16

func (p *pasts) at(c Cursor) *past {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept := p.kept[c]; kept != nil {
		return kept
	}
	if p.kept == nil || len(p.kept) >= maxPasts {
		p.kept = map[Cursor]*past{}
	}
	made := &past{cursor: c}
	p.kept[c] = made
	return made
}
