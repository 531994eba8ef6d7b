package views

import (
	"encoding/json"
	"strings"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// lives: the run is there and not over.
func lives(run *RunView) bool { return run != nil && run.live() }

// waits: the run waits for the reader.
func waits(run *RunView) bool {
	return lives(run) && (run.Snap.State == part.Waits || len(run.Snap.Waiting) > 0)
}

// besides stands beside 'Working', never instead of it.
func besides(c ChatState, run *RunView) string {
	switch {
	case c.Stopping:
		return "stopping"
	case waits(run):
		return "waits for you"
	case run.Snap.State == part.Queued:
		return "queued"
	}
	switch newest(run.Snap) {
	case "retry":
		return "retrying"
	case "compact":
		return "compacting the history"
	}
	return ""
}

// newest is the kind of the notice that is the last part of the run so far.
func newest(s *fold.Snapshot) string {
	last, ok := s.Lead.Last()
	for _, r := range s.Rows.All() {
		if r.Live {
			if p, in := r.Parts.Last(); in {
				last, ok = p, true
			}
		}
	}
	if !ok || last.DataType != part.DataNotice {
		return ""
	}
	var d part.NoticeData
	if json.Unmarshal(last.Data, &d) != nil {
		return ""
	}
	return d.Kind
}

// background names what works besides the model: '2 child runs, 1 command'.
func background(s *fold.Snapshot) string {
	children, commands := 0, 0
	countChildren := func(list []*fold.Child) {
		for _, c := range list {
			if !c.State.Terminal() {
				children++
			}
		}
	}
	countChildren(s.Unattached)
	for _, r := range s.Rows.All() {
		countChildren(r.Children)
		if r.Live {
			commands += running(r.Parts)
		}
	}
	commands += running(s.Lead)
	var words []string
	if children > 0 {
		words = append(words, plural(children, "child run"))
	}
	if commands > 0 {
		words = append(words, plural(commands, "command"))
	}
	return strings.Join(words, ", ")
}

// running counts the commands among the newest parts that have no output yet;
// older ones have, since a step waits for its commands.
func running(parts fold.Vec[*fold.Part]) int {
	n := 0
	for _, p := range parts.From(parts.Len() - 20) {
		if p.Tool != nil && p.Tool.Name == "run_command" && p.State == part.StateInputAvailable {
			n++
		}
	}
	return n
}

// planWords is '2/5 - Implement status composition' while the plan is open.
func planWords(run *RunView) string {
	if !run.planOpen() {
		return ""
	}
	r := run.current()
	return ofTotal(r.Index, r.Total) + " - " + short(Line(r.Content), 80)
}

// waitingTool is what an approval is asked for, as a tool of its own.
func waitingTool(w part.Waiting) *part.Tool {
	return &part.Tool{CallID: w.ToolCallID, Name: w.Tool, Input: w.Input}
}

// answersWith: a question with prepared answers.
func answersWith(w part.Waiting) bool { return w.Kind == "question" && len(w.Options) > 0 }

func askLabel(w part.Waiting) string {
	if w.Kind != "approval" {
		return "The agent asks"
	}
	switch w.Tool {
	case "run_command":
		return "Run this command?"
	case "write_file":
		return "Write this file?"
	case "edit_file":
		return "Change this file?"
	case "fetch_url":
		return "Fetch this address?"
	}
	return "Allow " + toolName(w.Tool) + "?"
}

func askSubject(w part.Waiting) string {
	if s := subject(waitingTool(w)); s != "" {
		return s
	}
	return Line(w.Tool)
}

// statusState is the newest run's state for the tab's title; "" without a run.
func statusState(run *RunView) string {
	switch {
	case run == nil:
		return ""
	case waits(run):
		return string(part.Waits)
	}
	return string(run.Snap.State)
}
