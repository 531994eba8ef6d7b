package fold

import "strings"

// outline is the open block structure of a markdown text between two lines, as
// far as it decides where top-level blocks begin and end (CommonMark, appendix
// 'A parsing strategy', phase 1; a GFM table is a paragraph with a delimiter
// row, as in goldmark).
type outline struct {
	holders []holder // open quotes and list items, the outermost first
	leaf    leaf     // the innermost open block
	at      int      // offset of the line that is being added
	defs    *definitions
}

// holder is an open quote or list item.
type holder struct {
	quote  bool
	mark   byte // item: what its list is made of, one of -+*.)
	indent int  // item: columns before its content
	empty  bool // item: nothing in it yet
	dead   bool // item: began empty, then a blank line: nothing joins it
}

// place is what a line is to the top-level blocks.
type place int

const (
	placeBlank place = iota
	placeSame        // belongs to the open block
	placeStart       // begins a block; the open one ends before it
	placeSplit       // the line above begins a block (a table's header)
)

// verdict is what a line did.
type verdict struct {
	place place
	kind  BlockKind
	info  string // of fenced code
	over  bool   // the block ends with this line
	item  bool   // a list item begins at top level
	mark  int    // item: offset behind its marker
}

// add takes one line, without its newline.
func (o *outline) add(line string) verdict {
	c := cursor{line: line}
	first := byte(0)
	if len(o.holders) > 0 && !o.holders[0].quote {
		first = o.holders[0].mark
	}
	open := len(o.holders) > 0 || o.leaf.kind != leafNone

	matched := 0
	for matched < len(o.holders) && o.holders[matched].goesOn(&c) {
		matched++
	}
	all := matched == len(o.holders)
	_, next := c.indent()
	empty := blank(line[next:])
	if all && o.leaf.kind != leafNone && o.leaf.kind != leafParagraph {
		if v, ok := o.addToLeaf(&c, empty); ok {
			return v
		}
	}
	if empty {
		o.blankLine(matched)
		return verdict{place: placeBlank, kind: o.kind(), over: open && o.kind() == ""}
	}
	v := o.start(&c, matched)
	nextItem := v.item && first != 0 && o.holders[0].mark == first
	if !open {
		v.place = placeStart
	} else if v.place == placeStart && (matched > 0 || nextItem) {
		v.place = placeSame
	}
	return v
}

// goesOn: the line still belongs to the holder; the cursor goes behind its mark.
func (h *holder) goesOn(c *cursor) bool {
	width, next := c.indent()
	if h.quote {
		if width > 3 || next == len(c.line) || c.line[next] != '>' {
			return false
		}
		c.to(next + 1)
		c.skip(1)
		return true
	}
	if h.dead {
		return false
	}
	if blank(c.line[next:]) {
		if h.empty {
			h.dead = true
			return false
		}
		c.to(next)
		return true
	}
	if width < h.indent {
		return false
	}
	c.skip(h.indent)
	return true
}

// addToLeaf gives the line to the open code or HTML; false where that ended
// before it.
func (o *outline) addToLeaf(c *cursor, empty bool) (verdict, bool) {
	width, next := c.indent()
	rest := c.line[next:]
	same := verdict{place: placeSame, kind: o.kind()}
	switch o.leaf.kind {
	case leafFence:
		if width < 4 && rest != "" && rest[0] == o.leaf.mark {
			after := strings.TrimLeft(rest, rest[:1])
			if len(rest)-len(after) >= o.leaf.n && blank(after) {
				o.leaf = leaf{}
				same.over = len(o.holders) == 0
			}
		}
		return same, true
	case leafIndented:
		if width >= 4 && !empty {
			return same, true
		}
		if empty {
			return verdict{place: placeBlank, kind: same.kind}, true
		}
	case leafHTML:
		if o.leaf.html >= 6 && empty {
			break
		}
		if o.leaf.html.ends(c.rest()) {
			o.leaf = leaf{}
			same.over = len(o.holders) == 0
		}
		return same, true
	}
	o.leaf = leaf{}
	return verdict{}, false
}

func (o *outline) blankLine(matched int) {
	if o.leaf.kind == leafParagraph || matched < len(o.holders) {
		o.closeLeaf()
	}
	for i := matched; i < len(o.holders); i++ {
		if o.holders[i].quote {
			o.holders = o.holders[:i]
			return
		}
	}
}

// start opens what begins on a line that is not blank, behind the matched
// holders, and adds the rest of it as text.
func (o *outline) start(c *cursor, matched int) verdict {
	lazy := o.leaf.kind == leafParagraph // a paragraph that the line may go on, even behind unmatched holders
	inside := lazy && matched == len(o.holders)
	began := false
	v := verdict{place: placeStart}
	for {
		width, next := c.indent()
		rest := c.line[next:]
		if blank(rest) {
			break
		}
		if width > 3 {
			if !lazy || began {
				o.close(matched, began)
				o.leaf = leaf{kind: leafIndented}
				return o.finish(v, false)
			}
			break
		}
		if inside && !began && isUnderline(rest) {
			if o.leaf.headed() {
				o.closeLeaf()
				v.place = placeSame
				if len(o.holders) == 0 {
					v.kind, v.over = BlockHeading, true
					return v
				}
				return o.finish(v, true)
			}
			o.closeLeaf() // it was a table or nothing but definitions
			inside, lazy = false, false
		}
		if rest[0] == '>' {
			o.close(matched, began)
			began = true
			c.to(next + 1)
			c.skip(1)
			o.filled()
			o.holders = append(o.holders, holder{quote: true})
			matched = len(o.holders)
			continue
		}
		if isHeading(rest) {
			o.close(matched, began)
			return o.alone(v, BlockHeading)
		}
		if mark, n, info, ok := fenceOf(rest); ok {
			o.close(matched, began)
			o.leaf = leaf{kind: leafFence, mark: mark, n: n}
			v.info = info
			return o.finish(v, false)
		}
		if rest[0] == '<' && strings.Trim(c.line[c.pos:next], " ") == "" {
			if kind := htmlOf(rest, !lazy || began); kind != 0 {
				o.close(matched, began)
				if kind.ends(rest) {
					return o.alone(v, BlockHTML)
				}
				o.leaf = leaf{kind: leafHTML, html: kind}
				return o.finish(v, false)
			}
		}
		if isRule(rest) {
			o.close(matched, began)
			return o.alone(v, BlockRule)
		}
		n, mark, number, ok := itemOf(rest)
		if ok && inside && !began && (blank(rest[n:]) || number != "" && strings.TrimLeft(number, "0") != "1") {
			ok = false
		}
		if !ok {
			break
		}
		o.close(matched, began)
		if len(o.holders) == 0 {
			v.item, v.mark = true, next+n
		}
		began = true
		o.filled()
		o.holders = append(o.holders, o.item(c, width, next+n, n, mark))
		matched = len(o.holders)
	}
	_, next := c.indent()
	rest := c.line[next:]
	if !began && lazy {
		o.filled()
		v.place = placeSame
		if inside && len(o.holders) == 0 && o.leaf.row(c.rest()) {
			if o.leaf.n > 1 && paragraphAlone(o.leaf.raw) {
				v.place = placeSplit
			}
			o.leaf.table = tableYes
		}
		o.leaf.add(rest, c.line)
		return o.finish(v, true)
	}
	o.close(matched, began)
	if !blank(rest) {
		o.leaf = leaf{kind: leafParagraph, at: o.at}
		o.leaf.add(rest, c.line)
		o.filled()
	}
	return o.finish(v, true)
}

// item opens a list item whose marker of n characters ends at offset after.
func (o *outline) item(c *cursor, width, after, n int, mark byte) holder {
	c.to(after)
	space, next := c.indent()
	h := holder{mark: mark, indent: width + n + 1}
	switch {
	case blank(c.line[next:]):
		h.empty = true
		c.to(next)
	case space > 4:
		c.skip(1)
	default:
		h.indent = width + n + space
		c.skip(space)
	}
	return h
}

// close closes what the line does not belong to.
func (o *outline) close(matched int, began bool) {
	if began {
		return
	}
	o.closeLeaf()
	o.holders = o.holders[:matched]
}

func (o *outline) closeLeaf() {
	if o.leaf.text != "" {
		o.defs = o.defs.with(o.leaf.text, o.leaf.at)
	}
	o.leaf = leaf{}
}

// filled: the innermost item has content now.
func (o *outline) filled() {
	if n := len(o.holders); n > 0 {
		o.holders[n-1].empty = false
	}
}

// alone is a block of this one line.
func (o *outline) alone(v verdict, kind BlockKind) verdict {
	o.filled()
	if len(o.holders) > 0 {
		return o.finish(v, true)
	}
	v.kind, v.over = kind, true
	return v
}

func (o *outline) finish(v verdict, text bool) verdict {
	if !text {
		o.filled()
	}
	v.kind = o.kind()
	if len(o.holders) > 0 {
		v.info = ""
	}
	return v
}

// kind is the kind of the open top-level block, "" where none is open.
func (o *outline) kind() BlockKind {
	if len(o.holders) > 0 {
		if o.holders[0].quote {
			return BlockQuote
		}
		return BlockList
	}
	switch o.leaf.kind {
	case leafParagraph:
		if o.leaf.table == tableYes {
			return BlockTable
		}
		return BlockParagraph
	case leafFence, leafIndented:
		return BlockCode
	case leafHTML:
		return BlockHTML
	}
	return ""
}

// finishText closes everything at the end of the text.
func (o *outline) finishText() {
	o.closeLeaf()
	o.holders = nil
}

// clone is a copy to try a line on.
func (o *outline) clone() outline {
	c := *o
	c.holders = append(make([]holder, 0, len(o.holders)+4), o.holders...)
	return c
}
