package planning

import "testing"

// Steps that called planner tools only, in a row: the third is refused.
// advance neither counts nor resets; a working call or 200 characters reset.
func TestPaceOveruse(t *testing.T) {
	planner := StepFacts{CountedPlannerCalls: 1}
	for name, c := range map[string]struct {
		before []StepFacts
		now    StepFacts
		want   bool
	}{
		"first":                    {nil, planner, false},
		"second":                   {[]StepFacts{planner}, planner, false},
		"third":                    {[]StepFacts{planner, planner}, planner, true},
		"fourth":                   {[]StepFacts{planner, planner, planner}, planner, true},
		"several calls in a step":  {[]StepFacts{{CountedPlannerCalls: 5}}, StepFacts{CountedPlannerCalls: 5}, false},
		"advance does not count":   {[]StepFacts{planner, {AdvanceCalls: 1}}, planner, false},
		"advance does not reset":   {[]StepFacts{planner, planner, {AdvanceCalls: 1}}, planner, true},
		"advance is never refused": {[]StepFacts{planner, planner}, StepFacts{AdvanceCalls: 1}, false},
		"a working call resets":    {[]StepFacts{planner, planner, {WorkingCalls: 1}}, planner, false},
		"beside a working call":    {[]StepFacts{planner, planner}, StepFacts{CountedPlannerCalls: 1, WorkingCalls: 1}, false},
		"after such a step":        {[]StepFacts{planner, {CountedPlannerCalls: 1, WorkingCalls: 1}, planner}, planner, false},
		"200 characters reset":     {[]StepFacts{planner, planner, {TextChars: 200}}, planner, false},
		"199 characters do not":    {[]StepFacts{planner, planner, {TextChars: 199}}, planner, true},
		"beside 200 characters":    {[]StepFacts{planner, planner}, StepFacts{CountedPlannerCalls: 1, TextChars: 200}, false},
		"a bad call never counts":  {[]StepFacts{{}, {}, {}}, planner, false},
	} {
		var p Pace
		for _, s := range c.before {
			p = p.Step(s)
		}
		if got := p.OveruseNow(c.now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if err := OveruseError(); err.Code != "planner_overuse_execute_next_step" || err.Message == "" {
		t.Errorf("error %+v", err)
	}
}

// After three more idle steps in a row the run ends: the first one is answered
// with an ask or a refusal.
func TestPaceIdle(t *testing.T) {
	idle, planner := StepFacts{}, StepFacts{CountedPlannerCalls: 1}
	planned := StepFacts{CountedPlannerCalls: 1, PlanChanged: true}
	worked := StepFacts{WorkingCalls: 1, WorkingEnded: true}
	for name, c := range map[string]struct {
		steps []StepFacts
		want  int // the step after which the run is spent; 0 for never
	}{
		"text only":               {[]StepFacts{planned, idle, idle, idle, idle}, 5},
		"long text only":          {[]StepFacts{planned, {TextChars: 900}, {TextChars: 900}, {TextChars: 900}, {TextChars: 900}}, 5},
		"the identical list":      {[]StepFacts{planned, planner, planner, planner, planner, planner}, 6},
		"denied calls":            {[]StepFacts{planned, {WorkingCalls: 1}, {WorkingCalls: 1}, {WorkingCalls: 1}, {WorkingCalls: 1}}, 5},
		"work between":            {[]StepFacts{planned, idle, idle, idle, worked, idle, idle, idle}, 0},
		"the plan changes":        {[]StepFacts{planned, idle, idle, idle, planned, idle, idle, idle}, 0},
		"ticks that change":       {[]StepFacts{planned, {AdvanceCalls: 1}, {AdvanceCalls: 1, PlanChanged: true}, {AdvanceCalls: 1}, {AdvanceCalls: 1, PlanChanged: true}}, 0},
		"ticks that change none":  {[]StepFacts{{AdvanceCalls: 1}, {AdvanceCalls: 1}, {AdvanceCalls: 1}, {AdvanceCalls: 1}}, 4},
		"lists and texts by turn": {[]StepFacts{planned, planner, planner, {TextChars: 300}, planner, planner, planner}, 6},
	} {
		var p Pace
		spent := 0
		for i, s := range c.steps {
			before := p
			p = p.Step(s)
			if spent == 0 && p.Spent() {
				spent = i + 1
			}
			if before.Step(s) != p {
				t.Errorf("%s: Step is not a pure function", name)
			}
		}
		if spent != c.want {
			t.Errorf("%s: spent after step %d, want %d", name, spent, c.want)
		}
	}
}

// At most three asks in a run, whatever lies between.
func TestPaceAsks(t *testing.T) {
	var p Pace
	for range 3 {
		if !p.MayAsk() {
			t.Fatal("an ask too few")
		}
		p = p.Asked().Step(StepFacts{WorkingCalls: 1, WorkingEnded: true})
	}
	if p.MayAsk() {
		t.Error("a fourth ask")
	}
}
