package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

var (
	errSilence     = errors.New("the provider sent nothing")
	errRunTimeout  = errors.New("the run's time is used up")
	errToolTimeout = errors.New("the tool reached its time limit")
	errNotStored   = errors.New("the plan was not stored")
)

// Run works on the job until the run has ended and returns how. It writes to
// log from one goroutine only. Cancelling ctx with the cause ErrStopRequested
// ends the run as stopped; any other cause abandons it: nothing more is
// written, and Outcome.Err says why.
func Run(ctx context.Context, job Job, log Log) Outcome {
	return work(ctx, job, log, newInbox())
}

// run is one run at work. One goroutine uses it.
type run struct {
	job    Job
	limits Limits
	log    Log
	in     *inbox
	ctx    context.Context // of the whole run; its cause says why it was cancelled
	cancel context.CancelCauseFunc
	clock  *clock

	system    string
	prior     *historian // the chat's earlier turns, made messages once
	specs     []ToolSpec
	tools     map[string]*Tool // working tools by name
	planTools map[string]bool
	schemas   schemas

	entries   []*part.Entry // what this run has logged, deltas joined to one a part
	late      latecomers
	closing   []*part.Entry // entries for the end, once ending is set
	ending    bool
	durable   bool // something of this run is known to be stored
	step      int
	completed int // the last step that is stored as completed; never above step
	state     planning.State
	reminders reminders
	usage     part.Usage
	cuts      int // answers in a row of which no call could run
	pauses    int // paused answers in a row
	pace      planning.Pace
	work      stepWork
	ids       map[string]int  // last number given out, by kind
	callIDs   map[string]bool // taken tool call ids
	allowed   map[string]bool // tools that the user allowed for the rest of the run
}

// stepWork is what the step at hand has done so far.
type stepWork struct {
	calls, chars         int // working calls that ended with output; characters of text
	toldCalls, toldChars int // of these the planner's guard knows
	changed              bool
}

// work is Run with the inbox that Runs fills.
func work(ctx context.Context, job Job, log Log, in *inbox) (outcome Outcome) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newRun(ctx, cancel, job, log, in)
	defer r.clock.stop()
	defer func() {
		if p := recover(); p != nil {
			outcome = r.end(fmt.Errorf("a fault in the step loop: %v\n%s", p, debug.Stack()))
		}
	}()
	end, err := r.steps()
	if err != nil {
		return r.end(err)
	}
	return r.finish(end)
}

func newRun(ctx context.Context, cancel context.CancelCauseFunc, job Job, log Log, in *inbox) *run {
	limits := job.Limits.orDefault()
	if job.Now == nil {
		job.Now = time.Now
	}
	r := &run{
		job: job, limits: limits, log: log, in: in, ctx: ctx, cancel: cancel,
		clock:     &clock{left: limits.Run, expired: cancel},
		prior:     priorHistory(job.Prior, job.ModelName),
		system:    system(job.Workspace, job.Mode),
		specs:     specsOf(job, limits.Plan),
		tools:     map[string]*Tool{},
		planTools: map[string]bool{},
		ids:       map[string]int{},
		callIDs:   map[string]bool{},
		allowed:   map[string]bool{},
		state:     planning.NewState(job.Mode),
	}
	for i, t := range job.Tools {
		if t.Spec.Name != askTool && t.Spec.Name != completeTool && r.tools[t.Spec.Name] == nil {
			r.tools[t.Spec.Name] = &job.Tools[i]
		}
	}
	for _, name := range job.Mode.Tools() {
		r.planTools[name] = true
		delete(r.tools, name)
	}
	r.reminders.set(keyBaseline, baseline)
	return r
}

// steps is the step loop: prepare, model, entries, tools, stop conditions.
func (r *run) steps() (ending, error) {
	r.clock.start()
	a, err := r.begin()
	if err != nil {
		return ending{}, err
	}
	for {
		if r.ctx.Err() != nil {
			return ending{}, context.Cause(r.ctx)
		}
		if a != nil {
			end, over, err := r.after(a)
			if over || err != nil {
				return end, err
			}
		}
		if end, over := r.overLimit(); over {
			return end, nil
		}
		if a, err = r.oneStep(); err != nil {
			return ending{}, err
		}
	}
}

// oneStep makes one model call, runs the tools it asked for and completes the
// step in the log.
func (r *run) oneStep() (*answer, error) {
	r.step++
	r.work = stepWork{}
	r.logLate()
	req := r.prepare()
	if err := r.emit(&part.Entry{Type: part.StartStep}); err != nil {
		return nil, err
	}
	a, err := r.ask(req)
	r.usage = r.usage.Plus(a.usage)
	if err != nil {
		return a, err
	}
	return a, r.completeStep(a)
}

// completeStep gives every call its result and stores the step as completed.
func (r *run) completeStep(a *answer) error {
	a.verdict = decide(a.reason, a.shape(), a.broken != "", a.pause)
	if err := r.act(a); err != nil {
		return err
	}
	r.countWork()
	finish := &part.Entry{Type: part.FinishStep, FinishReason: a.reason}
	if a.usage != (part.Usage{}) {
		finish.Usage = &a.usage
	}
	var entries []*part.Entry
	if line := reflectLine(a.text.String()); line != "" {
		entries = append(entries, activity(part.PhaseReflect, line))
	}
	entries = r.keep(append(entries, finish)...)
	ctx, cancel := r.writing()
	defer cancel()
	if err := r.stored(r.log.CommitStep(ctx, r.step, r.state, entries...)); err != nil {
		return err
	}
	r.completed = r.step
	return nil
}

// act does what the verdict says about the answer's calls; the verdicts that
// are not named come with calls only where the content filter cut them off.
func (r *run) act(a *answer) error {
	switch a.verdict {
	case runCalls:
		return r.execute(r.ctx, a)
	case tellModel:
		return a.refuse(notRun(a))
	}
	return a.refuse(&planning.ToolError{Code: codeFiltered, Message: "not run: the content filter ended the answer"})
}

// notRun is why no call of an answer may run.
func notRun(a *answer) *planning.ToolError {
	switch {
	case a.broken != "":
		return &planning.ToolError{Code: codeBrokenCall, Message: "not run: " + a.broken + "; make one call at a time"}
	case a.reason == part.ReasonLength:
		return &planning.ToolError{
			Code:    codeOutputLimit,
			Message: "not run: the call was cut by the output limit of the model; send less in one call, for instance write a long file in several edits",
		}
	}
	if len(a.calls) == 0 {
		return &planning.ToolError{Code: codeBrokenCall, Message: "your answer announced a tool call and held none; make the call now, or give the answer"}
	}
	return &planning.ToolError{Code: codeBrokenCall, Message: "not run: the call's arguments did not reach their end"}
}

// after decides what follows a completed step: the end, a wait for the user,
// an ask about open stages, or just the next step.
func (r *run) after(a *answer) (ending, bool, error) {
	r.count(a)
	for _, stops := range stopConditions {
		if end, over := stops(r, a); over {
			return end, true, nil
		}
	}
	switch {
	case a.settled:
		return ending{}, false, nil // a takeover found it asked already
	case r.asksUser(a):
		r.pace = planning.Pace{Asks: r.pace.Asks}
		return ending{}, false, r.awaitAnswer(r.ctx, question(a.text.String()))
	case r.wantsEnd(a):
		return ending{}, false, r.askForDebt(a)
	case a.verdict == tellModel && len(a.calls) == 0:
		return ending{}, false, r.tell(notRun(a).Message)
	}
	return ending{}, false, nil
}

// count keeps the run's counters of repetitions.
func (r *run) count(a *answer) {
	r.cuts, r.pauses = next(r.cuts, a.verdict == tellModel), next(r.pauses, a.verdict == askAgain)
	if a.verdict != askAgain {
		r.pace = r.pace.Step(r.facts(a))
	}
}

func next(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}
