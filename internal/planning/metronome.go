package planning

import (
	"fmt"
	"slices"
	"time"
)

// applyPlan is the metronome's plan: it declares the stages, and later
// re-plans with a ratchet: what is done stays (docs/planning.md, 'metronome').
func applyPlan(s State, in value, l Limits) Result {
	incoming, err := readStages(in, s.Plan.Stages, l)
	if err != nil {
		return failed(s, err)
	}
	next := ratchet(s.Plan, incoming)
	if s.Plan.at() < len(s.Plan.Stages) && next.Pointer >= len(next.Stages) {
		return failed(s, &ToolError{
			Code: CodeOpenStages, Path: "stages",
			Message: "the new plan leaves no open stage while one is open; finish the open stage with advance, or send the stages that are left to do",
		})
	}
	if err := checkSettled("stages", s.Plan.Stages, next.Stages, l); err != nil {
		return failed(s, err)
	}
	res := accepted(s, next)
	if !s.HasPlan {
		res.State.Guard = Guard{}
	}
	return res
}

// ratchet keeps the stages before the pointer and replaces the rest. Incoming
// stages that reuse a kept id, or one that came before, are dropped.
func ratchet(p Plan, incoming []Stage) Plan {
	stages := firstOfEach(slices.Concat(p.Stages[:p.at()], incoming))
	return Plan{Pointer: p.at(), Stages: pointed(stages, p.at())}
}

// at is the pointer, within the list whatever was stored.
func (p Plan) at() int { return min(max(p.Pointer, 0), len(p.Stages)) }

// pointed is the stages with the statuses that the pointer gives them.
func pointed(stages []Stage, pointer int) []Stage {
	out := slices.Clone(stages)
	for i := range out {
		switch {
		case i < pointer:
			out[i].Status = Done
		case i == pointer:
			out[i].Status = InProgress
		default:
			out[i].Status = Pending
		}
	}
	return out
}

// applyAdvance closes the stage at the pointer with its evidence and opens the
// next. Without work since the last accepted advance it is refused, once for
// each stage.
func applyAdvance(s State, in value, l Limits, at time.Time) Result {
	evidence, err := in.filled("", "evidence")
	if err == nil {
		err = checkBytes("evidence", "evidence", evidence, l.EvidenceBytes)
	}
	if err != nil {
		return failed(s, err)
	}
	p, i := s.Plan, s.Plan.at()
	if i == len(p.Stages) {
		return noActiveStage(s)
	}
	stage := p.Stages[i]
	worked := s.Guard.worked()
	if !worked && !s.Guard.refused(stage.ID) {
		return emptyTick(s, stage)
	}
	stages := slices.Clone(p.Stages)
	stages[i].Evidence = evidence
	stages[i].AdvancedAt = at.UTC().Round(0)
	stages[i].Unverified = !worked
	res := accepted(s, Plan{Pointer: i + 1, Stages: pointed(stages, i+1)})
	res.State.Guard = Guard{Refused: s.Guard.Refused}
	return res
}

// emptyTick refuses an advance and remembers that it did.
func emptyTick(s State, stage Stage) Result {
	n, m := s.Plan.at()+1, len(s.Plan.Stages)
	reason := fmt.Sprintf("advance refused: nothing was produced since the last stage. Do the work of stage %d/%d (%q) with a working tool first; if its deliverable already exists, call advance once more and say where.",
		n, m, oneLine(stage.Content))
	s.Guard.Refused = append(slices.Clone(s.Guard.Refused), stage.ID)
	return Result{State: s, Output: refusedOutput(s.Plan, reason), Refused: true, Once: EscapeFrame(reason)}
}

// noActiveStage answers an advance that has nothing to close. With a plan that
// is finished the output is the plan as it stands; without any plan it says so.
func noActiveStage(s State) Result {
	res := Result{State: s, Refused: true}
	if !s.HasPlan {
		res.Once = "advance changed nothing: there is no plan yet. Call plan first, or go on without one."
		res.Output = refusedOutput(s.Plan, res.Once)
		return res
	}
	res.Once = "advance changed nothing: no stage is active, every stage is complete. Deliver the final output and call complete."
	res.Output = output(s.Plan)
	return res
}

// readStages reads the stages as sent; a status is ignored, as is any other key.
func readStages(in value, prev []Stage, l Limits) ([]Stage, *ToolError) {
	items, err := in.array("stages")
	if err != nil {
		return nil, err
	}
	if err := checkCount("stages", len(items), len(prev), l); err != nil {
		return nil, err
	}
	var stages []Stage
	for i, item := range items {
		path := indexed("stages", i)
		stage, err := readStage(item, path)
		if err == nil {
			err = checkStage(path, stage, prev, l)
		}
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

func readStage(item value, path string) (Stage, *ToolError) {
	if item.kind != kindObject {
		return Stage{}, invalid(path, "%s must be an object with id, content and deliverable, not %s", path, item.kind)
	}
	id, err := item.filled(path, "id")
	if err != nil {
		return Stage{}, err
	}
	content, err := item.filled(path, "content")
	if err != nil {
		return Stage{}, err
	}
	deliverable, err := item.filled(path, "deliverable")
	if err != nil {
		return Stage{}, err
	}
	return Stage{ID: id, Content: content, Deliverable: deliverable, Status: Pending}, nil
}
