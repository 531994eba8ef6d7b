package fold

type leafKind int

const (
	leafNone leafKind = iota
	leafParagraph
	leafFence
	leafIndented
	leafHTML
)

// leaf is an open block that holds lines.
type leaf struct {
	kind  leafKind
	mark  byte // fence
	n     int  // fence: its length; paragraph: its lines
	html  htmlKind
	table tableState
	at    int    // paragraph: where its first line begins
	above string // paragraph: the line before, and
	raw   string // the same with what stands in front of it
	text  string // paragraph: its lines so far where it begins with [, else empty
}

type tableState int

const (
	tableOpen tableState = iota // a delimiter row may come
	tableNone
	tableYes
)

// add adds a line to the paragraph.
func (l *leaf) add(line, raw string) {
	if l.n == 0 && line[0] == '[' {
		l.text = line
	} else if l.text != "" {
		l.text += "\n" + line
	}
	l.n++
	l.above, l.raw = line, raw
}

// paragraphAlone: the line, which goes on a paragraph, would begin one too.
func paragraphAlone(line string) bool {
	var o outline
	o.add(line)
	return len(o.holders) == 0 && o.leaf.kind == leafParagraph && o.leaf.text == ""
}

// headed: an underline makes the paragraph a heading; it does not where only
// definitions stand above it, or a table.
func (l *leaf) headed() bool {
	if l.table == tableYes {
		return false
	}
	return l.text == "" || restOf(l.text) != ""
}

// row: the line is the delimiter row that makes the paragraph a table.
func (l *leaf) row(line string) bool {
	if l.table != tableOpen {
		return false
	}
	columns := delimiters(line)
	if columns == 0 {
		return false
	}
	if cells(l.above) > columns || l.text != "" && restOf(l.text) == "" {
		l.table = tableNone
		return false
	}
	return true
}
