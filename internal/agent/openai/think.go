package openai

import (
	"bytes"
	"strings"
)

// thinkFilter takes <think> blocks out of an answer's text, however the text is
// cut. A block where the answer begins streams as reasoning at once. Further on
// only a whole block outside code counts; a tag that is never closed there is
// text, so that an answer about such tags loses nothing. White space around a
// block where the answer begins belongs to the block. The zero value is ready.
type thinkFilter struct {
	place place
	tag   []byte // what may become a tag, from its <
	lead  []byte // white space at the begin of the answer, not told yet
	trim  bool   // a block ended there: lead is dropped
	block []byte // an unfinished block in the middle, with its opening tag
	inner int    // where the text of block begins
	begun bool   // the streaming block has text
	code  codeTracker
	out   []piece
}

// piece is a stretch of text of one sort.
type piece struct {
	reasoning bool
	text      []byte
}

// place is where in the answer the filter stands.
type place int

const (
	atStart  place = iota // no text of the answer came yet
	inAnswer              // text came
	inLead                // inside a block where the answer begins
	inMiddle              // inside a block further on, held back
)

// add takes text and returns what is certain now.
func (t *thinkFilter) add(text string) []piece {
	for i := range len(text) {
		t.next(text[i])
	}
	return t.take()
}

// flush returns what was held back at the end of the answer.
func (t *thinkFilter) flush() []piece {
	t.literal(t.takeTag())
	if t.place == inMiddle {
		t.tell(false, t.block)
		t.block = nil
	}
	if t.place == atStart && !t.trim {
		t.tell(false, t.lead)
	}
	t.lead = nil
	return t.take()
}

func (t *thinkFilter) take() []piece {
	out := t.out
	t.out = nil
	return out
}

func (t *thinkFilter) takeTag() []byte {
	tag := t.tag
	t.tag = nil
	return tag
}

func (t *thinkFilter) next(b byte) {
	if len(t.tag) == 0 {
		if b == '<' && (t.place != inAnswer || t.code.prose(b)) {
			t.tag = []byte{'<'}
			return
		}
		t.literal([]byte{b})
		return
	}
	t.tag = append(t.tag, b)
	switch readTag(string(t.tag)) {
	case partOfTag:
	case openTag:
		t.open(t.takeTag())
	case closeTag:
		t.close(t.takeTag())
	default:
		tag := t.takeTag()
		t.literal(tag[:len(tag)-1])
		t.next(b)
	}
}

func (t *thinkFilter) open(tag []byte) {
	switch t.place {
	case atStart:
		t.place, t.lead, t.begun = inLead, nil, false
	case inAnswer:
		t.place, t.block, t.inner = inMiddle, tag, len(tag)
	default:
		t.literal(tag)
	}
}

func (t *thinkFilter) close(tag []byte) {
	switch t.place {
	case inLead, atStart: // at the start: the opening tag stood in the prompt
		t.place, t.lead, t.trim = atStart, nil, true
	case inMiddle:
		t.tell(true, bytes.TrimSpace(t.block[t.inner:]))
		t.place, t.block = inAnswer, nil
	default:
		t.literal(tag)
	}
}

// literal is text that is no tag.
func (t *thinkFilter) literal(text []byte) {
	for i, b := range text {
		one := text[i : i+1]
		space := b == ' ' || b == '\t' || b == '\r' || b == '\n'
		switch {
		case t.place == atStart && space:
			t.lead = append(t.lead, b)
		case t.place == atStart:
			if !t.trim {
				t.answer(t.lead)
			}
			t.place, t.lead = inAnswer, nil
			t.answer(one)
		case t.place == inAnswer:
			t.answer(one)
		case t.place == inMiddle:
			t.block = append(t.block, b)
		case t.begun || !space:
			t.begun = true
			t.tell(true, one)
		}
	}
}

func (t *thinkFilter) answer(text []byte) {
	for _, b := range text {
		t.code.next(b)
	}
	t.tell(false, text)
}

func (t *thinkFilter) tell(reasoning bool, text []byte) {
	if len(text) == 0 {
		return
	}
	if n := len(t.out); n == 0 || t.out[n-1].reasoning != reasoning {
		t.out = append(t.out, piece{reasoning: reasoning})
	}
	last := &t.out[len(t.out)-1]
	last.text = append(last.text, text...)
}

// tagKind says what a text that begins with < is.
type tagKind int

const (
	noTag tagKind = iota
	partOfTag
	openTag
	closeTag
)

// longestTag bounds what is held back for a tag, in bytes.
const longestTag = 24

// readTag knows <think> and <thinking> in any case, with spaces, and their
// closing tags.
func readTag(text string) tagKind {
	if len(text) > longestTag {
		return noTag
	}
	rest := strings.TrimLeft(strings.ToLower(text[1:]), " ")
	rest, closing := strings.CutPrefix(rest, "/")
	rest = strings.TrimLeft(rest, " ")
	name := strings.TrimRight(rest, " >")
	const whole = "thinking"
	if !strings.HasPrefix(whole, name) {
		return noTag
	}
	after := rest[len(name):]
	if after == "" {
		return partOfTag
	}
	if name != "think" && name != whole || strings.Contains(strings.TrimRight(after, ">"), ">") {
		return noTag
	}
	switch {
	case !strings.HasSuffix(after, ">"):
		return partOfTag
	case closing:
		return closeTag
	}
	return openTag
}

// codeTracker knows whether markdown stands in code, by its bytes.
type codeTracker struct {
	dirty  bool // the line has more than blanks
	run    int  // length of the run of marks that just grew
	mark   byte // its mark, ` or ~
	atLine bool // the run began its line
	fence  byte // the open fence's mark, 0 for none
	length int  // the open fence's length
	span   int  // the open code span's length, 0 for none
}

// prose: the next byte, which is no mark, stands outside code.
func (c *codeTracker) prose(next byte) bool {
	c.endRun(next)
	return c.fence == 0 && c.span == 0
}

func (c *codeTracker) next(b byte) {
	c.endRun(b)
	switch b {
	case '`', '~':
		if c.run == 0 {
			c.mark, c.atLine = b, !c.dirty
		}
		c.run++
		c.dirty = true
	case '\n', '\r':
		c.dirty, c.span = false, 0
	case ' ', '\t':
	default:
		c.dirty = true
	}
}

// endRun closes a run of marks that next does not go on with.
func (c *codeTracker) endRun(next byte) {
	if c.run == 0 || next == c.mark {
		return
	}
	n := c.run
	c.run = 0
	switch {
	case c.fence != 0:
		if c.atLine && c.mark == c.fence && n >= c.length {
			c.fence = 0
		}
	case c.atLine && n >= 3:
		c.fence, c.length = c.mark, n
	case c.mark == '`' && c.span == 0:
		c.span = n
	case c.mark == '`' && c.span == n:
		c.span = 0
	}
}
