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
	whole   string   // the open text, or the open input of a tool, so far
	text    *growing // the same where it came in more than one delta or was shown
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
	case !c.open():
	case c.p.Tool == nil:
		if len(c.p.text) == len(c.whole) { // it only moved
			break
		}
		p := c.own(epoch)
		p.text = c.whole
		p.Blocks = c.growing().cut.show(c.whole)
	case len(c.p.Tool.InputText) != len(c.whole):
		tool := *c.p.Tool
		tool.InputText = c.whole
		c.own(epoch).Tool = &tool
	}
	return c.p
}

// open: text may still be added.
func (c *cell) open() bool {
	return c.p.State == part.StateStreaming || c.p.State == part.StateInputStreaming
}

// growing is a text while it grows: its bytes, which are written once, since a
// view of the buffer stays what it is while the buffer grows at its end, and
// how far it is cut into blocks.
type growing struct {
	buf strings.Builder
	cut cutter
}

func (c *cell) growing() *growing {
	if c.text == nil {
		c.text = new(growing)
	}
	return c.text
}

// write adds a delta to the text.
func (c *cell) write(delta string) {
	if c.whole == "" {
		c.whole = delta
		return
	}
	buf := &c.growing().buf
	if buf.Len() == 0 {
		buf.Grow(2 * (len(c.whole) + len(delta)))
		buf.WriteString(c.whole)
	}
	buf.WriteString(delta)
	c.whole = buf.String()
}

// closeText ends the text of a part that has just ended. Its blocks are cut on
// demand where nobody has seen it yet.
func (c *cell) closeText(lazy *lazyVec[*Block]) {
	p := c.p
	switch {
	case p.Tool != nil:
		if len(p.Tool.Input) == 0 && p.Tool.RawInput == "" { // all there is of the input
			p.Tool.InputText = c.whole // Take made the Tool ours
		}
	case c.text != nil && c.text.cut.line+c.text.cut.blocks.Len() > 0:
		p.Blocks, p.text = c.text.cut.finish(c.whole), c.whole
	case c.whole != "":
		lazy.text, lazy.make = c.whole, cutAll
		p.Blocks, p.text = Vec[*Block]{lazy: lazy}, c.whole
	}
	c.text, c.whole = nil, ""
}

// working: a tool call that is work, not planning.
func (c *cell) working() bool {
	return c.p.Kind == part.KindTool && c.role == rolePart && c.p.Tool.Name != completeTool
}

const completeTool = "complete"
