package fold

import (
	"encoding/json"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// note takes an entry about the run as a whole; false where it is none.
func (f *Folder) note(e *part.Entry) bool {
	run := &f.run
	switch e.Type {
	case part.Start:
		run.Started = e.Time
		var start part.StartData
		if json.Unmarshal(e.Data, &start) == nil {
			run.Start = start
		}
	case part.Wait:
		run.State, run.Waiting = part.Waits, e.Waiting
		f.anew = true
	case part.Resume:
		run.State, run.Waiting = part.Running, nil
		f.anew = true
	case part.Finish:
		f.finish(e)
	case part.DataPlan:
		var data part.PlanData
		if json.Unmarshal(e.Data, &data) != nil {
			break
		}
		run.PlanData = &data
		if data.Tool == planning.ByRuntime && len(f.ledger.plans) > 0 { // no planner call stands behind it
			f.settle(&data.Plan, e.Time, e.Step)
		}
	case part.DataActivity:
		a := &Activity{Step: e.Step, Time: e.Time, Seq: e.Seq}
		if json.Unmarshal(e.Data, &a.ActivityData) == nil {
			run.Activity = run.Activity.Append(a)
		}
	default:
		return false
	}
	return true
}

func (f *Folder) finishStep(e *part.Entry) {
	f.run.Step = max(f.run.Step, e.Step)
	if e.Usage == nil {
		return
	}
	f.run.Usage = f.run.Usage.Plus(*e.Usage)
	if f.owner != nil {
		f.owner.usage = f.owner.usage.Plus(*e.Usage)
		f.owner.stale = true
		if f.owner != f.current { // the next step's start forgets it
			f.anew = true
		}
	}
}

// finish ends the run: what is still open closes first, as part.Settle says,
// so that nothing on the page goes on.
func (f *Folder) finish(e *part.Entry) {
	state, reason := endState(e.State, e.FinishReason), endReason(e.State, e.FinishReason)
	var open []*part.Part
	for _, c := range f.cells {
		if !c.p.Terminal() {
			open = append(open, &c.p.Part)
		}
	}
	for _, end := range part.Settle(open, state, reason, e.Time) {
		f.apply(end)
	}
	for _, c := range f.children {
		c.settle(state, e.Time)
	}
	f.ledger.turn(e.Time, nil, e.Step)
	run := &f.run
	run.State, run.FinishReason, run.Finished = state, reason, e.Time
	run.Error, run.Note, run.Debt, run.Waiting = e.Error, e.Note, e.Debt, nil
	if e.Usage != nil {
		run.Usage = *e.Usage
	}
	f.anew = true
}
