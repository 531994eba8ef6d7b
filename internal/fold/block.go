package fold

import "strings"

// BlockKind is the kind of a markdown block.
type BlockKind string

const (
	BlockParagraph BlockKind = "paragraph"
	BlockHeading   BlockKind = "heading"
	BlockCode      BlockKind = "code"
	BlockList      BlockKind = "list"
	BlockTable     BlockKind = "table"
	BlockQuote     BlockKind = "quote"
	BlockHTML      BlockKind = "html"
	BlockRule      BlockKind = "rule"
	BlockOther     BlockKind = "other" // nothing but link reference definitions
)

// Block is one top-level markdown block of a text. Only the last block of a
// streaming part is open; a closed block never changes, except that the end of
// its part may bring it definitions (Refs).
type Block struct {
	N      int // position in the part, from 0
	Kind   BlockKind
	Closed bool
	Info   string // code: the fence's info string
	Text   string // the block's markdown, without blank lines around it; empty while Pieces holds it
	// Refs are the link reference definitions from elsewhere in the text that
	// the block may use; they stand in front of Text to render it.
	Refs string
	// Pieces splits a long open block, so that a delta costs the last piece
	// only. Empty for short and for closed blocks.
	Pieces Vec[*Piece]

	text  string // the block's markdown, however it is shown
	start int    // its offset in the part's text
}

// Source is the markdown to render the block from: its definitions and its text.
func (b *Block) Source() string {
	if b.Refs == "" {
		return b.source()
	}
	return b.Refs + "\n\n" + b.source()
}

func (b *Block) source() string {
	switch {
	case b.text != "":
		return b.text
	case b.Text != "":
		return b.Text
	}
	var text strings.Builder
	for _, p := range b.Pieces.All() {
		text.WriteString(p.Text)
	}
	return text.String()
}

// same: both show the same.
func (b *Block) same(c *Block) bool {
	return b.N == c.N && b.Kind == c.Kind && b.Closed == c.Closed && b.Info == c.Info &&
		b.Text == c.Text && b.Refs == c.Refs && b.text == c.text && b.Pieces.same(c.Pieces)
}

// Piece is a part of a long open block: some lines of code (without the fence),
// some items, some rows. The Texts of a block's pieces joined are the block.
// Closed pieces never change.
type Piece struct {
	N      int // position in the block, from 0
	Closed bool
	Head   string // what stands in front of Text to render the piece alone: the fence line, the table's head, the item's mark
	Text   string
}

// Source is the markdown to render the piece from, alone.
func (p *Piece) Source() string { return p.Head + p.Text }
