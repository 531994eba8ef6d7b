package fold

import (
	"strings"
	"unicode/utf8"
)

// Where a long open block is split: at the next line once a piece holds this
// much; at the next item of a list already before that; inside a line of code
// that grows beyond all measure.
const (
	pieceBytes     = 1024
	pieceLines     = 24
	pieceItemBytes = 512
	pieceListBytes = 2048
	pieceLineBytes = 4096
)

// pieces says where an open block is split.
type pieces struct {
	cuts  []cut
	lines int    // of the last piece
	head  string // what the pieces after the first need in front
	mark  string // list: the running item's mark, on a line of its own
	made  int    // closed pieces in shown
	shown Vec[*Piece]
}

type cut struct {
	start int
	head  string
}

// line notes a complete line of the block, which may end a piece.
func (o *openBlock) line(text string, start, next int, v verdict) {
	switch {
	case len(o.cuts) == 0 && v.info == "" && o.kind != BlockCode:
		o.cuts = append(o.cuts, cut{o.start, ""})
	case len(o.cuts) == 0: // code: the fence line is no piece
		from := o.start
		if s := strings.TrimLeft(text[start:next], " "); next-start-len(s) < 4 && isFence(s) {
			from, o.head = next, text[start:next]
		}
		o.cuts = append(o.cuts, cut{from, o.head})
	}
	if o.kind == BlockTable && o.head == "" {
		o.head = text[o.start:next]
	}
	if v.item {
		o.mark = text[start:start+v.mark] + "\n"
	}
	if next > o.last() { // the fence line is before the first piece
		o.lines++
	}
	size, most := next-o.last(), pieceBytes
	switch o.kind {
	case BlockParagraph, BlockHeading, BlockRule, BlockOther:
		return // inline marks reach across any place: no piece of it could be shown alone
	case BlockList:
		most = pieceListBytes
	case BlockQuote:
		if strings.Trim(text[start:next], "> \t\r\n") != "" {
			most = pieceLineBytes
		}
	}
	if size >= most || o.lines >= pieceLines && o.kind != BlockList && o.kind != BlockQuote {
		o.cut(next, o.head+o.mark)
	}
}

// item notes that a list item begins at a line.
func (o *openBlock) item(start int) {
	if len(o.cuts) > 0 && start-o.last() >= pieceItemBytes {
		o.cut(start, "")
	} else if len(o.cuts) > 0 && start == o.last() {
		o.cuts[len(o.cuts)-1].head = ""
	}
}

// chop splits inside a line of code that ends at end so far.
func (o *openBlock) chop(text string, end int) {
	for len(o.cuts) > 0 && end-o.last() > pieceLineBytes {
		at := o.last() + pieceLineBytes
		for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(text[at]); back++ {
			at--
		}
		o.cut(at, o.head)
	}
}

func (o *openBlock) cut(at int, head string) {
	o.cuts = append(o.cuts, cut{at, head})
	o.lines = 0
}

func (p *pieces) last() int { return p.cuts[len(p.cuts)-1].start }

// split: the block is shown in pieces.
func (p *pieces) split() bool { return len(p.cuts) > 1 }

// show is the pieces of the block, which ends at end so far.
func (p *pieces) show(text string, end int) Vec[*Piece] {
	for ; p.made < len(p.cuts)-1; p.made++ {
		at := p.cuts[p.made]
		p.put(&Piece{N: p.made, Closed: true, Head: at.head, Text: text[at.start:p.cuts[p.made+1].start]})
	}
	if at := p.cuts[p.made]; at.start < end {
		p.put(&Piece{N: p.made, Head: at.head, Text: text[at.start:end]})
	}
	return p.shown
}

func (p *pieces) put(piece *Piece) {
	if piece.N == p.shown.Len() {
		p.shown = p.shown.Append(piece)
	} else if *p.shown.At(piece.N) != *piece {
		p.shown = p.shown.Set(piece.N, piece)
	}
}
