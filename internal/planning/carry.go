package planning

// Carry is the state with which the next run begins: the open stages of an open
// plan, none of them active, the metronome's pointer at the first. It is false,
// and the state is empty, where no stage is open: such a plan is retired with
// its run (docs/planning.md, 'The next turn'). What the guard knew of work
// belongs to the run that ended.
func Carry(s State) (State, bool) {
	open := s.Open()
	if !s.HasPlan || len(open) == 0 {
		return NewState(s.Plan.Mode), false
	}
	for i := range open {
		open[i].Status = Pending
	}
	return State{
		Plan: Plan{
			Mode:     s.Plan.Mode,
			Title:    s.Plan.Title,
			Revision: s.Plan.Revision,
			Stages:   open,
		},
		HasPlan: true,
		Carried: true,
	}, true
}
