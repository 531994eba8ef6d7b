package agent

import (
	"strings"

	"stagefold/internal/planning"
)

// prepare builds the request of the next step: the history, and beside it the
// reminders that the plan calls for now.
func (r *run) prepare() Request {
	r.planReminder()
	return Request{
		ModelName: modelName(r.job.ModelName),
		System:    r.system,
		Tools:     r.specs,
		Messages:  r.prior.with(r.job.UserText, r.entries),
		Reminder:  r.reminders.take(),
	}
}

// planReminder sets the planner's reminder while a stage is open and clears it
// when none is. The plan_state block of a steps plan has a key of its own: a
// settled plan is still shown until the run ends.
func (r *run) planReminder() {
	if r.job.Mode == planning.None {
		return
	}
	r.reminders.setFrame(planning.ReminderKey(r.job.Mode), planning.Directive(r.state))
	r.reminders.setFrame(keyPlanState, planning.PlanStateBlock(r.state))
}

// modelName is the provider's own name of a model that is stored as
// PROVIDER/NAME.
func modelName(stored string) string {
	if _, name, ok := strings.Cut(stored, "/"); ok {
		return name
	}
	return stored
}

// specsOf lists the tools in the order that every step of the run keeps:
// working tools as given, then what the loop adds.
func specsOf(job Job, limits planning.Limits) []ToolSpec {
	added := append([]ToolSpec{askSpec}, plannerSpecs(job.Mode, limits)...)
	added = append(added, completeSpec)
	taken := map[string]bool{}
	for _, s := range added {
		taken[s.Name] = true
	}
	var specs []ToolSpec
	for _, t := range job.Tools {
		if !taken[t.Spec.Name] {
			specs = append(specs, t.Spec)
			taken[t.Spec.Name] = true
		}
	}
	return append(specs, added...)
}
