package planning

import (
	"fmt"
	"strings"
)

// Directive is the one-line instruction for the next step, derived from the
// live plan, with every `<` escaped; "" where no stage is open. A carried plan
// is introduced as one.
func Directive(s State) string {
	if s.Complete() {
		return ""
	}
	line := ""
	switch s.Plan.Mode {
	case Classic:
		line = TodoDirective(s.Plan.Stages)
	case Metronome:
		line = stageDirective(s.Plan)
	case Checklist:
		line = checklistDirective(s.Plan.Stages)
	case Steps:
		line = stepsDirective(s.Plan.Stages)
	}
	if s.Carried && line != "" {
		line = carriedLine(s.Plan.Mode) + " " + line
	}
	return EscapeFrame(line)
}

// TodoDirective is the classic planner's directive in its four templates; ""
// for an empty list. N is the position of the active stage, or of the first
// pending one where none is active; the next is the first pending one after it.
func TodoDirective(todos []Stage) string {
	m := len(todos)
	if m == 0 {
		return ""
	}
	active := first(todos, 0, Status.IsActive)
	if active < 0 {
		pending := first(todos, 0, isPending)
		if pending < 0 {
			return "All stages complete. Deliver the final output to the user now."
		}
		return fmt.Sprintf("[Stage %d/%d] No active stage — mark the first pending item as in_progress to begin.", pending+1, m)
	}
	current := oneLine(todos[active].Content)
	next := first(todos, active+1, isPending)
	if next < 0 {
		return fmt.Sprintf("[Stage %d/%d] Execute \"%s\" to completion first (final stage) — only after output is verified, mark done then deliver to user.",
			active+1, m, current)
	}
	return fmt.Sprintf("[Stage %d/%d] Execute \"%s\" to completion first — only after output is verified, call write_todos once to mark \"%s\" done and \"%s\" in_progress.",
		active+1, m, current, current, oneLine(todos[next].Content))
}

// stageDirective is the metronome's.
func stageDirective(p Plan) string {
	n, m := p.at()+1, len(p.Stages)
	if n > m {
		return ""
	}
	stage := p.Stages[p.at()]
	line := fmt.Sprintf("[Stage %d/%d] Work on \"%s\" until its deliverable is there and verified: \"%s\", then call advance once with evidence",
		n, m, oneLine(stage.Content), oneLine(stage.Deliverable))
	if n == m {
		return line + " (final stage), then deliver and call complete."
	}
	return line + "."
}

// checklistDirective is the checklist's.
func checklistDirective(steps []Stage) string {
	m := len(steps)
	active := first(steps, 0, Status.IsActive)
	if active < 0 {
		next := first(steps, 0, isPending)
		if next < 0 {
			return ""
		}
		return fmt.Sprintf("[Stage %d/%d] No step is in_progress — call update_plan to start \"%s\", or cancel what became obsolete.",
			next+1, m, oneLine(steps[next].Content))
	}
	current := oneLine(steps[active].Content)
	next := first(steps, 0, isPending)
	if next < 0 {
		return fmt.Sprintf("[Stage %d/%d] Work on \"%s\" (final stage) — only after it is verified, call update_plan once to mark it completed, then deliver to the user.",
			active+1, m, current)
	}
	return fmt.Sprintf("[Stage %d/%d] Work on \"%s\" — only after it is verified, call update_plan once to mark it completed and \"%s\" in_progress.",
		active+1, m, current, oneLine(steps[next].Content))
}

// stepsDirective is the plan verb's; several steps may run at once.
func stepsDirective(steps []Stage) string {
	m := len(steps)
	var running []string
	at := -1
	for i, s := range steps {
		if s.Status == Running {
			running = append(running, `"`+oneLine(s.Content)+`"`)
			if at < 0 {
				at = i
			}
		}
	}
	if len(running) == 0 {
		if at = first(steps, 0, isPending); at < 0 {
			return ""
		}
		return fmt.Sprintf("[Stage %d/%d] No step is running — call plan to mark \"%s\" running, or write off what became obsolete as skipped.",
			at+1, m, oneLine(steps[at].Content))
	}
	return fmt.Sprintf("[Stage %d/%d] Work on %s — only after it is verified, call plan once to mark it done, or failed or skipped if that is what happened, and start the next.",
		at+1, m, strings.Join(running, ", "))
}

// carriedLine says where a carried plan comes from and what may be done with it.
func carriedLine(m Mode) string {
	tool := ToolPlan
	switch m {
	case Classic:
		tool = ToolWriteTodos
	case Checklist:
		tool = ToolUpdatePlan
	}
	return "These stages were left open by an earlier request: if the request changed, re-plan with " + tool + " before you go on."
}

// first is the index of the first stage from index from on whose status fits;
// -1 for none.
func first(stages []Stage, from int, fits func(Status) bool) int {
	for i := from; i < len(stages); i++ {
		if fits(stages[i].Status) {
			return i
		}
	}
	return -1
}

func isPending(s Status) bool { return s == Pending }

var newlines = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ",
	"\u0085", " ", "\u2028", " ", "\u2029", " ")

// oneLine is s with its newlines as spaces.
func oneLine(s string) string { return newlines.Replace(s) }
