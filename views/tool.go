package views

import (
	"bytes"
	"encoding/json"
	"strings"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// Bounds of a tool's text in the page; the whole output has its own address.
const (
	headLines = 200
	tailLines = 300
	textBytes = 32 << 10
	// lineBytes is what stands on a line of its own; longer is a block.
	lineBytes = 100
	// shownFields bounds the fields of an input or output that a card shows.
	shownFields = 12
)

// field is one named value of a tool's input or output.
type field struct {
	Name string
	Text string
	Long bool // stands as a block of its own
}

// excerpt is a long text bounded to head and tail.
type excerpt struct {
	Head, Tail string
	Left       string // what was left out between them, in words; "" for nothing
	Binary     string // for what is not text: its size in words
}

// toolName is the tool's name as people say it; MCP tools as 'server: tool'.
func toolName(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, tool, _ := strings.Cut(rest, "__")
		return Line(server) + ": " + Line(tool)
	}
	if word, ok := toolVerbs[name]; ok {
		return word
	}
	return Line(name)
}

var toolVerbs = map[string]string{
	"list_files": "List", "read_file": "Read", "search_files": "Search", "write_file": "Write", "edit_file": "Edit",
	"run_command": "Run", "fetch_url": "Fetch", "ask_user": "Ask", "delegate": "Delegate", "run_script": "Script",
	"complete": "Complete", "plan": "Plan", "advance": "Advance", "write_todos": "Plan", "update_plan": "Plan",
}

// subjectNames are the input fields that say what a call is about, best first.
var subjectNames = []string{"command", "path", "query", "url", "question", "goal", "file", "name", "pattern", "summary", "evidence", "source", "title", "text"}

// subject is what a call is about, in one line; it is there as soon as the
// field has arrived whole.
func subject(t *part.Tool) string {
	fields := inputFields(t)
	for _, name := range subjectNames {
		for _, f := range fields {
			if f.Name == name && f.Text != "" {
				return short(Line(f.Text), 160)
			}
		}
	}
	for _, f := range fields {
		if !f.Long && f.Text != "" {
			return short(Line(f.Text), 160)
		}
	}
	return ""
}

// inputFields are the complete fields of a call's input, also of one that still
// streams.
func inputFields(t *part.Tool) []field {
	if len(t.Input) > 0 {
		return fieldsOf(t.Input)
	}
	return fieldsOf([]byte(t.InputText))
}

// fieldsOf reads the top-level fields of a JSON object in their order, as far
// as they are complete; nil where it is no object.
func fieldsOf(object []byte) []field {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []field
	for d.More() && len(out) < shownFields {
		name, err := d.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		text := valueText(value)
		out = append(out, field{Name: name.(string), Text: text, Long: strings.Contains(text, "\n") || len(text) > lineBytes})
	}
	return out
}

// valueText is a JSON value as text: a string as it is, everything else on one
// line where it is short, else indented.
func valueText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	}
	if len(raw) > textBytes*4 {
		return string(raw)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil && b.Len() <= lineBytes {
		return b.String()
	}
	b.Reset()
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// inputShown are the fields that a card shows; rest is input that is not JSON.
func inputShown(t *part.Tool) (fields []field, rest string) {
	if fields = inputFields(t); len(fields) > 0 {
		return fields, ""
	}
	switch {
	case t.RawInput != "":
		return nil, t.RawInput
	case t.InputText != "":
		return nil, t.InputText
	case len(t.Input) > 0 && string(t.Input) != "{}":
		return nil, valueText(t.Input)
	}
	return nil, ""
}

// outputShown are the fields of an object output, or the whole as one text.
func outputShown(t *part.Tool) (fields []field, rest string) {
	if len(t.Output) == 0 || string(t.Output) == "null" {
		return nil, ""
	}
	if fields = fieldsOf(t.Output); len(fields) > 0 {
		return fields, ""
	}
	return nil, valueText(t.Output)
}

// bounded is a text as the page shows it.
func bounded(text string) excerpt {
	if strings.Count(text, "\x00") > 0 || strings.Count(text, "\uFFFD")*10 > len(text) && text != "" {
		return excerpt{Binary: "Binary data, " + bytesOf(len(text))}
	}
	text = strings.TrimRight(Plain(text), "\n")
	lines := strings.Split(text, "\n")
	if len(lines) <= headLines+tailLines && len(text) <= textBytes {
		return excerpt{Head: text}
	}
	head, tail := lines, []string(nil)
	left := 0
	if len(lines) > headLines+tailLines {
		head, tail = lines[:headLines], lines[len(lines)-tailLines:]
		left = len(lines) - headLines - tailLines
	}
	e := excerpt{Head: strings.Join(head, "\n"), Tail: strings.Join(tail, "\n"), Left: plural(left, "line") + " left out"}
	if len(e.Head)+len(e.Tail) > textBytes {
		whole := len(text)
		e.Head, e.Tail = cutEnd(text, textBytes*2/5), cutStart(text, textBytes*3/5)
		e.Left = bytesOf(whole-len(e.Head)-len(e.Tail)) + " left out"
	}
	return e
}

// cutEnd and cutStart keep at most n bytes of a text, whole characters only.
func cutEnd(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

func cutStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// digest is a finished call's result in a few words for the card's line.
func digest(p *fold.Part) string {
	if p.State != part.StateOutputAvailable || p.Tool.Preliminary {
		return ""
	}
	for _, f := range fieldsOf(p.Tool.Output) {
		switch f.Name {
		case "exitCode", "exit_code", "exit":
			if f.Text != "0" {
				return "exit " + short(Line(f.Text), 12)
			}
		case "refused":
			if f.Text == "true" {
				return "refused"
			}
		}
	}
	return ""
}
