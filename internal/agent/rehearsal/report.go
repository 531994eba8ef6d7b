package rehearsal

import (
	"fmt"
	"strings"
)

// signature stands in every report, so that a later run knows one of its own.
const signature = "Written by the rehearsal model"

const (
	shownTodos = 50
	shownTexts = 40
	shownKinds = 30
	todoBytes  = 160
)

func (p *script) sum() summary { return p.facts.sum(p.report) }

// reportText is the report: numbers that follow from the results, and nothing else.
func (p *script) reportText() string {
	s := p.sum()
	var b strings.Builder
	fmt.Fprintf(&b, "# Report: %s\n\n", p.brief.topic)
	fmt.Fprintf(&b, "%s, a script that reads real files and counts. This report itself is not counted.\n\n", signature)
	b.WriteString("## Numbers\n\n" + p.numberTable(s) + "\n")
	b.WriteString("## Files by kind\n\n| Kind | Files | Lines |\n|---|---:|---:|\n")
	for _, k := range s.kinds[:min(len(s.kinds), shownKinds)] {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", cell(k.name), k.files, k.lines)
	}
	b.WriteString("\n## Lines with TODO\n\n" + todoList(s.todos, shownTodos) + "\n")
	b.WriteString("## Lines of each file\n\n" + bars(s.texts, shownTexts))
	for _, name := range s.failed {
		fmt.Fprintf(&b, "\n%s could not be read.\n", code(name))
	}
	return b.String()
}

func (p *script) numberTable(s summary) string {
	var b strings.Builder
	row := func(what string, value string) { fmt.Fprintf(&b, "| %s | %s |\n", what, value) }
	b.WriteString("| What | Number |\n|---|---:|\n")
	files := fmt.Sprint(s.files)
	if p.facts.partial {
		files = "at least " + files
	}
	row("Files", files)
	row("Files read as text", fmt.Sprint(s.read))
	if s.binary > 0 {
		row("Binary files", fmt.Sprint(s.binary))
	}
	if s.unread > 0 {
		row("Files not looked into", fmt.Sprint(s.unread))
	}
	row("Total lines", fmt.Sprint(s.lines))
	if s.longest.path != "" {
		row("Longest file", fmt.Sprintf("%s (%s)", cell(code(s.longest.path)), plural(s.longest.lines, "line")))
	}
	row("Open TODO lines", s.todos.number())
	if p.facts.words.done {
		row("Lines with "+cell(quoted(p.brief.word)), s.words.number())
	}
	return b.String()
}

func todoList(found hits, most int) string {
	switch {
	case found.err != "":
		return "The search failed: " + oneLine(found.err) + "\n"
	case !found.done:
		return "Not searched.\n"
	case len(found.lines) == 0:
		return "None.\n"
	}
	var b strings.Builder
	for _, l := range found.lines[:min(len(found.lines), most)] {
		fmt.Fprintf(&b, "- %s %s\n", code(fmt.Sprintf("%s:%d", l.path, l.line)), code(cut(l.text, todoBytes)))
	}
	if more := len(found.lines) - most; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// bars draws the lines of each file in a code block.
func bars(texts []counted, most int) string {
	if len(texts) == 0 {
		return "No text was read.\n"
	}
	var b strings.Builder
	for _, t := range texts[:min(len(texts), most)] {
		width := 0
		if texts[0].lines > 0 {
			width = t.lines * 30 / texts[0].lines
		}
		fmt.Fprintf(&b, "%6d %-30s %s\n", t.lines, strings.Repeat("#", width), oneLine(t.path))
	}
	fence := fenceFor(b.String())
	out := fence + "text\n" + b.String() + fence + "\n"
	if more := len(texts) - most; more > 0 {
		out += "\n" + plural(more, "file") + " more.\n"
	}
	return out
}

// number is how many lines were found, as far as it is known.
func (h hits) number() string {
	switch {
	case h.err != "" || !h.done:
		return "not known"
	case h.partial:
		return fmt.Sprintf("at least %d", len(h.lines))
	}
	return fmt.Sprint(len(h.lines))
}

// code is text as inline code, whatever backticks it holds.
func code(text string) string {
	text = oneLine(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := fenceFor(text)
	return fence + " " + text + " " + fence
}

// fenceFor is a row of backticks that does not stand in text, three at least
// for a block of lines.
func fenceFor(text string) string {
	fence := "``"
	if strings.Contains(text, "\n") {
		fence = "```"
	}
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func quoted(word string) string { return "'" + word + "'" }

// cut is the start of text, about n bytes of it.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
