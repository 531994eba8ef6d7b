package fold

import (
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// RowStatus is the status of a row: the convergence table of docs/planning.md.
// closed says that the run's end closed the stage, not the model.
func RowStatus(stage planning.Status, state part.State, reason part.FinishReason) (status Status, closed bool) {
	switch {
	case stage.IsDone():
		return RowDone, false
	case stage == planning.Failed:
		return RowError, false
	case stage.IsTerminal():
		return RowCancelled, false
	case !stage.IsActive():
		return RowPending, false
	case !state.Terminal() && reason == "":
		if state == part.Waits {
			return RowWaiting, false
		}
		return RowInProgress, false
	}
	switch endReason(state, reason) {
	case part.ReasonError:
		return RowError, false
	case part.ReasonAbort:
		return RowAborted, false
	}
	return RowDone, true
}

// endReason is the finish reason of a run that ended, from its state where the
// log gives none.
func endReason(state part.State, reason part.FinishReason) part.FinishReason {
	switch {
	case reason != "":
		return reason
	case state == part.FailedRun:
		return part.ReasonError
	case state == part.Stopped || state == part.Interrupted:
		return part.ReasonAbort
	}
	return part.ReasonStop
}

// endState is the terminal state of a run, from its reason where the log gives
// none.
func endState(state part.State, reason part.FinishReason) part.State {
	switch {
	case state.Terminal():
		return state
	case reason == part.ReasonError:
		return part.FailedRun
	case reason == part.ReasonAbort:
		return part.Stopped
	}
	return part.Finished
}
