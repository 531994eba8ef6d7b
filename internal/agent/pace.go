package agent

import "stagefold/internal/planning"

// Bounds of the overuse guard (docs/planning.md, 'Across all planners').
const (
	plannerOnlySteps = 2   // so many planner-only steps in a row are taken
	enoughText       = 200 // characters of text that count as work
	idleAfterTrouble = 3   // idle steps in a row after an ask or a refusal
	idleAtAll        = 6   // idle steps in a row in any case
)

// pace counts steps in a row that lead nowhere. It is a value; after gives the
// next one. Waiting for the user starts it anew.
type pace struct {
	plannerOnly int  // steps that called planner tools only
	idle        int  // steps in which the plan did not change and no working tool ran
	troubled    bool // an ask or an overuse error came
	since       int  // idle steps since then
}

// facts is what the pace needs to know of a step.
type facts struct {
	planner bool // a planner's tool other than advance was called
	worked  bool // a working tool was called
	ran     bool // a working tool ran
	text    int  // characters
	changed bool // the plan changed
	trouble bool // an ask was due or a planner call was refused as overuse
}

func (p pace) after(f facts) pace {
	switch {
	case f.worked || f.text >= enoughText:
		p.plannerOnly = 0
	case f.planner:
		p.plannerOnly++
	}
	if f.changed || f.ran {
		p.idle, p.since, p.troubled = 0, 0, false
		return p
	}
	p.idle++
	if p.troubled {
		p.since++
	}
	p.troubled = p.troubled || f.trouble
	return p
}

// stalled: the run leads nowhere any more.
func (p pace) stalled() bool {
	return p.since >= idleAfterTrouble || p.idle >= idleAtAll
}

// overuse is the error of a planner call in a step too many of its kind.
var overuse = &planning.ToolError{
	Code:    "planner_overuse_execute_next_step",
	Message: "the plan was written in three steps in a row without any work; do the next stage's work now",
}

// overused: the call is one planner call too many.
func (r *run) overused(a *answer, tool string) bool {
	if tool == "advance" || r.pace.plannerOnly < plannerOnlySteps || r.work.chars >= enoughText {
		return false
	}
	return !a.works(r)
}

// works: the answer calls a working tool.
func (a *answer) works(r *run) bool {
	for _, c := range a.calls {
		if !r.serial(c) {
			return true
		}
	}
	return false
}

// facts are the step's facts for the pace.
func (r *run) facts(a *answer) facts {
	f := facts{worked: a.works(r), text: r.work.chars, changed: r.work.changed, trouble: a.overused || r.wantsEnd(a)}
	for _, c := range a.calls {
		f.planner = f.planner || r.plans(c.name) && c.name != "advance"
		f.ran = f.ran || c.ran
	}
	return f
}
