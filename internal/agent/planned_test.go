package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// plannedPlays are the answers of a run of two stages, one for each state of
// the history.
var plannedPlays = []play{
	answers(say("Two things."), calls("p", "plan", stages("a", "b")), reads("w1"), tools()),
	answers(calls("v1", "advance", `{"evidence":"read it"}`), tools()),
	answers(calls("w2", "write_file", `{"path":"b.md"}`), calls("v2", "advance", `{"evidence":"wrote it"}`), tools()),
	// The advance matters only where a takeover left the outcome of w2 unknown:
	// v2 was refused then. Else no stage is active any more.
	answers(say("All done."), calls("v3", "advance", `{"evidence":"looked at it"}`), calls("k", "complete", `{}`), tools()),
}

func planned(t *testing.T) *trial {
	tr := try(t, planning.Metronome, nil)
	tr.model.choose = reply(plannedPlays...)
	return tr
}

// The plan that the chat has and the plan that the log tells never differ:
// not after a stop, not after a commit that failed.
func (tr *trial) checkPlan() {
	tr.t.Helper()
	changes := len(tr.types(part.DataPlan))
	if n := len(tr.log.Revisions()); n != changes {
		tr.t.Errorf("%d revisions are stored and %d logged", n, changes)
	}
	state, open := tr.log.State()
	if got := tr.shown(); open && got != listed(state.Plan.Stages) {
		tr.t.Errorf("the chat has %s, the log tells %s", listed(state.Plan.Stages), got)
	}
}

func TestPlannedRunStoppedAtEveryEntry(t *testing.T) {
	whole := planned(t)
	whole.ended(part.Finished, part.ReasonStop)
	whole.checkPlan()
	if got := whole.shown(); got != "a:d b:d" {
		t.Fatalf("the plan is %s", got)
	}
	for seq := 1; seq < len(whole.log.Entries()); seq++ {
		t.Run(fmt.Sprint(seq), func(t *testing.T) {
			tr := planned(t).swept()
			if out := tr.stopAt(seq); out.State != part.Stopped {
				t.Fatalf("outcome %+v", out)
			}
			tr.check()
			tr.checkPlan()
		})
	}
}

func TestPlannedRunWhoseLogFailsAtEveryCommit(t *testing.T) {
	whole := planned(t)
	whole.run()
	for n := 1; n <= whole.log.Commits(); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			tr := planned(t).swept()
			tr.job.Limits.Steps = 8
			tr.log.Fail = func(commit int) error {
				if commit == n {
					return errors.New("disk full")
				}
				return nil
			}
			out := tr.run()
			if changes := len(tr.types(part.DataPlan)); changes != len(tr.log.Revisions()) {
				t.Errorf("%d revisions are stored and %d logged", len(tr.log.Revisions()), changes)
			}
			if out.Err == nil && tr.finish().State != out.State {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}

func TestPlannedRunTakenOverAtEveryEntry(t *testing.T) {
	whole := planned(t)
	whole.run()
	for n := 1; n < len(whole.log.Entries()); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			first := planned(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			first.log.Committed = func(es []*part.Entry) {
				if es[len(es)-1].Seq >= int64(n) {
					cancel(ErrShutdown)
				}
			}
			Run(ctx, first.job, first.log)

			second := first.again(first.log.Entries(), nil)
			second.model.choose = reply(plannedPlays...)
			if state, ok := first.log.State(); ok {
				second.job.Plan = state
			}
			if f := second.ended(part.Finished, part.ReasonStop); len(f.Debt) != 0 {
				t.Errorf("debt %+v", f.Debt)
			}
			if got := second.shown(); got != "a:d b:d" {
				t.Errorf("the plan is %s", got)
			}
		})
	}
}
