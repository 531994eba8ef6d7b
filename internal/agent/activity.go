package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// activityCap bounds an activity line, in characters.
const activityCap = 160

// activity is one activity line as an entry.
func activity(phase part.Phase, summary string) *part.Entry {
	data, _ := json.Marshal(part.ActivityData{Phase: phase, Summary: oneLine(summary, activityCap)})
	return &part.Entry{Type: part.DataActivity, Data: data}
}

// planLine says what an accepted planner call came to.
func planLine(before, after planning.State) string {
	done, active := 0, ""
	for _, s := range after.Plan.Stages {
		if s.Status.IsDone() {
			done++
		}
		if active == "" && s.Status.IsActive() {
			active = s.Content
		}
	}
	total := len(after.Plan.Stages)
	line := fmt.Sprintf("%d/%d done", done, total)
	switch {
	case total == 0:
		line = "plan cleared"
	case !before.HasPlan || before.Carried:
		line = fmt.Sprintf("planned %d stages", total)
	case after.Plan.Revision == before.Plan.Revision:
		line += ", unchanged"
	}
	if active != "" {
		line += " - " + active
	}
	return line
}

// actLine says what a tool call is about to do.
func actLine(tool string, input json.RawMessage) string {
	if s := subject(input); s != "" {
		return tool + " " + s
	}
	return tool
}

// subjectKeys are the input fields that say most about a call, best first.
var subjectKeys = []string{"path", "command", "query", "url", "goal", "question", "name", "source"}

// subject is what a call is about: one of its input's string fields.
func subject(input json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, key := range subjectKeys {
		if s, ok := fields[key].(string); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// obsLine says what a tool call came to.
func obsLine(tool, summary string) string {
	if summary == "" {
		summary = "done"
	}
	return tool + ": " + summary
}

// reflectLine is the first sentence of a step's own text; reasoning never
// comes here.
func reflectLine(text string) string {
	text = strings.TrimLeft(text, " \t\r\n#>*_-`")
	for i, c := range text {
		if c == '\n' {
			return oneLine(text[:i], activityCap)
		}
		if !strings.ContainsRune(".!?。！？؟", c) {
			continue
		}
		rest := text[i+utf8.RuneLen(c):]
		next, _ := utf8.DecodeRuneInString(rest)
		if rest == "" || unicode.IsSpace(next) || c > unicode.MaxLatin1 {
			return oneLine(text[:len(text)-len(rest)], activityCap)
		}
	}
	return oneLine(text, activityCap)
}

// oneLine squeezes white space and control characters and cuts after limit
// characters, the last of which is then an ellipsis.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	n := 0
	for i := range text {
		if n == limit-1 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
		n++
	}
	return text
}
