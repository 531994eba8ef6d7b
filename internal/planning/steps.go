package planning

import (
	"slices"
	"strconv"
	"time"
)

// applySteps is the plan verb: read tolerantly, settled when every step is
// terminal (docs/planning.md, 'steps').
func applySteps(s State, in value, l Limits, at time.Time) Result {
	steps, err := readSteps(in, l)
	if err != nil {
		return failed(s, err)
	}
	for i, step := range steps {
		old, known := byID(s.Plan.Stages, step.ID)
		if known && step.Status == Done && old.Status == Done {
			steps[i].ResolvedBy = old.ResolvedBy
		}
	}
	next := Plan{Title: s.Plan.Title, Stages: steps}
	if title, ok := in.get("title"); ok && title.kind != kindNull {
		next.Title = scalar(title, l.LabelChars)
	}
	next.SettledAt = settledAt(s.Plan, steps, at)
	return accepted(s, next)
}

// settledAt is when every step became terminal: the first time stays, an open
// step clears it, and no step at all settles nothing.
func settledAt(p Plan, steps []Stage, at time.Time) time.Time {
	if len(steps) == 0 || slices.ContainsFunc(steps, isOpen) {
		return time.Time{}
	}
	if !p.SettledAt.IsZero() {
		return p.SettledAt
	}
	return at.UTC().Round(0)
}

func isOpen(s Stage) bool { return !s.Status.IsTerminal() }

// readSteps reads the steps: what is missing is filled in, what is too much is
// cut, an unknown status is pending. Only an item that is neither an object nor
// a string is refused.
func readSteps(in value, l Limits) ([]Stage, *ToolError) {
	items, err := in.array("steps")
	if err != nil {
		return nil, err
	}
	if l.Steps > 0 && len(items) > l.Steps {
		items = items[:l.Steps]
	}
	var steps []Stage
	taken := make(map[string]bool, len(items))
	for i, item := range items {
		step, err := readStep(item, i, l)
		if err != nil {
			return nil, err
		}
		step.ID = unused(step.ID, taken)
		taken[step.ID] = true
		steps = append(steps, step)
	}
	return steps, nil
}

func readStep(item value, i int, l Limits) (Stage, *ToolError) {
	n := strconv.Itoa(i + 1)
	step := Stage{Status: Pending}
	switch item.kind {
	case kindString:
		step.Content = scalar(item, l.LabelChars)
	case kindObject:
		id, _ := item.get("id")
		label, _ := item.get("label")
		status, _ := item.get("status")
		step.ID, step.Content = scalar(id, l.LabelChars), scalar(label, l.LabelChars)
		if status.kind == kindString {
			step.Status = stepStatus(status.text)
		}
	default:
		path := indexed("steps", i)
		return Stage{}, invalid(path, "%s must be an object with id, label and status, or a label, not %s", path, item.kind)
	}
	if step.ID == "" {
		step.ID = "step-" + n
	}
	if step.Content == "" {
		step.Content = "Step " + n
	}
	return step, nil
}

// scalar is a string or number as a text of at most limit characters; "" for
// anything else and for what is blank.
func scalar(v value, limit int) string {
	if v.kind != kindString && v.kind != kindNumber || isBlank(v.text) {
		return ""
	}
	cut := cutChars(v.text, limit)
	if isBlank(cut) {
		return ""
	}
	return cut
}

// unused is the id with the first of the suffixes -2, -3, ... that makes it new.
func unused(id string, taken map[string]bool) string {
	for n, free := 2, id; ; n++ {
		if !taken[free] {
			return free
		}
		free = id + "-" + strconv.Itoa(n)
	}
}

func stepStatus(word string) Status {
	switch s := Status(word); s {
	case Running, Done, Failed, Skipped:
		return s
	}
	return Pending
}
