package planning

import (
	"slices"
	"time"
)

// Apply runs one planner call against the state. It changes no argument. A call
// that is refused for its arguments gives Err and the old state; an accepted
// one gives the tool's output, and Changed where the settled list differs from
// the one before. The planner is the state's Mode; where the state has none, it
// follows from the tool and its input.
func Apply(s State, c Call, l Limits) Result {
	in, err := readInput(c.Input)
	if err != nil {
		return failed(s, err)
	}
	mode := s.Plan.Mode
	if mode == "" {
		mode = modeOf(c.Tool, in)
	}
	if !mode.has(c.Tool) {
		return failed(s, &ToolError{Code: CodeWrongPlanner, Message: "this chat does not plan with " + shown(c.Tool)})
	}
	bound := s
	bound.Plan.Mode = mode
	res := Result{}
	switch {
	case mode == Classic:
		res = applyTodos(bound, in, l)
	case mode == Checklist:
		res = applyChecklist(bound, in, l)
	case mode == Steps:
		res = applySteps(bound, in, l, c.Time)
	case c.Tool == ToolPlan:
		res = applyPlan(bound, in, l)
	default:
		res = applyAdvance(bound, in, l, c.Time)
	}
	if res.Err != nil {
		return failed(s, res.Err)
	}
	return res
}

// modeOf is the planner that a tool belongs to. Two have a tool named plan:
// the list's key tells them apart.
func modeOf(tool string, in value) Mode {
	switch tool {
	case ToolWriteTodos:
		return Classic
	case ToolUpdatePlan:
		return Checklist
	case ToolAdvance:
		return Metronome
	case ToolPlan:
		_, steps := in.get("steps")
		_, stages := in.get("stages")
		if steps && !stages {
			return Steps
		}
		return Metronome
	}
	return None
}

// accepted stores the plan that a call settled on: a list that differs raises
// the revision, an identical one keeps it.
func accepted(s State, next Plan) Result {
	changed := !s.HasPlan || next.Title != s.Plan.Title || !sameStages(next.Stages, s.Plan.Stages)
	next.Mode = s.Plan.Mode
	next.Revision = s.Plan.Revision
	if changed {
		next.Revision++
	}
	s.Plan, s.HasPlan, s.Carried = next, true, false
	return Result{State: s, Output: output(next), Changed: changed}
}

func failed(s State, err *ToolError) Result { return Result{State: s, Err: err} }

// sameStages compares all fields of all stages.
func sameStages(a, b []Stage) bool {
	return slices.EqualFunc(a, b, func(x, y Stage) bool {
		sameTime := x.AdvancedAt.Equal(y.AdvancedAt)
		x.AdvancedAt, y.AdvancedAt = time.Time{}, time.Time{}
		return sameTime && x == y
	})
}

// byID finds a stage; false where there is none.
func byID(stages []Stage, id string) (Stage, bool) {
	if i := indexOf(stages, id); i >= 0 {
		return stages[i], true
	}
	return Stage{}, false
}

func indexOf(stages []Stage, id string) int {
	return slices.IndexFunc(stages, func(s Stage) bool { return s.ID == id })
}

// firstOfEach drops every stage whose id came before.
func firstOfEach(stages []Stage) []Stage {
	var kept []Stage
	seen := make(map[string]bool, len(stages))
	for _, s := range stages {
		if !seen[s.ID] {
			seen[s.ID] = true
			kept = append(kept, s)
		}
	}
	return kept
}

// checkSettled holds the settled list against the limits of the whole. A list
// that is no longer than the one before is never refused, so that a plan stored
// under other limits can still be worked on.
func checkSettled(path string, prev, next []Stage, l Limits) *ToolError {
	if n := len(next); l.Stages > 0 && n > l.Stages && n > len(prev) {
		return overLimit(path, "the plan would have %d stages, the finished ones included; the limit is %d stages", n, l.Stages)
	}
	if n := textBytes(next); l.TotalBytes > 0 && n > l.TotalBytes && n > textBytes(prev) {
		return overLimit(path, "the plan would have %d bytes of text; the limit is %d bytes in all", n, l.TotalBytes)
	}
	return nil
}

// checkCount refuses a list that is too long as sent, before its items are read.
func checkCount(path string, n, prev int, l Limits) *ToolError {
	if l.Stages > 0 && n > l.Stages && n > prev {
		return overLimit(path, "%s has %d items; the limit is %d stages", path, n, l.Stages)
	}
	return nil
}

// checkStage holds one item against the limits of its fields. What the stage of
// the same id holds already is not refused.
func checkStage(path string, s Stage, prev []Stage, l Limits) *ToolError {
	old, known := byID(prev, s.ID)
	if !known {
		if err := checkChars(path+".id", path+".id", s.ID, l.IDChars); err != nil {
			return err
		}
	}
	if !known || s.Content != old.Content {
		if err := checkBytes(path+".content", path+".content", s.Content, l.ContentBytes); err != nil {
			return err
		}
		if err := checkChars(path+".content", path+".content", s.Content, l.ContentChars); err != nil {
			return err
		}
	}
	if !known || s.Deliverable != old.Deliverable {
		return checkBytes(path+".deliverable", path+".deliverable", s.Deliverable, l.DeliverableBytes)
	}
	return nil
}

func textBytes(stages []Stage) int {
	n := 0
	for _, s := range stages {
		n += len(s.Content) + len(s.Deliverable)
	}
	return n
}
