package fold

import "strings"

// peekLimit bounds what is looked at of a line that still grows.
const peekLimit = 256

// cutter cuts a growing text into blocks. What it shows is a function of the
// text alone, however it came.
type cutter struct {
	out    outline
	line   int  // offset of the first line that is not complete
	seen   int  // no newline stands between line and seen
	early  bool // the incomplete line is placed already
	prev   int  // offset of the line before line
	n      int  // blocks that are closed
	open   openBlock
	done   []*Block    // closed since blocks was made
	blocks Vec[*Block] // as shown last
}

// openBlock is the block that the next line may join.
type openBlock struct {
	is    bool
	start int
	end   int // behind its last line that is not blank
	kind  BlockKind
	info  string
	pieces
}

// show is the blocks of the text so far.
func (c *cutter) show(text string) Vec[*Block] {
	c.read(text)
	c.flush()
	if b, ok := c.openNow(text); ok {
		c.put(b)
	}
	return c.blocks
}

// finish is the blocks of the whole text, all closed.
func (c *cutter) finish(text string) Vec[*Block] {
	c.read(text)
	if c.line < len(text) {
		c.take(text, len(text), len(text))
	}
	if c.inFence() {
		c.open.end = len(text)
	}
	c.out.finishText()
	c.closeOpen(text)
	c.flush()
	if c.out.defs != nil {
		for i, b := range c.blocks.All() {
			if refs := c.out.defs.usedBy(b.Text, b.start, b.Kind); refs != b.Refs {
				changed := *b
				changed.Refs = refs
				c.blocks = c.blocks.Set(i, &changed)
			}
		}
	}
	return c.blocks
}

// cutAll cuts a whole text.
func cutAll(text string) Vec[*Block] {
	var c cutter
	return c.finish(text)
}

// read takes every complete line, and places the incomplete one as soon as its
// beginning settles where it belongs.
func (c *cutter) read(text string) {
	for c.line < len(text) {
		from := max(c.line, c.seen)
		n := strings.IndexByte(text[from:], '\n')
		if n < 0 {
			c.seen = len(text)
			c.peek(text)
			return
		}
		c.take(text, from+n, from+n+1)
	}
}

// take takes the line that ends at end; the next one begins at next.
func (c *cutter) take(text string, end, next int) {
	line := text[c.line:end]
	if c.inFence() {
		c.open.chop(text, end)
	}
	c.out.at = c.line
	v := c.out.add(line)
	c.place(text, v)
	switch {
	case v.place == placeBlank:
		if v.over {
			c.closeOpen(text)
		}
	case blank(line) || v.kind == BlockHTML || len(c.out.holders) > 0: // HTML may end with the line, and keeps its newline
		c.open.end = next
		c.open.kind = v.kind
	default:
		c.open.end = end
		c.open.kind = v.kind
		if v.kind == "" {
			c.open.kind = BlockParagraph
		}
	}
	if c.open.is {
		if c.open.start == c.line && v.info != "" {
			c.open.info = v.info
		}
		c.open.line(text, c.line, next, v)
		if v.over {
			c.closeOpen(text)
		}
	}
	c.prev, c.line, c.seen, c.early = c.line, next, next, false
}

// peek places an incomplete line early.
func (c *cutter) peek(text string) {
	if c.inFence() {
		c.open.chop(text, len(text))
		return
	}
	head := text[c.line:min(len(text), c.line+peekLimit)]
	if c.early || !settled(head) {
		return
	}
	trial := c.out.clone()
	v := trial.add(head)
	c.place(text, v)
	c.early = true
}

// place begins a block, or an item's piece, at the line.
func (c *cutter) place(text string, v verdict) {
	if c.early {
		return
	}
	switch v.place {
	case placeStart:
		c.closeOpen(text)
		c.begin(c.line, v)
	case placeSplit:
		c.open.end = c.prev - 1
		c.closeOpen(text)
		c.begin(c.prev, v)
	}
	if v.item && v.place == placeSame {
		c.open.item(c.line)
	}
}

func (c *cutter) begin(start int, v verdict) {
	c.open = openBlock{is: true, start: start, end: start, kind: v.kind, info: v.info}
	if c.open.kind == "" {
		c.open.kind = BlockParagraph
	}
}

// inFence: the open block is fenced code at top level, which every line joins.
func (c *cutter) inFence() bool {
	return c.open.is && len(c.out.holders) == 0 && c.out.leaf.kind == leafFence
}

func (c *cutter) closeOpen(text string) {
	if !c.open.is {
		return
	}
	b := c.block(text, c.open.end)
	b.Closed = true
	b.Refs = c.out.defs.usedBy(b.Text, b.start, b.Kind)
	c.done = append(c.done, b)
	c.n++
	c.open = openBlock{}
}

func (c *cutter) block(text string, end int) *Block {
	s := text[c.open.start:end]
	b := &Block{N: c.n, Kind: c.open.kind, Info: c.open.info, Text: s, text: s, start: c.open.start}
	if b.Kind == BlockParagraph && s != "" && s[0] == '[' && restOf(s) == "" {
		b.Kind = BlockOther
	}
	return b
}

// openNow is the block that is still open, with the incomplete line.
func (c *cutter) openNow(text string) (*Block, bool) {
	rest := text[c.line:]
	if !c.open.is {
		if blank(rest) {
			return nil, false
		}
		trial := c.out.clone()
		v := trial.add(rest[:min(len(rest), peekLimit)])
		kind := v.kind
		if kind == "" {
			kind = BlockParagraph
		}
		return &Block{N: c.n, Kind: kind, Info: v.info, Text: rest, text: rest, start: c.line}, true
	}
	end := c.open.end
	if c.inFence() || !blank(rest) {
		end = len(text)
	}
	b := c.block(text, end)
	if c.early && c.open.start == c.line && b.Kind == BlockCode {
		b.Info = infoOf(rest[:min(len(rest), peekLimit)])
	}
	if c.open.split() {
		b.Text = ""
		b.Pieces = c.open.show(text, end)
	} else if len(b.Text) <= peekLimit*16 {
		b.Refs = c.out.defs.usedBy(b.Text, b.start, b.Kind)
	}
	return b, true
}

// flush puts the blocks that closed since the last time in their places.
func (c *cutter) flush() {
	for _, b := range c.done {
		c.put(b)
	}
	c.done = c.done[:0]
}

func (c *cutter) put(b *Block) {
	if b.N == c.blocks.Len() {
		c.blocks = c.blocks.Append(b)
	} else if !c.blocks.At(b.N).same(b) {
		c.blocks = c.blocks.Set(b.N, b)
	}
}

// infoOf is the info string of an opening fence, "" for another line.
func infoOf(line string) string {
	s := strings.TrimLeft(line, " ")
	if s == "" || len(line)-len(s) > 3 {
		return ""
	}
	_, _, info, _ := fenceOf(s)
	return info
}
