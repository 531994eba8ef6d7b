package agent

import (
	"fmt"

	"stagefold/internal/part"
)

// ending is how a run ends.
type ending struct {
	state  part.State
	reason part.FinishReason
	note   string
	err    *part.RunError
}

// stopCondition ends the run after a step, or not.
type stopCondition func(r *run, a *answer) (ending, bool)

// stopConditions are asked in this order after each step.
var stopConditions = []stopCondition{cutTooOften, pausedTooOften, filtered, outOfOutput, completed, stalled, askedTooOften, ownEnd}

// maxCuts and maxPauses bound repetitions that lead nowhere.
const (
	maxCuts   = 3
	maxPauses = 10
)

func cutTooOften(r *run, a *answer) (ending, bool) {
	if r.cuts < maxCuts {
		return ending{}, false
	}
	e := notRun(a)
	message := fmt.Sprintf("%d answers in a row held no call that could run: %s", r.cuts, e.Message)
	if e.Code == codeOutputLimit {
		message = fmt.Sprintf("%d answers in a row were cut by the output limit of the model", r.cuts)
	}
	return failed(e.Code, message, "Ask for less at once, or choose a model with a larger output limit."), true
}

func pausedTooOften(r *run, _ *answer) (ending, bool) {
	if r.pauses < maxPauses {
		return ending{}, false
	}
	return failed("paused", fmt.Sprintf("the provider paused its answer %d times in a row", r.pauses), ""), true
}

func filtered(_ *run, a *answer) (ending, bool) {
	return ending{
		state: part.Finished, reason: part.ReasonContentFilter, note: "the provider's content filter ended the answer",
	}, a.verdict == endFilter
}

func outOfOutput(_ *run, a *answer) (ending, bool) {
	return ending{
		state: part.Finished, reason: part.ReasonLength, note: "the answer reached the output limit of the model",
	}, a.verdict == endLength
}

func completed(r *run, a *answer) (ending, bool) {
	return r.ownEnding(), a.completed && len(r.state.Owes()) == 0
}

// stalled: step after step neither changed the plan nor did any work.
func stalled(r *run, a *answer) (ending, bool) {
	end := r.ownEnding()
	if end.note == "" {
		end.note = "ended after several steps in which no tool ran"
	}
	return end, r.pace.Spent() && !(r.asksUser(a) && len(r.state.Owes()) > 0)
}

// askedTooOften: the run would be asked once more than it may.
func askedTooOften(r *run, a *answer) (ending, bool) {
	return r.ownEnding(), r.wantsEnd(a) && len(r.state.Owes()) > 0 && !r.pace.MayAsk() && !r.asksUser(a)
}

func ownEnd(r *run, a *answer) (ending, bool) {
	return r.ownEnding(), a.verdict == endNormal && len(r.state.Owes()) == 0
}

// overLimit: the next step would be one too many.
func (r *run) overLimit() (ending, bool) {
	return ending{
		state: part.Finished, reason: part.ReasonToolCalls,
		note: fmt.Sprintf("the run reached its limit of %d steps", r.limits.Steps),
	}, r.step >= r.limits.Steps
}

// ownEnding is the run's own end, with its debt said where there is one.
func (r *run) ownEnding() ending {
	end := ending{state: part.Finished, reason: part.ReasonStop}
	if debt := debtOf(r.state); len(debt) > 0 {
		end.note = debtNote(debt)
	}
	return end
}

func failed(code, message, hint string) ending {
	return ending{
		state: part.FailedRun, reason: part.ReasonError,
		err: &part.RunError{Code: code, Message: message, Hint: hint},
	}
}

// wantsEnd: the model means to end the run with this step.
func (r *run) wantsEnd(a *answer) bool {
	return a.verdict == endNormal || a.refused
}

// asksUser: the step closes with a question to the user.
func (r *run) asksUser(a *answer) bool {
	return a.verdict == endNormal && closesWithQuestion(a.text.String())
}
