package planning

import (
	"fmt"
	"strconv"
	"strings"
)

// applyChecklist is update_plan: it replaces the whole plan and rejects instead
// of repairing (docs/planning.md, 'checklist').
func applyChecklist(s State, in value, l Limits) Result {
	for _, f := range in.fields {
		if f.key != "steps" && f.key != "explanation" {
			return failed(s, invalid(joined("", f.key), "unknown key %s; update_plan takes steps and explanation", shown(f.key)))
		}
	}
	steps, err := readChecklist(in, l)
	if err != nil {
		return failed(s, err)
	}
	explanation, err := readExplanation(in, l)
	if err != nil {
		return failed(s, err)
	}
	res := accepted(s, Plan{Stages: withIDs(s.Plan, steps)})
	res.Explanation = explanation
	return res
}

// withIDs gives rows their ids: a step keeps the id of the earlier step with
// the same text; of those left, one at an equal position keeps its id; else a
// new one is made of the new revision and the position.
func withIDs(p Plan, steps []Stage) []Stage {
	var out []Stage
	out = append(out, steps...)
	taken := make([]bool, len(p.Stages))
	for i := range out {
		for j, old := range p.Stages {
			if !taken[j] && old.Content == out[i].Content {
				taken[j], out[i].ID = true, old.ID
				break
			}
		}
	}
	for i := range out {
		switch {
		case out[i].ID != "":
		case i < len(taken) && !taken[i]:
			taken[i], out[i].ID = true, p.Stages[i].ID
		default:
			out[i].ID = "c" + strconv.Itoa(p.Revision+1) + "-" + strconv.Itoa(i+1)
		}
	}
	return out
}

// checklistLine is what the model is told of a stored plan: one line with the
// revision.
func checklistLine(p Plan) string {
	if len(p.Stages) == 0 {
		return fmt.Sprintf("The plan is empty at revision %d.", p.Revision)
	}
	count := map[Status]int{}
	for _, s := range p.Stages {
		count[s.Status]++
	}
	line := fmt.Sprintf("The plan is at revision %d: %d of %d steps completed", p.Revision, count[Completed], len(p.Stages))
	for _, st := range []Status{InProgress, Cancelled} {
		if count[st] > 0 {
			line += fmt.Sprintf(", %d %s", count[st], st)
		}
	}
	return line + "."
}

// readChecklist reads the steps; errors name the step from 1.
func readChecklist(in value, l Limits) ([]Stage, *ToolError) {
	items, err := in.array("steps")
	if err != nil {
		return nil, err
	}
	if l.ChecklistSteps > 0 && len(items) > l.ChecklistSteps {
		return nil, overLimit("steps", "step %d is one too many: the plan has %d steps; the limit is %d steps",
			l.ChecklistSteps+1, len(items), l.ChecklistSteps)
	}
	var steps []Stage
	active, total := 0, 0
	for i, item := range items {
		step, err := readChecklistStep(item, i, l)
		if err != nil {
			return nil, err
		}
		if total += len(step.Content); l.ChecklistBytes > 0 && total > l.ChecklistBytes {
			return nil, overLimit(indexed("steps", i)+".text", "step %d: the text of all steps up to here has %d bytes; the limit is %d bytes in all",
				i+1, total, l.ChecklistBytes)
		}
		if step.Status == InProgress {
			if active > 0 {
				return nil, invalid(indexed("steps", i)+".status", "steps %d and %d are both in_progress; at most one step may be", active, i+1)
			}
			active = i + 1
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func readChecklistStep(item value, i int, l Limits) (Stage, *ToolError) {
	path, step := indexed("steps", i), fmt.Sprintf("step %d: ", i+1)
	if item.kind != kindObject {
		return Stage{}, invalid(path, "%sit must be an object with text and status, not %s", step, item.kind)
	}
	for _, f := range item.fields {
		if f.key != "text" && f.key != "status" {
			return Stage{}, invalid(joined(path, f.key), "%sunknown key %s; a step has text and status", step, shown(f.key))
		}
	}
	text, err := item.filled(path, "text")
	if err != nil {
		return Stage{}, inStep(step, err)
	}
	text = strings.TrimSpace(text)
	if err := checkBytes(path+".text", "the text", text, l.StepBytes); err != nil {
		return Stage{}, inStep(step, err)
	}
	word, err := item.filled(path, "status")
	if err != nil {
		return Stage{}, inStep(step, err)
	}
	switch status := Status(word); status {
	case Pending, InProgress, Completed, Cancelled:
		return Stage{Content: text, Status: status}, nil
	}
	return Stage{}, invalid(path+".status", "%sthe status is %s; it must be pending, in_progress, completed or cancelled", step, shown(word))
}

func readExplanation(in value, l Limits) (string, *ToolError) {
	if _, ok := in.get("explanation"); !ok {
		return "", nil
	}
	text, err := in.filled("", "explanation")
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	return text, checkBytes("explanation", "explanation", text, l.ExplanationBytes)
}

// inStep names the step in front of an error's message.
func inStep(step string, err *ToolError) *ToolError {
	named := *err
	named.Message = step + err.Message
	return &named
}
