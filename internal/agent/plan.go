package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// completeTool ends the run where no stage is open.
const completeTool = "complete"

var completeSpec = ToolSpec{
	Name:        completeTool,
	Description: "End the run. Call it when everything asked for is done and the answer is given. It is refused while stages of the plan are open.",
	Schema:      json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string","description":"one sentence about what was done"}},"additionalProperties":false}`),
}

// plans: name is a tool of the chat's planner.
func (r *run) plans(name string) bool {
	return r.planTools[name]
}

// planCall gives a planner's call to planning and stores what came of it. A
// state that cannot be stored is not the state: the call gets an error.
func (r *run) planCall(a *answer, c *call) error {
	r.countWork()
	if c.name != planning.ToolAdvance && r.pace.OveruseNow(r.asked(a)) {
		return r.refuse(c, planning.OveruseError())
	}
	before := r.state
	res := planning.Apply(before, planning.Call{Tool: c.name, Input: c.input, Time: r.now()}, r.limits.Plan)
	if res.Err != nil {
		c.faulty = true
		r.once(keyOncePlan, res.Once)
		return r.refuse(c, res.Err)
	}
	entries := []*part.Entry{{Type: part.ToolOutput, ToolCallID: c.id, Output: res.Output}}
	var change *part.PlanData
	if res.Changed {
		change = &part.PlanData{
			Plan: res.State.Plan, Tool: c.name, Explanation: res.Explanation, Note: res.Note, Focus: res.Focus,
		}
		data, err := json.Marshal(change)
		if err != nil {
			return fmt.Errorf("encoding a plan: %w", err)
		}
		entries = append(entries, &part.Entry{Type: part.DataPlan, ID: "plan", Data: data})
	}
	line := planLine(before, res.State)
	if res.Refused {
		line = c.name + " refused"
	}
	entries = append(entries, activity(part.PhasePlan, line))

	err := r.commitPlan(res.State, change, entries)
	if errors.Is(err, errNotStored) {
		return r.refuse(c, &planning.ToolError{
			Code: codeStorage, Message: "the plan could not be stored and is unchanged; try again",
		})
	}
	if err != nil {
		return err
	}
	c.done = true
	r.state = res.State
	r.once(keyOncePlan, res.Once)
	r.work.changed = r.work.changed || res.Changed
	return nil
}

// commitPlan stores a state with its entries; errNotStored says that nothing
// of it was stored and the run can go on.
func (r *run) commitPlan(state planning.State, change *part.PlanData, entries []*part.Entry) error {
	ctx, cancel := r.writing()
	defer cancel()
	err := r.stored(r.log.CommitPlan(ctx, state, change, r.stamped(entries)...))
	var lost *logFailure
	if errors.As(err, &lost) {
		return errors.Join(errNotStored, err)
	}
	if err == nil {
		r.keep(entries...)
	}
	return err
}

// completeCall ends the run if no stage is open, else says which are.
func (r *run) completeCall(a *answer, c *call) error {
	c.done = true
	reply := struct {
		Completed bool   `json:"completed,omitempty"`
		Refused   bool   `json:"refused,omitempty"`
		Reason    string `json:"reason,omitempty"`
	}{Completed: true}
	if open := r.state.Owes(); len(open) > 0 {
		reply.Completed, reply.Refused, reply.Reason = false, true, debtAsk(open)
		a.refused = true
	}
	a.completed = reply.Completed
	output, _ := json.Marshal(reply)
	line := "run completed"
	if reply.Refused {
		line = fmt.Sprintf("complete refused, %d open", len(r.state.Owes()))
	}
	return r.emit(&part.Entry{Type: part.ToolOutput, ToolCallID: c.id, Output: output}, activity(part.PhasePlan, line))
}

// countWork tells the planner's guard of the work since it was last told.
func (r *run) countWork() {
	calls, chars := r.work.calls-r.work.toldCalls, r.work.chars-r.work.toldChars
	if calls == 0 && chars == 0 {
		return
	}
	r.state = r.state.Worked(calls, chars)
	r.work.toldCalls, r.work.toldChars = r.work.calls, r.work.chars
}

// carry takes over the open stages of the chat's plan; false where none is
// open or another planner wrote it.
func (r *run) carry() ([]*part.Entry, bool) {
	if r.job.Plan.Plan.Mode != r.job.Mode {
		return nil, false
	}
	state, ok := planning.Carry(r.job.Plan)
	if !ok {
		return nil, false
	}
	data, err := json.Marshal(state.Plan)
	if err != nil {
		return nil, false
	}
	r.state = state
	return []*part.Entry{{Type: part.DataPlanCarried, ID: "plan-carried", Data: data}}, true
}

// plannerSpecs are the tools of the chat's planner.
func plannerSpecs(mode planning.Mode, limits planning.Limits) []ToolSpec {
	var specs []ToolSpec
	for _, s := range planning.ToolSpecs(mode, limits) {
		specs = append(specs, ToolSpec{Name: s.Name, Description: strings.TrimSpace(s.Description), Schema: s.Schema})
	}
	return specs
}
