package planning

// NewState is the state of a chat without a plan, bound to its planner.
func NewState(m Mode) State { return State{Plan: Plan{Mode: m}} }

// Worked is the state after work that an advance may rest on: calls of working
// tools that ended with output, and characters of text parts.
func (s State) Worked(calls, textChars int) State {
	s.Guard.Calls += max(calls, 0)
	s.Guard.TextChars += max(textChars, 0)
	return s
}

// Open are the stages that are not terminal, in order.
func (s State) Open() []Stage {
	var open []Stage
	for _, st := range s.Plan.Stages {
		if !st.Status.IsTerminal() {
			open = append(open, st)
		}
	}
	return open
}

// Complete reports that no stage is open, or that there is no plan.
func (s State) Complete() bool { return len(s.Open()) == 0 }

// Owes are the stages that make debt and hold the gate of complete: the open
// ones, but none while the plan is carried and untouched.
func (s State) Owes() []Stage {
	if s.Carried {
		return nil
	}
	return s.Open()
}

// IsZero reports that the guard remembers nothing.
func (g Guard) IsZero() bool { return g.Calls == 0 && g.TextChars == 0 && len(g.Refused) == 0 }

// worked reports enough work for one advance.
func (g Guard) worked() bool { return g.Calls > 0 || g.TextChars >= WorkChars }

// refused reports that an advance of the stage was refused before.
func (g Guard) refused(id string) bool {
	for _, r := range g.Refused {
		if r == id {
			return true
		}
	}
	return false
}
