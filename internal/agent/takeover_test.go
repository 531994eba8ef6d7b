package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// again is a job that goes on with what an earlier owner logged.
func (tr *trial) again(log []*part.Entry, plays ...play) *trial {
	next := try(tr.t, tr.job.Mode, plays...)
	next.sweep = true
	next.job.Done = log
	next.job.Tools = tr.job.Tools
	next.job.Approve = tr.job.Approve
	next.log.entries = append(next.log.entries, log...)
	return next
}

// reply plays the answer that belongs to the state of the history, so that a
// step that is made again is answered as before.
func reply(plays ...play) func(Request) play {
	return func(req Request) play {
		n := 0
		for _, m := range req.Messages {
			if m.Role == RoleAssistant {
				n++
			}
		}
		return plays[min(n, len(plays)-1)]
	}
}

// HO-16: whatever was stored when the server died, the run goes on and ends;
// a tool that ended is not run again, one that may not be repeated runs once.
func TestTakeoverAtEveryEntry(t *testing.T) {
	answersOf := reply(
		answers(say("I read both."), calls("c1", "read_file", `{"path":"a"}`), calls("c2", "read_file", `{"path":"b"}`), tools()),
		answers(calls("c3", "write_file", `{"path":"r.md"}`), calls("c4", "read_file", `{"pa`), calls("c5", "nothing", ""), tools()),
		answers(say("All done."), stops()))
	start := func(t *testing.T) (*trial, map[string]int) {
		ran := map[string]int{}
		tr := try(t, planning.None, nil)
		tr.model.choose = answersOf
		tr.job.Tools = []Tool{readTool(), writeTool(func(id string) { ran[id]++ })}
		return tr, ran
	}
	whole, _ := start(t)
	whole.run()
	entries := whole.log.Entries()
	for n := 1; n < len(entries); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			first, ran := start(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			first.log.Committed = func(es []*part.Entry) {
				if es[len(es)-1].Seq >= int64(n) {
					cancel(ErrShutdown)
				}
			}
			if out := Run(ctx, first.job, first.log); !errors.Is(out.Err, ErrShutdown) {
				t.Fatalf("outcome %+v", out)
			}
			stored := first.log.Entries()[:n] // and what came later was lost in the crash
			second := first.again(stored, nil)
			second.model.choose = answersOf
			second.ended(part.Finished, part.ReasonStop)

			acted := false
			for _, e := range stored {
				acted = acted || e.Type == part.ToolStart
			}
			if total := sum(ran); acted && total > 1 || total == 0 {
				t.Errorf("write_file ran %v", ran)
			}
			texts := ""
			for _, p := range second.parts() {
				texts += p.Text
			}
			if texts != "I read both.All done." {
				t.Errorf("texts %q", texts)
			}
		})
	}
}

func sum(m map[string]int) int {
	n := 0
	for v := range maps.Values(m) {
		n += v
	}
	return n
}

// A call that began and did not end is told as such, never repeated.
func TestTakeoverOfACallWithAnUnknownOutcome(t *testing.T) {
	first := try(t, planning.None, answers(calls("c1", "write_file", `{"path":"a"}`), calls("c2", "read_file", `{"path":"b"}`), tools()))
	first.job.Tools = []Tool{readTool(), {
		Spec: ToolSpec{Name: "write_file", Schema: object("")},
		Run: func(ctx context.Context, _ ToolCall) ToolResult {
			<-ctx.Done()
			return ToolResult{}
		},
	}}
	ctx, cancel := context.WithCancelCause(t.Context())
	first.log.Committed = func(es []*part.Entry) {
		if es[len(es)-1].Type == part.ToolStart {
			cancel(ErrShutdown)
		}
	}
	Run(ctx, first.job, first.log)
	cancel(nil)

	second := first.again(first.log.Entries(), answers(say("Done."), stops()))
	second.job.Tools = []Tool{readTool(), writeTool(func(string) { t.Error("the tool ran a second time") })}
	second.ended(part.Finished, part.ReasonStop)
	want := []Content{
		{Kind: ContentToolResult, ToolCallID: "c1", ToolName: "write_file", IsError: true, Text: string(outcomeUnknown.JSON())},
		{Kind: ContentToolResult, ToolCallID: "c2", ToolName: "read_file", Text: "content of b"},
	}
	if diff := cmp.Diff(want, second.results(1)); diff != "" {
		t.Error(diff)
	}
	if second.model.calls() != 1 {
		t.Errorf("%d model calls: the step was made again", second.model.calls())
	}
}

// An approval that was open when the server stopped is still open.
func TestTakeoverOfAnOpenApproval(t *testing.T) {
	first := approving(t)
	runs := NewRuns()
	waits := make(chan struct{})
	first.log.Committed = func(es []*part.Entry) {
		if es[len(es)-1].Type == part.Wait {
			close(waits)
		}
	}
	if err := runs.Start(first.job, first.log, nil); err != nil {
		t.Fatal(err)
	}
	<-waits
	if err := runs.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	second := first.again(first.log.Entries(), answers(say("Done."), stops()))
	runs = NewRuns()
	second.decide(runs, Decision{Allow: true})
	second.await(runs)
	if p := second.tool("c1"); p.State != part.StateOutputAvailable {
		t.Errorf("the call is %s", p.State)
	}
	requests := 0
	for _, e := range second.log.Entries() {
		if e.Type == part.ToolApprovalRequest {
			requests++
		}
	}
	if requests != 1 {
		t.Errorf("asked %d times", requests)
	}
}

func TestTakeoverOfAnEndedRun(t *testing.T) {
	first := scripted(t)
	first.run()
	second := first.again(first.log.Entries(), answers(stops()))
	if out := Run(t.Context(), second.job, second.log); !errors.Is(out.Err, ErrOver) || second.model.calls() != 0 {
		t.Errorf("outcome %+v after %d calls", out, second.model.calls())
	}
}

func TestInterrupt(t *testing.T) {
	first := scripted(t)
	first.run()
	entries := first.log.Entries()
	for n := 1; n < len(entries); n++ {
		second := first.again(entries[:n], answers(stops()))
		out := Interrupt(t.Context(), second.job, second.log, "the server stopped four times in the same step")
		f := second.finish()
		if out.State != part.Interrupted || out.Reason != part.ReasonAbort || !strings.Contains(f.Note, "four times") {
			t.Errorf("after entry %d: %+v, %+v", n, out, f)
		}
		checkLog(t, second.log.Entries())
	}
}
