package planning

// WorkChars is how many characters of text count as work.
const WorkChars = 200

const (
	overuseAt = 3 // the planner-only step in a row whose planner calls are refused
	idleMost  = 3 // idle steps in a row after which the run ends
	asksMost  = 3 // asks in a run
)

// Pace counts what bounds a run that does not get on (docs/planning.md,
// 'Overuse' and 'Plan debt'). It is a value: every method returns the new one.
// A run starts with the zero Pace; after a takeover it is counted again from
// the log.
//
//	PlannerOnly  steps in a row that called planner tools only
//	Idle         idle steps in a row after the one that was answered with an
//	             ask or a refusal
//	Asks         asks so far, refused complete calls included
type Pace struct {
	PlannerOnly int
	Idle        int
	Asks        int
	Stalled     bool // the last step was idle; the next idle steps count
}

// StepFacts are what Pace needs to know of one step.
type StepFacts struct {
	// CountedPlannerCalls are calls of write_todos, plan or update_plan. For
	// Step: those that were not refused for their arguments (a call that only got
	// a CodeInvalid, CodeInvalidJSON or CodeLimit error does not count, so a bad
	// call never stands in the way of the right one); those refused for overuse
	// count. For OveruseNow: the calls that the model asked for.
	CountedPlannerCalls int
	// AdvanceCalls neither count nor reset.
	AdvanceCalls int
	// WorkingCalls are calls of tools that are neither a planner's nor complete.
	WorkingCalls int
	// TextChars are the characters of the step's text parts, without reasoning.
	TextChars int
	// PlanChanged: an accepted planner call changed the list (Result.Changed).
	PlanChanged bool
	// WorkingEnded: a working tool ran, whatever came out of it. A call that was
	// denied, cut or unknown did not run.
	WorkingEnded bool
}

// OveruseNow reports that the planner calls of the step (advance excepted) must
// be refused with OveruseError and change nothing: it is the third step in a
// row, or a later one, that calls planner tools only. It is asked before the
// step's planner calls run, with what the model asked for in this step.
func (p Pace) OveruseNow(s StepFacts) bool {
	return s.CountedPlannerCalls > 0 && !s.resets() && p.PlannerOnly >= overuseAt-1
}

// Step is the pace after a step.
//
// PlannerOnly rises with a step that called planner tools and starts again with
// any working call or WorkChars of text. An idle step is one in which the plan
// did not change and no working tool ran. The first idle step in a row only
// makes the run Stalled, since it is the one that the runtime answers; the idle
// steps after it count. So does overuse: the step that is refused first starts
// the count of the three more.
func (p Pace) Step(s StepFacts) Pace {
	switch {
	case s.resets():
		p.PlannerOnly = 0
	case s.CountedPlannerCalls > 0:
		p.PlannerOnly++
	}
	switch {
	case s.PlanChanged || s.WorkingEnded:
		p.Idle, p.Stalled = 0, false
	case !p.Stalled, s.CountedPlannerCalls > 0 && p.PlannerOnly == overuseAt:
		p.Idle, p.Stalled = 0, true
	default:
		p.Idle++
	}
	return p
}

// Spent reports that the run ends now with its debt: three more idle steps in a
// row came after the first one that was answered.
func (p Pace) Spent() bool { return p.Idle >= idleMost }

// MayAsk reports that the run has an ask left.
func (p Pace) MayAsk() bool { return p.Asks < asksMost }

// Asked is the pace after an ask or a refused complete call.
func (p Pace) Asked() Pace {
	p.Asks++
	return p
}

// OveruseError is the answer to a planner call that OveruseNow refuses.
func OveruseError() *ToolError {
	return &ToolError{
		Code:    CodeOveruse,
		Message: "The plan was written several steps in a row without any work between. Nothing was changed. Execute the next stage now with a working tool, then update the plan.",
	}
}

func (s StepFacts) resets() bool { return s.WorkingCalls > 0 || s.TextChars >= WorkChars }
