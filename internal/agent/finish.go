package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// end settles a run that an error ended, or leaves it to another owner.
func (r *run) end(err error) Outcome {
	r.cancel(err)
	var lost *logFailure
	switch {
	case errors.Is(err, ErrFenced):
		return Outcome{Err: ErrFenced}
	case errors.As(err, &lost):
		return r.lostLog(lost)
	case errors.Is(err, ErrStopRequested):
		return r.finish(stopped)
	case errors.Is(err, errRunTimeout):
		return r.finish(ending{
			state: part.Finished, reason: part.ReasonLength,
			note: fmt.Sprintf("the run reached its time limit of %s", r.limits.Run),
		})
	case abandons(err):
		return Outcome{Err: err}
	}
	if p, ok := AsProviderError(err); ok {
		return r.finish(failed(codeOf(p), p.Message, hintOf(p)))
	}
	slog.Error("run failed", "run", r.job.RunID, "error", err)
	return r.finish(failed("internal", "the run met a fault in the server and was ended", "The server's log says more."))
}

var stopped = ending{state: part.Stopped, reason: part.ReasonAbort}

// abandons: the error leaves the run as it is, for another owner.
func abandons(err error) bool {
	return errors.Is(err, ErrShutdown) || errors.Is(err, ErrOver) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// settles: a run that this error ended writes its own end.
func (r *run) settles(err error) bool {
	var lost *logFailure
	return !errors.Is(err, ErrFenced) && !errors.As(err, &lost) && !abandons(err)
}

// finish settles the run in one transaction. A stop that was asked for before
// it wins; where the log lost something, the broken step is taken back.
func (r *run) finish(end ending) Outcome {
	var lost *logFailure
	if r.step > r.completed && errors.As(r.sync(), &lost) {
		return r.lostLog(lost) // what would be settled is not all there
	}
	r.ending = true
	outcome := r.commitEnd(end, r.settled(end))
	if errors.Is(outcome.Err, ErrStopRequested) {
		end = stopped
		outcome = r.commitEnd(end, r.settled(end))
	} else if outcome.Err != nil && !errors.Is(outcome.Err, ErrFenced) {
		outcome = r.commitEnd(end, r.settled(end))
	}
	switch {
	case outcome.Err == nil:
		r.logLate()
		return outcome
	case errors.Is(outcome.Err, ErrFenced):
		return Outcome{Err: ErrFenced}
	}
	return r.lostLog(&logFailure{outcome.Err})
}

// settled is the entries that close what is open when the run ends so.
func (r *run) settled(end ending) []*part.Entry {
	return append(slices.Clip(r.closing), part.Settle(part.Build(r.entries), end.state, end.reason, r.now())...)
}

// lostLog ends a run whose log did not keep the step at hand: the step is
// taken back and the run failed. Where not even its start is known to be
// stored, or nothing can be stored now, another owner takes over.
func (r *run) lostLog(lost *logFailure) Outcome {
	if !r.durable {
		return Outcome{Err: lost}
	}
	var reset []*part.Entry
	if r.step > r.completed {
		reset = []*part.Entry{{Type: part.StepReset}}
	}
	outcome := r.commitEnd(failed(codeStorage, "the run could not be stored and was ended",
		"Look at the disk or the database, then run it again."), reset)
	if outcome.Err != nil {
		slog.Error("run left unsettled", "run", r.job.RunID, "error", lost, "again", outcome.Err)
	}
	return outcome
}

// commitEnd writes the finish entry after the entries before it.
func (r *run) commitEnd(end ending, entries []*part.Entry) Outcome {
	finish := &part.Entry{
		Type: part.Finish, State: end.state, FinishReason: end.reason, Note: end.note, Error: end.err,
		Usage: &r.usage, Debt: debtOf(r.state),
	}
	var plan *planning.State
	if r.state.HasPlan && !r.state.Complete() {
		plan = &r.state
	}
	ctx, cancel := r.writing()
	defer cancel()
	if err := r.log.Finish(ctx, plan, r.stamped(append(entries, finish))...); err != nil {
		return Outcome{Err: err}
	}
	return Outcome{State: end.state, Reason: end.reason}
}

// last keeps an entry for the run's last transaction.
func (r *run) last(e *part.Entry) {
	r.closing = append(r.closing, r.keep(e)...)
}

// codeOf is a provider error's code, or its kind.
func codeOf(p *ProviderError) string {
	if p.Code != "" {
		return p.Code
	}
	return string(p.Kind)
}

// hintOf says what the user can do about a provider's failure.
func hintOf(p *ProviderError) string {
	switch p.Kind {
	case KindOverloaded:
		return "The provider is overloaded or a quota is used up. Run it again later, or choose another model."
	case KindServer, KindBroken:
		return "The provider failed. Run it again."
	case KindSilence:
		return "The provider sent nothing for too long. Run it again, or raise --silence-limit."
	case KindAuth:
		return "Check the provider's API key."
	case KindContext:
		return "The chat is too long for this model. Start a new chat, or choose a model with a larger context."
	case KindConnect:
		return "Check that the provider's address can be reached from here."
	}
	return ""
}

// Interrupt settles a run that nobody will go on with: job.Done is its log so
// far, note says why, as a sentence. It runs nothing.
func Interrupt(ctx context.Context, job Job, log Log, note string) Outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newRun(ctx, cancel, job, log, newInbox())
	if err := r.restore(); err != nil {
		return Outcome{Err: err}
	}
	return r.finish(ending{state: part.Interrupted, reason: part.ReasonAbort, note: note})
}
