package fold

import (
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// ending is a state of the run with its finish reason.
type ending struct {
	state  part.State
	reason part.FinishReason
}

var endings = []ending{
	{part.Queued, ""}, {part.Running, ""}, {part.Waits, ""},
	{part.Finished, part.ReasonStop}, {part.Finished, part.ReasonToolCalls}, {part.Finished, part.ReasonLength},
	{part.Finished, part.ReasonContentFilter}, {part.FailedRun, part.ReasonError},
	{part.Stopped, part.ReasonAbort}, {part.Interrupted, part.ReasonAbort},
	// a log that gives one of the two
	{part.Finished, ""}, {part.FailedRun, ""}, {part.Stopped, ""}, {part.Interrupted, ""},
	{part.Running, part.ReasonStop}, {part.Running, part.ReasonError}, {part.Running, part.ReasonAbort},
}

// TestRowStatus is the whole convergence table of docs/planning.md: every
// status of a stage in every state of the run.
func TestRowStatus(t *testing.T) {
	same := func(s Status) [17]Status {
		var row [17]Status
		for i := range row {
			row[i] = s
		}
		return row
	}
	active := [17]Status{
		RowInProgress, RowInProgress, RowWaiting,
		RowDone, RowDone, RowDone, RowDone, RowError, RowAborted, RowAborted,
		RowDone, RowError, RowAborted, RowAborted,
		RowDone, RowError, RowAborted,
	}
	table := map[planning.Status][17]Status{
		planning.InProgress: active,
		planning.Running:    active,
		planning.Done:       same(RowDone),
		planning.Completed:  same(RowDone),
		planning.Pending:    same(RowPending),
		planning.Cancelled:  same(RowCancelled),
		planning.Skipped:    same(RowCancelled),
		planning.Failed:     same(RowError),
		"":                  same(RowPending),
	}
	for stage, row := range table {
		for i, end := range endings {
			got, closed := RowStatus(stage, end.state, end.reason)
			if got != row[i] {
				t.Errorf("%s, %s %s: %s, want %s", stage, end.state, end.reason, got, row[i])
			}
			if want := stage.IsActive() && got == RowDone; closed != want {
				t.Errorf("%s, %s %s: closed by the run's end: %v", stage, end.state, end.reason, closed)
			}
		}
	}
}

func TestIcons(t *testing.T) {
	icons := map[Status]string{
		RowPending: "circle", RowInProgress: "heartbeat", RowWaiting: "pause", RowDone: "check",
		RowError: "x", RowAborted: "square", RowCancelled: "dash",
	}
	for status, icon := range icons {
		settled := status != RowPending && status != RowInProgress && status != RowWaiting
		if got := status.Icon(); got != icon || (&Row{Status: status}).Settled() != settled {
			t.Errorf("%s: icon %s, settled %v", status, got, !settled)
		}
	}
}

// TestCurrentStage: the one in progress, else the last terminal one, else the
// first; none where nothing is open.
func TestCurrentStage(t *testing.T) {
	for list, want := range map[string]int{
		"":                -1,
		"a:p":             0,
		"a:p b:p":         0,
		"a:d b:p c:p":     0,
		"a:d b:d c:p":     1,
		"a:d b:i c:p":     1,
		"a:p b:i c:i":     1,
		"a:p b:d c:p":     1,
		"a:d":             -1,
		"a:d b:f c:s":     -1,
		"a:p b:f c:s d:p": 2,
	} {
		if got := currentOf(planOf("steps", list).Stages); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
