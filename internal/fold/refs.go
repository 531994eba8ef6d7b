package fold

import "strings"

// definitions are the link reference definitions of a text so far; the first
// of a label wins. Immutable; nil is none.
type definitions struct{ list []definition }

type definition struct {
	label  string // folded
	source string
	at     int // where its paragraph begins
}

// with adds the definitions at the head of a paragraph.
func (d *definitions) with(text string, at int) *definitions {
	for {
		label, n := definitionOf(text)
		if n == 0 {
			return d
		}
		if !d.has(label) {
			list := append([]definition(nil), d.all()...)
			d = &definitions{append(list, definition{label, strings.TrimSpace(text[:n]), at})}
		}
		text = text[n:]
	}
}

func (d *definitions) all() []definition {
	if d == nil {
		return nil
	}
	return d.list
}

func (d *definitions) has(label string) bool {
	for _, def := range d.all() {
		if def.label == label {
			return true
		}
	}
	return false
}

// usedBy is the source of the definitions from elsewhere that a block which
// begins at offset start may use, "" for none. It may name one too many: a
// definition shows nothing.
func (d *definitions) usedBy(text string, start int, kind BlockKind) string {
	if d == nil || kind == BlockCode || kind == BlockHTML || kind == BlockRule || !strings.Contains(text, "[") {
		return ""
	}
	used := map[string]bool{}
	everything := false
	open := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			open = i + 1
		case ']':
			if open >= 0 {
				label := text[open:i]
				used[foldLabel(label)] = true
				everything = everything || strings.Contains(label, "\n")
			}
			open = -1
		}
	}
	var sources []string
	for _, def := range d.list {
		if own := def.at >= start && def.at < start+len(text); !own && (everything || used[def.label]) {
			sources = append(sources, def.source)
		}
	}
	return strings.Join(sources, "\n")
}

func foldLabel(label string) string {
	label = strings.ToLower(strings.Join(strings.Fields(label), " "))
	return strings.ReplaceAll(label, "ß", "ss")
}

// restOf is what a paragraph holds behind its definitions.
func restOf(text string) string {
	for {
		_, n := definitionOf(text)
		if n == 0 {
			return strings.TrimSpace(text)
		}
		text = text[n:]
	}
}

// definitionOf reads a link reference definition at the head of text: its
// label and its length with the newline, 0 where there is none.
func definitionOf(text string) (label string, n int) {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '[' {
		return "", 0
	}
	end := closing(text, i+1, ']', '[')
	if end < 0 || blank(text[i+1:end]) || end-i > 1000 || end+1 == len(text) || text[end+1] != ':' {
		return "", 0
	}
	label = foldLabel(text[i+1 : end])
	i = destination(text, skipSpace(text, end+2))
	if i < 0 {
		return "", 0
	}
	line := lineEnd(text, i)
	bare := blank(text[i:line]) // the definition may end here, without a title
	title := skipSpace(text, i)
	if title > i && title < len(text) {
		if close := titleEnd(text, title); close > 0 {
			if end := lineEnd(text, close); blank(text[close:end]) {
				return label, end
			}
		}
	}
	if !bare {
		return "", 0
	}
	return label, line
}

func skipSpace(text string, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

// lineEnd is the offset behind the newline of the line that holds i.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// closing is the offset of the first unescaped end from i on; -1 where none
// comes, or a bad one first.
func closing(text string, i int, end, bad byte) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case end:
			return i
		case bad:
			return -1
		}
	}
	return -1
}

// destination is the offset behind the link destination at i, -1 for none.
func destination(text string, i int) int {
	if i >= len(text) {
		return -1
	}
	if text[i] == '<' {
		end := closing(text, i+1, '>', '<')
		if end < 0 || strings.Contains(text[i:end], "\n") {
			return -1
		}
		return end + 1
	}
	start, depth := i, 0
	for ; i < len(text) && !isSpace(text[i]); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && !isSpace(text[i+1]):
			i++
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		}
		if depth < 0 {
			return -1
		}
	}
	if i == start {
		return -1
	}
	return i
}

// titleEnd is the offset behind the title at i, -1 for none.
func titleEnd(text string, i int) int {
	end, bad := text[i], byte(0)
	switch end {
	case '"', '\'':
	case '(':
		end, bad = ')', '('
	default:
		return -1
	}
	if at := closing(text, i+1, end, bad); at >= 0 {
		return at + 1
	}
	return -1
}
