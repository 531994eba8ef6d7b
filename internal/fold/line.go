package fold

import "strings"

// cursor walks through one line in columns, with tab stops of four.
type cursor struct {
	line string
	pos  int // byte offset of the next character
	col  int // its column
	part int // columns of a tab at pos that are used up already
}

// indent is the width in columns of the white space ahead, and the offset of
// what follows it.
func (c *cursor) indent() (width, next int) {
	col := c.col
	for next = c.pos; next < len(c.line); next++ {
		switch c.line[next] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col, next
		}
	}
	return col - c.col, next
}

// skip goes over up to n columns of white space.
func (c *cursor) skip(n int) {
	for n > 0 && c.pos < len(c.line) {
		switch c.line[c.pos] {
		case ' ':
			c.pos++
			c.col++
			n--
		case '\t':
			rest := 4 - c.col%4
			if rest > n {
				c.col += n
				c.part += n
				return
			}
			c.col += rest
			c.part = 0
			c.pos++
			n -= rest
		default:
			return
		}
	}
}

// to goes to byte offset next, over white space or one-column characters.
func (c *cursor) to(next int) {
	for c.pos < next {
		if c.line[c.pos] == '\t' {
			c.col += 4 - c.col%4
		} else {
			c.col++
		}
		c.part = 0
		c.pos++
	}
}

// rest is what follows, a tab that is partly used up as its remaining spaces.
func (c *cursor) rest() string {
	if c.part > 0 && c.pos < len(c.line) {
		return strings.Repeat(" ", 4-c.col%4) + c.line[c.pos+1:]
	}
	return c.line[c.pos:]
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'
}

func blank(s string) bool {
	for i := range len(s) {
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}

// isRule: a thematic break, from its first mark on.
func isRule(s string) bool {
	mark, n := s[0], 0
	if mark != '*' && mark != '-' && mark != '_' {
		return false
	}
	for i := range len(s) {
		switch {
		case s[i] == mark:
			n++
		case !isSpace(s[i]):
			return false
		}
	}
	return n >= 3
}

// isUnderline: a setext heading's underline, from its first mark on.
func isUnderline(s string) bool {
	if s[0] != '=' && s[0] != '-' {
		return false
	}
	return blank(strings.TrimLeft(s, s[:1]))
}

// isHeading: an ATX heading, from its first # on.
func isHeading(s string) bool {
	rest := strings.TrimLeft(s, "#")
	n := len(s) - len(rest)
	return n >= 1 && n <= 6 && (rest == "" || isSpace(rest[0]))
}

// fenceOf reads the opening line of fenced code, from its first mark on.
func fenceOf(s string) (mark byte, n int, info string, ok bool) {
	mark = s[0]
	if mark != '`' && mark != '~' {
		return 0, 0, "", false
	}
	rest := strings.TrimLeft(s, s[:1])
	n = len(s) - len(rest)
	info = strings.TrimSpace(rest)
	if n < 3 || mark == '`' && strings.Contains(info, "`") {
		return 0, 0, "", false
	}
	return mark, n, info, true
}

func isFence(s string) bool {
	_, _, _, ok := fenceOf(s)
	return ok
}

// itemOf reads a list item's marker, from its first character on: its length,
// its kind (one of -+*.) and its number.
func itemOf(s string) (n int, kind byte, number string, ok bool) {
	switch s[0] {
	case '-', '+', '*':
		n, kind = 1, s[0]
	default:
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n > 9 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0, 0, "", false
		}
		number, kind = s[:n], s[n]
		n++
	}
	return n, kind, number, n == len(s) || s[n] == ' ' || s[n] == '\t'
}

// settled: whatever follows on the line, its place among the top-level blocks
// is known from what is there already.
func settled(line string) bool {
	c := cursor{line: line}
	width, next := c.indent()
	if next == len(line) {
		return false
	}
	s := line[next:]
	if width > 3 {
		return true
	}
	switch s[0] {
	case '#':
		return strings.TrimLeft(s, "#") != ""
	case '-', ':', '|':
		return strings.Trim(s, "-:| \t\r") != ""
	case '*', '+', '_', '=':
		return strings.Trim(s, s[:1]+" \t\r") != ""
	case '`':
		rest := strings.TrimLeft(s, "`")
		return rest != "" && len(s)-len(rest) < 3
	case '~':
		return strings.TrimLeft(s, "~") != ""
	case '<', '\r', '\v', '\f':
		return false
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		rest := s[n:]
		if n > 9 || rest != "" && rest[0] != '.' && rest[0] != ')' {
			return true
		}
		return rest != "" && !blank(rest[1:])
	}
	return true
}
