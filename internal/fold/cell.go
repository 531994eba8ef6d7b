package fold

import (
	"strings"

	"stagefold/internal/part"
)

// cell is a part while it is folded. Its Part may be changed in place as long
// as no snapshot holds it.
type cell struct {
	p       *Part
	epoch   int      // the folder's epoch in which p was made
	text    *growing // the open text, or the open input of a tool
	role    role
	stage   *stage // the stage that was current when it began; nil for lead and answer
	answer  bool   // it belongs to the answer
	home    *region
	index   int // in home
	dirty   bool
	subject string // of the running tool; made on demand
}

// role sets planner calls apart from the parts of rows.
type role int

const (
	rolePart     role = iota
	rolePlanner       // a planner's call: a part only where it fails
	roleComplete      // complete in a run with a plan: the same
)

// own makes the cell's part free to change.
func (c *cell) own(epoch int) *Part {
	if c.epoch != epoch {
		p := *c.p
		c.p, c.epoch = &p, epoch
	}
	return c.p
}

// publish is the part as a snapshot holds it.
func (c *cell) publish(epoch int) *Part {
	c.dirty = false
	switch {
	case c.text == nil:
	case c.p.Tool == nil && len(c.p.text) == len(c.text.whole): // it only moved
	case c.p.Tool == nil:
		p := c.own(epoch)
		p.text = c.text.whole
		p.Blocks = c.text.show()
	case c.p.Tool.InputText != c.text.whole:
		tool := *c.p.Tool
		tool.InputText = c.text.whole
		c.own(epoch).Tool = &tool
	}
	return c.p
}

// growing is a text while it grows. The bytes are written once: whole is a view
// of the buffer, which only grows at its end.
type growing struct {
	whole string
	buf   strings.Builder
	cut   *cutter // nil until the text is shown
}

func (g *growing) write(delta string) {
	if g.whole == "" {
		g.whole = delta
		return
	}
	if g.buf.Len() == 0 {
		g.buf.Grow(2 * (len(g.whole) + len(delta)))
		g.buf.WriteString(g.whole)
	}
	g.buf.WriteString(delta)
	g.whole = g.buf.String()
}

func (g *growing) show() Vec[*Block] {
	if g.cut == nil {
		if g.whole == "" {
			return Vec[*Block]{}
		}
		g.cut = new(cutter)
	}
	return g.cut.show(g.whole)
}

// finish is the blocks of the text that ends: cut on demand where nobody has
// seen it yet.
func (g *growing) finish() Vec[*Block] {
	switch text := g.whole; {
	case text == "":
		return Vec[*Block]{}
	case g.cut == nil:
		return LazyVec(func() Vec[*Block] { return cutAll(text) })
	}
	return g.cut.finish(g.whole)
}

// working: a tool call that is work, not planning.
func (c *cell) working() bool {
	return c.p.Kind == part.KindTool && c.role == rolePart && c.p.Tool.Name != completeTool
}

const completeTool = "complete"
