package views

import (
	"strconv"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// statusWord is a row's status in words; every icon carries it.
func statusWord(s fold.Status) string {
	switch s {
	case fold.RowInProgress:
		return "in progress"
	case fold.RowWaiting:
		return "waits for you"
	case fold.RowDone:
		return "done"
	case fold.RowError:
		return "failed"
	case fold.RowAborted:
		return "stopped"
	case fold.RowCancelled:
		return "cancelled"
	}
	return "pending"
}

// stateWord is a run's state in words.
func stateWord(s part.State) string {
	switch s {
	case part.Queued:
		return "queued"
	case part.Running:
		return "working"
	case part.Waits:
		return "waits for you"
	case part.Finished:
		return "finished"
	case part.FailedRun:
		return "failed"
	case part.Stopped:
		return "stopped"
	case part.Interrupted:
		return "interrupted"
	}
	return "no run yet"
}

// stateIcon is the icon of a run's state. Open stages keep a finished run from
// wearing a check.
func stateIcon(s part.State, debt int) string {
	switch s {
	case part.Running:
		return "heartbeat"
	case part.Waits:
		return "pause"
	case part.Finished:
		if debt > 0 {
			return "open"
		}
		return "check"
	case part.FailedRun:
		return "x"
	case part.Stopped, part.Interrupted:
		return "square"
	}
	return "circle"
}

// stateLabel is stateWord with the debt of a finished run.
func stateLabel(s part.State, debt int) string {
	if s == part.Finished && debt > 0 {
		return "finished, " + plural(debt, "stage") + " open"
	}
	return stateWord(s)
}

// toolWord is a tool card's state in words.
func toolWord(p *fold.Part) string {
	switch p.State {
	case part.StateInputStreaming:
		return "writing its input"
	case part.StateInputAvailable, part.StateApprovalResponded:
		return "running"
	case part.StateApprovalRequested:
		return "waits for approval"
	case part.StateOutputAvailable:
		if p.Tool.Preliminary {
			return "running"
		}
		return "done"
	case part.StateOutputError:
		return "failed"
	case part.StateOutputDenied:
		return "denied"
	case part.StateCancelled:
		return "cancelled"
	}
	return Line(string(p.State))
}

// toolIcon is a tool card's icon. ended: the run is over and nothing moves.
func toolIcon(p *fold.Part, ended bool) string {
	switch p.State {
	case part.StateInputStreaming, part.StateInputAvailable, part.StateApprovalResponded:
		if ended {
			return "square"
		}
		return "heartbeat"
	case part.StateApprovalRequested:
		return "pause"
	case part.StateOutputAvailable:
		if p.Tool.Preliminary && !ended {
			return "heartbeat"
		}
		return "check"
	case part.StateOutputError:
		return "x"
	case part.StateOutputDenied:
		return "dash"
	}
	return "square"
}

// modeWord names a planning mode for people.
func modeWord(m planning.Mode) string {
	switch m {
	case planning.Metronome:
		return "metronome: plan, then one stage after the other"
	case planning.Classic:
		return "classic: a to-do list"
	case planning.Checklist:
		return "checklist: strict steps"
	case planning.Steps:
		return "steps: free statuses, child runs"
	case planning.None:
		return "none: no plan"
	}
	return Line(string(m))
}

// reasonWord explains a finish reason that is not the model's own end.
func reasonWord(r part.FinishReason) string {
	switch r {
	case part.ReasonToolCalls:
		return "the step limit was reached"
	case part.ReasonLength:
		return "a time, token or output limit was reached"
	case part.ReasonContentFilter:
		return "the provider's content filter ended it"
	}
	return ""
}

func opWord(op string) string {
	switch op {
	case "created", "modified", "deleted", "moved":
		return op
	}
	return "changed"
}

func ofTotal(n, total int) string { return strconv.Itoa(n) + "/" + strconv.Itoa(total) }

// approveWord says what --approve means.
func approveWord(approve string) string {
	if approve == "always" {
		return "Tools run without asking (--approve always)"
	}
	return "Tools that change something ask first"
}

// title is the error page's heading.
func (v ErrorView) title() string {
	switch {
	case v.Status == 404:
		return "Not found"
	case v.Status >= 500:
		return "Something went wrong here"
	}
	return "That did not work"
}
