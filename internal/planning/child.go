package planning

import (
	"slices"
	"strings"
	"time"
)

// ByRuntime stands in Stage.ResolvedBy of a step that the runtime closed.
const ByRuntime = "runtime"

// RunningStep is the step that a child run spawned now belongs to: the one that
// is running, if exactly one is (docs/planning.md, 'steps'). With none or
// several the child is unattached.
func (s State) RunningStep() (Stage, bool) {
	if s.Plan.Mode != Steps {
		return Stage{}, false
	}
	var running []Stage
	for _, st := range s.Plan.Stages {
		if st.Status == Running {
			running = append(running, st)
		}
	}
	if len(running) != 1 {
		return Stage{}, false
	}
	return running[0], true
}

// JoinChild is the index of the stage that a child run with that stamp belongs
// to: by id, else by label, trimmed and without regard to case; -1 for none.
func JoinChild(stages []Stage, id, label string) int {
	if i := indexOf(stages, id); i >= 0 && id != "" {
		return i
	}
	label = strings.TrimSpace(label)
	if label == "" {
		return -1
	}
	return slices.IndexFunc(stages, func(s Stage) bool {
		return strings.EqualFold(strings.TrimSpace(s.Content), label)
	})
}

// ResolveChild closes a running step whose attached children have all
// succeeded (the caller knows that) and marks it ByRuntime. It is false, and
// nothing changes, where the step is not running: only success is ever derived.
func ResolveChild(s State, stageID string, at time.Time) (State, bool) {
	i := indexOf(s.Plan.Stages, stageID)
	if s.Plan.Mode != Steps || i < 0 || s.Plan.Stages[i].Status != Running {
		return s, false
	}
	stages := slices.Clone(s.Plan.Stages)
	stages[i].Status, stages[i].ResolvedBy = Done, ByRuntime
	s.Plan.SettledAt = settledAt(s.Plan, stages, at)
	s.Plan.Stages = stages
	s.Plan.Revision++
	return s, true
}
