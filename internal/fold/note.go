package fold

import (
	"bytes"
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
		f.told = append(f.told, e)
		if len(f.ledger.plans) > 0 && bytes.Contains(e.Data, byRuntime) {
			if data := f.readTold(); data != nil && data.Tool == planning.ByRuntime { // no planner call stands behind it
				f.settle(&data.Plan, e.Time, e.Step)
			}
		}
	case part.DataActivity:
		if data, ok := part.ActivityOf(e); ok {
			f.lines = append(f.lines, &Activity{ActivityData: data, Step: e.Step, Time: e.Time, Seq: e.Seq})
		}
	default:
		return false
	}
	return true
}

// byRuntime stands in the data of a plan that the runtime changed.
var byRuntime = []byte(`"` + planning.ByRuntime + `"`)

// readTold reads the newest plan that was told since the last snapshot; it gives
// it where that was the last entry about a plan.
func (f *Folder) readTold() *part.PlanData {
	told := f.told
	f.told = f.told[:0]
	for i := len(told) - 1; i >= 0; i-- {
		var data part.PlanData
		if json.Unmarshal(told[i].Data, &data) != nil {
			continue
		}
		f.run.PlanData = &data
		if i == len(told)-1 {
			return &data
		}
		break
	}
	return nil
}

// showLines adds the lines of activity since the last snapshot.
func (f *Folder) showLines() {
	if len(f.lines) > 0 {
		f.run.Activity = f.run.Activity.AppendAll(f.lines)
		f.lines = f.lines[:0]
	}
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
