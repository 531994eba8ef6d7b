package fold

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"stagefold/internal/part"
)

const (
	activityRunes = 80 // at most, of the line of live activity
	activityBack  = 16 // parts looked back for a tool that still runs
)

// activityOf is the line of live activity of a row: the running tool with its
// subject, else the last words of its newest text.
func activityOf(cells []*cell) string {
	words := ""
	for i := len(cells) - 1; i >= 0 && i >= len(cells)-activityBack; i-- {
		switch c := cells[i]; c.p.Kind {
		case part.KindTool:
			if !c.p.Terminal() {
				return c.toolLine()
			}
		case part.KindText, part.KindReasoning:
			if words == "" {
				words = lastWords(c.wholeText())
			}
		}
	}
	return words
}

func (c *cell) wholeText() string {
	if c.open() {
		return c.whole
	}
	return c.p.text
}

// toolLine is a tool's name with the subject of its input.
func (c *cell) toolLine() string {
	t := c.p.Tool
	if len(t.Input) == 0 {
		return bounded(t.Name)
	}
	if c.subject == "" {
		c.subject = bounded(t.Name + " " + subjectOf(t.Input))
	}
	return c.subject
}

// subjectOf is what a tool's input is about.
func subjectOf(input json.RawMessage) string {
	var in struct{ Path, Command, Query, URL, Goal, Question string }
	_ = json.Unmarshal(input, &in) // an input of another form has no subject
	for _, s := range []string{in.Path, in.Command, in.Query, in.URL, in.Goal, in.Question} {
		if s != "" {
			return s
		}
	}
	return ""
}

// bounded is s on one line of at most activityRunes characters.
func bounded(s string) string {
	if len(s) > 8*activityRunes {
		s = s[:8*activityRunes]
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= activityRunes {
		return s
	}
	return string([]rune(s)[:activityRunes-1]) + "…"
}

// lastWords is the end of the last line of a text that is not blank, at most
// activityRunes characters from the beginning of a word on.
func lastWords(text string) string {
	if from := len(text) - 4*activityRunes*utf8.UTFMax; from > 0 {
		text = text[from:]
	}
	text = strings.TrimRight(text, " \t\r\n")
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	text = strings.TrimLeft(text, " \t\r")
	at, n := len(text), 0
	for at > 0 && n < activityRunes {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
		n++
	}
	if at == 0 {
		return text
	}
	if i := strings.IndexByte(text[at:], ' '); i >= 0 && text[at-1] != ' ' {
		at += i + 1
	}
	return strings.TrimLeft(text[at:], " ")
}
