package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// excerpt is as much of a text as is shown.
type excerpt struct {
	Text  string
	Lines int  // of the whole text
	Cut   bool // lines, or ends of long lines, were left out
}

// excerptOf keeps the head and the tail of text within the limits and says
// between them what was left out. Lines are counted from first; total is the
// number of the last line of the whole, where text is only a part of it.
func (l Limits) excerptOf(text string, first, total int) excerpt {
	lines := splitLines(text)
	out := excerpt{Lines: len(lines)}
	budget := l.Output - 160 // room for the note
	head, size := 0, 0
	for head < len(lines) && size+l.shown(lines[head]) <= budget {
		size += l.shown(lines[head])
		head++
	}
	tail := len(lines)
	if head < len(lines) || len(lines) > l.HeadLines+l.TailLines {
		head = l.fit(lines, min(l.HeadLines, len(lines)), budget*2/5)
		rest := lines[head:]
		keep := l.fitBack(rest, min(l.TailLines, len(rest)), budget*3/5)
		tail = len(lines) - keep
	}
	var b strings.Builder
	for i := 0; i < len(lines); i++ {
		if i == head && head < tail {
			fmt.Fprintf(&b, "[... lines %d-%d of %d left out ...]\n", first+head, first+tail-1, total)
			out.Cut, i = true, tail-1
			continue
		}
		line, cut := l.cutLine(lines[i])
		out.Cut = out.Cut || cut
		b.WriteString(line)
	}
	out.Text = b.String()
	return out
}

// fit says how many of the first n lines have room in size bytes.
func (l Limits) fit(lines []string, n, size int) int {
	for i := range n {
		if size -= l.shown(lines[i]); size < 0 {
			return i
		}
	}
	return n
}

// fitBack says how many of the last n lines have room in size bytes.
func (l Limits) fitBack(lines []string, n, size int) int {
	for i := range n {
		if size -= l.shown(lines[len(lines)-1-i]); size < 0 {
			return i
		}
	}
	return n
}

const lineNote = 40 // room for the note at the end of a cut line

// shown is the most bytes that a line takes in the excerpt.
func (l Limits) shown(line string) int { return min(len(line), l.lineBytes()+lineNote) }

// lineBytes leaves room for a few lines in any output.
func (l Limits) lineBytes() int { return min(l.LineBytes, l.Output/8) }

// cutLine cuts the end of a very long line and says how much is missing.
func (l Limits) cutLine(line string) (string, bool) {
	most := l.lineBytes()
	body := strings.TrimSuffix(line, "\n")
	if len(line) <= most+lineNote {
		return line, false
	}
	kept := prefix(body, most)
	return fmt.Sprintf("%s [... %d bytes more]", kept, len(body)-len(kept)) + line[len(body):], true
}

// prefix is the longest start of s of at most n bytes that ends between characters.
func prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// splitLines cuts after each newline; a last line may go without one.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// sniffed is how much of a file decides whether it is text.
const sniffed = 8 << 10

// isBinary: a NUL, or mostly bytes that are no text.
func isBinary(data []byte) bool {
	data = data[:min(len(data), sniffed)]
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	odd := 0
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != '\x1b' {
			odd++
		}
		rest = rest[size:]
	}
	return odd*10 > len(data)*3
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// readable is data as text to show: valid UTF-8 without NUL and byte order
// mark, lines ended by \n.
func readable(data []byte) string {
	text := string(bytes.TrimPrefix(data, byteOrderMark))
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	return strings.ReplaceAll(text, "\r\n", "\n")
}
