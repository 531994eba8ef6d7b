package fold

import (
	"slices"

	"stagefold/internal/part"
)

// region is a place for parts, in order of N.
type region struct {
	cells  []*cell
	vec    Vec[*Part] // as a snapshot holds it
	shown  int        // cells[:shown] stand in vec
	dirty  []*cell    // shown cells whose part changed
	tools  int
	queued bool   // in the folder's list of regions to publish
	of     *stage // whose row it is; nil for lead, sink and answer
}

func (r *region) add(c *cell) {
	c.home, c.index = r, len(r.cells)
	r.cells = append(r.cells, c)
	r.count(c, 1)
}

func (r *region) count(c *cell, n int) {
	if c.p.Kind == part.KindTool {
		r.tools += n
	}
}

// insert adds cells anywhere, by their N.
func (r *region) insert(cells ...*cell) {
	if len(cells) == 0 {
		return
	}
	all := append(slices.Clone(r.cells), cells...)
	slices.SortFunc(all, byN)
	r.set(all)
}

// filter keeps some cells.
func (r *region) filter(keep func(*cell) bool) (changed bool) {
	var kept []*cell
	for _, c := range r.cells {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	if len(kept) == len(r.cells) {
		return false
	}
	r.set(kept)
	return true
}

// set gives the region these cells; it is shown anew from where they differ.
func (r *region) set(cells []*cell) {
	same := 0
	for same < min(len(cells), r.shown) && cells[same] == r.cells[same] {
		same++
	}
	if same < r.shown {
		r.vec, r.shown = r.vec.prefix(same), same
	}
	r.cells, r.tools = cells, 0
	r.dirty = r.dirty[:0]
	for i, p := range r.vec.All() {
		if c := cells[i]; c.dirty || c.p != p {
			c.dirty = true
			r.dirty = append(r.dirty, c)
		}
	}
	for i, c := range cells {
		c.home, c.index = r, i
		r.count(c, 1)
	}
}

// publish brings the region's Vec up to date and says whether it changed.
func (r *region) publish(epoch int) (changed bool) {
	for _, c := range r.dirty {
		if !c.dirty || c.home != r || c.index >= r.shown {
			continue
		}
		if p := c.publish(epoch); p != r.vec.At(c.index) {
			r.vec, changed = r.vec.Set(c.index, p), true
		}
	}
	r.dirty = r.dirty[:0]
	switch n := len(r.cells) - r.shown; {
	case n == 0:
		return changed
	case n == 1:
		r.vec = r.vec.Append(r.cells[r.shown].publish(epoch))
	default:
		fresh := make([]*Part, 0, n)
		for _, c := range r.cells[r.shown:] {
			fresh = append(fresh, c.publish(epoch))
		}
		r.vec = r.vec.AppendAll(fresh)
	}
	r.shown = len(r.cells)
	return true
}
