package views

import (
	"strings"
	"unicode/utf8"
)

// Plain is text from outside as a reader should see it; HTML in it is left to
// the templates, which escape everything. Terminal codes (CSI, OSC and the other
// escape sequences) are gone, a line that was rewritten by carriage returns is
// reduced to its last state, a backspace takes the character before it back,
// other control characters but newline and tab are removed and bytes that are
// not UTF-8 become U+FFFD. Plain(Plain(s)) == Plain(s).
func Plain(s string) string {
	if isPlain(s) {
		return s
	}
	p := terminal{out: make([]byte, 0, len(s))}
	for len(s) > 0 {
		if n := escapeLen(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		p.print(r)
		s = s[n:]
	}
	return string(p.out)
}

// Line is Plain on one line: every run of white space is one space.
func Line(s string) string { return strings.Join(strings.Fields(Plain(s)), " ") }

// isPlain: nothing in s needs to change.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0 {
			return false
		}
	}
	return utf8.ValidString(s)
}

// terminal writes runes the way a terminal would, line by line.
type terminal struct {
	out    []byte
	line   int  // where the line begins in out
	rewind bool // a carriage return was seen; the next character rewrites the line
}

func (p *terminal) print(r rune) {
	switch {
	case r == '\n':
		p.rewind = false
		p.out = append(p.out, '\n')
		p.line = len(p.out)
		return
	case r == '\r':
		p.rewind = true
		return
	case r == '\b':
		if len(p.out) > p.line {
			_, n := utf8.DecodeLastRune(p.out)
			p.out = p.out[:len(p.out)-n]
		}
		return
	case r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0):
		return
	}
	if p.rewind {
		p.out, p.rewind = p.out[:p.line], false
	}
	p.out = utf8.AppendRune(p.out, r)
}

const (
	esc = 0x1b
	bel = 0x07
	// longest is a bound for an unterminated string sequence, so that one broken
	// code does not swallow the rest of the text.
	longest = 4096
)

// escapeLen is the length of the escape sequence that s begins with, 0 for none.
func escapeLen(s string) int {
	if strings.HasPrefix(s, "\u009b") {
		return 2 + controlLen(s[2:])
	}
	if s[0] != esc {
		return 0
	}
	if len(s) == 1 {
		return 1
	}
	switch c := s[1]; {
	case c == '[':
		return 2 + controlLen(s[2:])
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return 2 + stringLen(s[2:])
	case c >= 0x20 && c <= 0x2f: // intermediates, then one final byte
		n := 2
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f {
			n++
		}
		if n < len(s) && s[n] >= 0x30 && s[n] < 0x7f {
			n++
		}
		return n
	case c >= 0x30 && c < 0x7f:
		return 2
	}
	return 1
}

// controlLen is the length of a control sequence's parameters and final byte.
func controlLen(s string) int {
	n := 0
	for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
		n++
	}
	if n < len(s) && s[n] >= 0x40 && s[n] < 0x7f {
		n++
	}
	return n
}

// stringLen is the length of a string sequence up to its end: BEL, ST, or where
// none comes the end of the line.
func stringLen(s string) int {
	for i := 0; i < len(s) && i < longest; i++ {
		switch {
		case s[i] == bel:
			return i + 1
		case s[i] == esc && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == esc || s[i] == '\n' || s[i] == '\r':
			return i
		}
	}
	return 0
}
