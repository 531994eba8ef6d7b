package agent

import "stagefold/internal/planning"

// asked are the step's facts as far as the answer alone tells them: what the
// model asked for, before any call has run.
func (r *run) asked(a *answer) planning.StepFacts {
	f := planning.StepFacts{TextChars: r.work.chars}
	for _, c := range a.calls {
		switch {
		case c.name == planning.ToolAdvance && r.plans(c.name):
			f.AdvanceCalls++
		case r.plans(c.name):
			f.CountedPlannerCalls++
		case c.name != completeTool:
			f.WorkingCalls++
		}
	}
	return f
}

// facts are the step's facts after its calls have run.
func (r *run) facts(a *answer) planning.StepFacts {
	f := r.asked(a)
	f.PlanChanged = r.work.changed
	for _, c := range a.calls {
		f.WorkingEnded = f.WorkingEnded || c.ran
		if r.plans(c.name) && c.name != planning.ToolAdvance && c.faulty {
			f.CountedPlannerCalls--
		}
	}
	return f
}
