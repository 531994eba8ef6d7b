package planning

import (
	"strings"
	"testing"
)

// A settled plan is retired with its run; an open plan is carried: only its
// open stages, none active, the metronome's pointer at 0.
func TestCarry(t *testing.T) {
	metronome := must(t, must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b", "c")).Worked(1, 0), ToolAdvance, obj{"evidence": "e"})
	steps := must(t, NewState(Steps), ToolPlan, with(stepsOf("a:done b:running c:failed d:pending e:skipped f:running"), "title", "T"))
	checklist := must(t, NewState(Checklist), ToolUpdatePlan, checklistOf("A", "completed", "B", "in_progress", "C", "cancelled", "D", "pending"))
	for name, c := range map[string]struct {
		state State
		want  string
	}{
		"no plan":   {NewState(Classic), ""},
		"zero":      {State{}, ""},
		"empty":     {must(t, NewState(Classic), ToolWriteTodos, todosInput("")), ""},
		"settled":   {must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:d")), ""},
		"classic":   {must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:i c:p")), "b:p c:p"},
		"metronome": {metronome.Worked(4, 900), "b:p c:p"},
		"checklist": {checklist, "c1-2:p'B' c1-4:p'D'"},
		"steps":     {steps, "b:p'B' d:p'D' f:p'F'"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Carry(c.state)
			if ok != (c.want != "") || show(got.Plan.Stages) != c.want {
				t.Fatalf("carried %v: %s, want %s", ok, show(got.Plan.Stages), c.want)
			}
			if got.Plan.Mode != c.state.Plan.Mode || got.Plan.Pointer != 0 || !got.Guard.IsZero() {
				t.Errorf("state %+v", got)
			}
			if !ok {
				if got.HasPlan || got.Carried {
					t.Errorf("a retired plan left %+v", got)
				}
				return
			}
			if !got.Carried || !got.HasPlan || got.Plan.Revision != c.state.Plan.Revision || got.Plan.Title != c.state.Plan.Title {
				t.Errorf("state %+v", got)
			}
			// It makes no debt and gates nothing, but it is open and has a directive.
			if len(got.Owes()) != 0 || len(got.Open()) == 0 || got.Complete() {
				t.Errorf("owes %v, open %v", got.Owes(), got.Open())
			}
			if d := Directive(got); !strings.Contains(d, "if the request changed, re-plan with "+got.Plan.Mode.Tools()[0]) {
				t.Errorf("directive %s", d)
			}
			// Untouched it stays as it is, through the next run too.
			again, ok := Carry(got)
			if !ok || show(again.Plan.Stages) != c.want || !again.Carried {
				t.Errorf("carried again: %+v", again)
			}
		})
	}
}

// An accepted planner call of the new run touches the carried plan; a failed or
// refused one does not.
func TestCarriedIsTouchedByAnAcceptedCall(t *testing.T) {
	planned := must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))
	s, _ := Carry(planned.Worked(1, 0))

	res := call(t, s, ToolPlan, `{"stages":1}`)
	if !res.State.Carried {
		t.Error("touched by an error")
	}
	res = call(t, s, ToolAdvance, obj{"evidence": "e"})
	if !res.Refused || !res.State.Carried {
		t.Errorf("work of the last run was counted: %+v", res)
	}
	res = call(t, s.Worked(1, 0), ToolAdvance, obj{"evidence": "e"})
	if res.State.Carried || show(res.State.Plan.Stages) != "a:d b:i" || len(res.State.Owes()) != 1 {
		t.Errorf("advanced: %+v", res.State)
	}
	res = call(t, s, ToolPlan, stagesInput("a", "b"))
	if res.State.Carried || !res.Changed || show(res.State.Plan.Stages) != "a:i b:p" || res.State.Plan.Revision != 2 {
		t.Errorf("planned again: %+v", res.State)
	}
}

// An identical list touches a carried plan as well: same revision, no event.
func TestCarriedIsTouchedByAnIdenticalList(t *testing.T) {
	s, _ := Carry(must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:p")))
	res := call(t, s, ToolWriteTodos, todosInput("b:p"))
	if res.Changed || res.State.Carried || res.State.Plan.Revision != 1 || len(res.State.Owes()) != 1 {
		t.Errorf("%+v", res)
	}
}

// Done stages of an old task never appear in a new one.
func TestCarriedPlanRestoresNothingOld(t *testing.T) {
	s, _ := Carry(must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:i c:p")))
	s = must(t, s, ToolWriteTodos, todosInput("x:i"))
	if got := show(s.Plan.Stages); got != "x:i" {
		t.Errorf("got %s", got)
	}
}
