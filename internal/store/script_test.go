package store

import (
	"context"
	"errors"

	"stagefold/internal/part"
)

// write is one call of a scripted owner.
type write func(ctx context.Context, l *RunLog) error

func appending(entries ...*part.Entry) write {
	return func(_ context.Context, l *RunLog) error { return l.Append(entries...) }
}

// output is the place in the script of SaveOutput.
const output = 14

// script is what the owner of a run does: two steps with reasoning, a plan, a
// call with a whole output, a question, an approval, and the answer.
func script() []write {
	p1, p2 := plan(1, 0, 2), plan(2, 1, 2)
	yes := true
	return []write{
		appending(&part.Entry{Type: part.Start, Data: start().Data}),
		appending(startStep(1), &part.Entry{Type: part.ReasoningStart, Step: 1, ID: "r"}),
		appending(&part.Entry{Type: part.ReasoningDelta, Step: 1, ID: "r", Delta: "hm"}),
		appending(&part.Entry{Type: part.ReasoningEnd, Step: 1, ID: "r"}, callStart(1, "p"), callDelta(1, "p", `{"stages"`), callDelta(1, "p", `:[]}`)),
		appending(callInput(1, "p", `{"stages":[]}`)),
		func(ctx context.Context, l *RunLog) error {
			return l.CommitPlan(ctx, p1, change(p1), callOutput(1, "p", `{"plan":{}}`), &part.Entry{Type: part.DataPlan, Step: 1, Data: []byte(`{}`)})
		},
		func(ctx context.Context, l *RunLog) error { return l.CommitStep(ctx, 1, p1, finishStep(1, 3)) },
		appending(startStep(2), textStart(2, "t"), delta(2, "t", "Now "), delta(2, "t", "a tool.")),
		appending(delta(2, "t", " And more.")),
		appending(textEnd(2, "t"), callStart(2, "c"), callDelta(2, "c", `{"path":`), callDelta(2, "c", `"a"}`), callInput(2, "c", `{"path":"a"}`)),
		appending(&part.Entry{Type: part.ToolApprovalRequest, Step: 2, ToolCallID: "c", ApprovalID: "ap"}),
		func(ctx context.Context, l *RunLog) error {
			return l.SetWaiting(ctx, []part.Waiting{{Kind: "approval", RunID: "r", ToolCallID: "c"}}, &part.Entry{Type: part.Wait, Step: 2})
		},
		func(ctx context.Context, l *RunLog) error {
			return l.SetWaiting(ctx, nil, &part.Entry{Type: part.Resume, Step: 2}, &part.Entry{Type: part.ToolApprovalAnswer, Step: 2, ApprovalID: "ap", Approved: &yes})
		},
		appending(&part.Entry{Type: part.ToolStart, Step: 2, ToolCallID: "c"}),
		func(ctx context.Context, l *RunLog) error {
			return l.SaveOutput(ctx, "c", "text/plain", []byte("whole"))
		},
		appending(callOutput(2, "c", `"who"`)),
		appending(&part.Entry{Type: part.Child, Step: 2, Data: []byte(`{"runId":"k","goal":"g","state":"running"}`)}),
		func(ctx context.Context, l *RunLog) error { return l.CommitPlan(ctx, p2, change(p2)) },
		func(ctx context.Context, l *RunLog) error { return l.CommitStep(ctx, 2, p2, finishStep(2, 4)) },
		appending(startStep(3), textStart(3, "u"), delta(3, "u", "The answer "), delta(3, "u", "is 7.")),
		func(ctx context.Context, l *RunLog) error { return l.Sync(ctx) },
		func(ctx context.Context, l *RunLog) error {
			return l.Finish(ctx, &p2, textEnd(3, "u"), finishStep(3, 5), finish(part.Finished))
		},
	}
}

// play runs the script as an owner does that ends its run where it cannot go
// on: a failed write is told, the step is taken back, the run failed.
func play(ctx context.Context, l *RunLog) (failed error) {
	p := plan(1, 0, 2)
	for _, w := range script() {
		if failed = w(ctx, l); failed != nil {
			break
		}
	}
	if failed == nil || errors.Is(failed, ErrFenced) {
		return failed
	}
	for range 3 { // as long as the database may be away
		if err := l.Finish(ctx, &p, &part.Entry{Type: part.StepReset}, finish(part.FailedRun)); err == nil {
			break
		}
	}
	return failed
}
