package agent

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"stagefold/internal/part"
)

// ErrOver: the run has ended already.
var ErrOver = errors.New("the run has ended already")

// begin logs the start of a new run, or takes an old one over. The answer is
// that of the last completed step, whose consequences are still due.
func (r *run) begin() (*answer, error) {
	if len(r.job.Done) > 0 {
		return r.takeOver()
	}
	data, err := json.Marshal(part.StartData{
		RunID: r.job.RunID, ChatID: r.job.ChatID, ParentRunID: r.job.ParentRunID, MessageID: r.job.RunID,
		UserMessageID: r.job.UserMessageID, UserText: r.job.UserText, Model: r.job.ModelName, PlanningMode: r.job.Mode,
	})
	if err != nil {
		return nil, err
	}
	start := &part.Entry{Type: part.Start, Data: data}
	if !r.job.Plan.HasPlan {
		return nil, r.emit(start)
	}
	carried, _ := r.carry()
	entries := r.keep(append([]*part.Entry{start}, carried...)...)
	ctx, cancel := r.writing()
	defer cancel()
	return nil, r.stored(r.log.CommitPlan(ctx, r.state, nil, entries...))
}

// takeOver goes on with a run that another owner began. A broken step in which
// tools have acted is completed: nothing that ended runs again, and a call
// that began and did not end runs again only if it may. Any other broken step
// is taken back.
func (r *run) takeOver() (*answer, error) {
	if err := r.restore(); err != nil {
		return nil, err
	}
	r.durable = true
	resume := &part.Entry{Type: part.Resume, Reason: "taken over by another worker"}
	broken := r.brokenStep()
	if !acted(broken) {
		entries := []*part.Entry{resume}
		if len(broken) > 0 {
			entries = []*part.Entry{{Type: part.StepReset, Step: r.step + 1}, resume}
		}
		return r.answerOf(r.step), r.emit(entries...)
	}
	r.step++
	if err := r.emit(resume); err != nil {
		return nil, err
	}
	a := r.answerOf(r.step)
	a.reason = part.ReasonToolCalls
	r.recount(a)
	return a, r.completeStep(a)
}

// recount restores what the step at hand has done: the planner's guard knows
// only of the work before the step's last stored planner call.
func (r *run) recount(a *answer) {
	r.work = stepWork{chars: utf8.RuneCountInString(a.text.String())}
	for _, c := range a.calls {
		switch {
		case !c.output || c.name == completeTool:
		case r.plans(c.name):
			r.work.toldCalls, r.work.toldChars = r.work.calls, r.work.chars
		default:
			r.work.calls++
		}
	}
}

// restore reads the run's counters back from its log.
func (r *run) restore() error {
	r.entries = append(r.entries, r.job.Done...)
	if r.job.Plan.Plan.Mode == r.job.Mode {
		r.state = r.job.Plan
	}
	for _, e := range r.job.Done {
		if kind, n, ok := strings.Cut(e.ID, "-"); ok {
			if n, err := strconv.Atoi(n); err == nil {
				r.ids[kind] = max(r.ids[kind], n)
			}
		}
		if e.ToolCallID != "" {
			r.callIDs[e.ToolCallID] = true
		}
		switch e.Type {
		case part.FinishStep:
			r.step = max(r.step, e.Step)
			if e.Usage != nil {
				r.usage = r.usage.Plus(*e.Usage)
			}
		case part.DataAsk:
			r.pace = r.pace.Asked()
		case part.Finish:
			return ErrOver
		}
	}
	r.completed = r.step
	for _, p := range part.Build(r.entries) {
		if p.Step < r.step && refusedComplete(p) {
			r.pace = r.pace.Asked() // the last step's is counted when its consequences are drawn
		}
	}
	return nil
}

// brokenStep is what the log holds of the step after the last completed one.
func (r *run) brokenStep() []*part.Entry {
	var broken []*part.Entry
	for _, e := range r.entries {
		if e.Step != r.step+1 {
			continue
		}
		if e.Type == part.StepReset {
			broken = nil
			continue
		}
		broken = append(broken, e)
	}
	return broken
}

// acted: the answer was whole and a call of it acted, or waits for the user.
// Errors alone prove nothing: the calls of a cut answer have them too.
func acted(step []*part.Entry) bool {
	for _, e := range step {
		switch e.Type {
		case part.ToolStart, part.ToolOutput, part.ToolOutputDenied, part.ToolApprovalRequest, part.Wait:
			return true
		}
	}
	return false
}

// answerOf reads a step's answer back from the log; nil where there is none.
func (r *run) answerOf(step int) *answer {
	if step == 0 {
		return nil
	}
	a := &answer{run: r, finished: true, shown: true}
	for _, p := range part.Build(r.entries) {
		if p.Step != step {
			continue
		}
		switch p.Kind {
		case part.KindText:
			if a.text.Len() > 0 {
				a.text.WriteString("\n\n")
			}
			a.text.WriteString(p.Text)
		case part.KindTool:
			a.calls = append(a.calls, r.callOf(p))
			a.refused = a.refused || refusedComplete(p)
			a.completed = a.completed || p.Tool.Name == completeTool && p.State == part.StateOutputAvailable && !refusedComplete(p)
		}
	}
	for _, e := range r.entries {
		if e.Step != step {
			continue
		}
		switch e.Type {
		case part.FinishStep:
			a.reason = e.FinishReason
		case part.DataAsk, part.DataAnswer:
			a.settled = true
		}
	}
	a.verdict = decide(a.reason, a.shape(), false, false)
	return a
}

// callOf reads a call back from its part.
func (r *run) callOf(p *part.Part) *call {
	c := &call{
		id: p.Tool.CallID, name: p.Tool.Name, tool: r.tools[p.Tool.Name], input: p.Tool.Input, ended: true,
		done: p.Terminal(), acted: !p.Tool.ActedAt.IsZero(), approvalID: p.Tool.ApprovalID,
		approved: p.Tool.Approved != nil && *p.Tool.Approved,
		output:   p.State == part.StateOutputAvailable && p.Terminal(),
	}
	c.args.WriteString(p.Tool.RawInput)
	if c.input == nil && !c.done {
		c.fault = "the arguments were not complete when the server stopped"
	}
	return c
}

// refusedComplete: the part is a complete call that the gate refused.
func refusedComplete(p *part.Part) bool {
	if p.Kind != part.KindTool || p.Tool.Name != completeTool || p.State != part.StateOutputAvailable {
		return false
	}
	var reply struct {
		Refused bool `json:"refused"`
	}
	return json.Unmarshal(p.Tool.Output, &reply) == nil && reply.Refused
}
