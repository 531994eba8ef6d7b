package planning

import "testing"

// Open, owed, complete: by status, whichever planner wrote it.
func TestStateOpen(t *testing.T) {
	for _, c := range []struct {
		status Status
		open   bool
	}{
		{Pending, true}, {InProgress, true}, {Running, true},
		{Done, false}, {Completed, false}, {Cancelled, false}, {Skipped, false}, {Failed, false},
	} {
		s := State{Plan: Plan{Stages: []Stage{{ID: "a", Status: c.status}}}, HasPlan: true}
		if len(s.Open()) == 1 != c.open || s.Complete() == c.open || len(s.Owes()) == 1 != c.open {
			t.Errorf("%s: open %v, complete %v, owes %v", c.status, s.Open(), s.Complete(), s.Owes())
		}
		s.Carried = true
		if len(s.Owes()) != 0 {
			t.Errorf("%s: a carried plan owes %v", c.status, s.Owes())
		}
	}
	if !(State{}).Complete() {
		t.Error("without a plan something is open")
	}
}

// Changing what Open gives changes no state.
func TestStateOpenIsACopy(t *testing.T) {
	s := must(t, NewState(Classic), ToolWriteTodos, todosInput("a:i b:p"))
	s.Open()[0].Content = "changed"
	if s.Plan.Stages[0].Content != "a" {
		t.Error("the state changed")
	}
}
