package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// scripted is a run with a bit of everything.
func scripted(t *testing.T) *trial {
	tr := try(t, planning.None,
		answers(think("hm", "s"), say("I read both."), calls("c1", "read_file", `{"path":"a"}`), calls("c2", "read_file", `{"path":"b"}`), tools()),
		answers(calls("c3", "write_file", `{"path":"r.md"}`), calls("c4", "read_file", `{"pa`), calls("c5", "nothing", ""), tools()),
		answers(say("All"), []Chunk{{Kind: ChunkSource, URL: "https://example.test", Title: "a source"}}, say("done."), stops()))
	tr.job.Limits.Grace = time.Second
	return tr
}

// HO-05, HO-17: stopped at any entry, the run settles at once as stopped, once
// and for ever, and the chat can go on.
func TestStopAtEveryEntry(t *testing.T) {
	whole := scripted(t)
	whole.run()
	last := len(whole.log.Entries())
	for seq := 1; seq < last; seq++ {
		t.Run(fmt.Sprint(seq), func(t *testing.T) {
			tr := scripted(t).swept()
			out := tr.stopAt(seq)
			tr.check()
			if out.Err != nil || out.State != part.Stopped || out.Reason != part.ReasonAbort {
				t.Fatalf("outcome %+v", out)
			}
			if f := tr.finish(); f.State != part.Stopped || f.FinishReason != part.ReasonAbort {
				t.Errorf("finish %+v", f)
			}
			if tr.model.open != 0 {
				t.Errorf("%d streams still open", tr.model.open)
			}
			next := history([]Turn{{UserText: "Do it.", Entries: tr.log.Entries()}}, "go on", "test/model", nil)
			checkMessages(t, "next run", next)
		})
	}
}

// HO-17 b, g: Stop ends a stream that hangs, and a second Stop changes nothing.
func TestStopWhileTextStreams(t *testing.T) {
	tr := try(t, planning.None, hangs(say("Half a sen")))
	runs := NewRuns()
	outcome := make(chan Outcome, 1)
	shown := make(chan struct{})
	tr.log.Committed = func(entries []*part.Entry) {
		if entries[len(entries)-1].Type == part.TextStart {
			close(shown)
		}
	}
	if err := runs.Start(tr.job, tr.log, func(o Outcome) { outcome <- o }); err != nil {
		t.Fatal(err)
	}
	<-shown
	if !runs.Stop("run-1") {
		t.Error("the run is live but Stop says it is not")
	}
	runs.Stop("run-1")
	if out := <-outcome; out.State != part.Stopped {
		t.Errorf("outcome %+v", out)
	}
	if runs.Stop("run-1") || runs.Live("run-1") {
		t.Error("the run is still live")
	}
	tr.check()
	if p := tr.parts()[0]; p.Text != "Half a sen" || p.State != part.StateDone {
		t.Errorf("the text so far is %q (%s)", p.Text, p.State)
	}
}

// HO-17: a stopped tool hands in what it has and is told as stopped by the
// user; one that does not listen does not hold the run up.
func TestStopWhileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		began := make(chan struct{}, 3)
		tr := try(t, planning.None, answers(
			calls("c1", "listens", `{}`), calls("c2", "deaf", `{}`), calls("c3", "fails", `{}`), tools()))
		tr.job.Tools = []Tool{
			tool("listens", func(ctx context.Context, _ ToolCall) ToolResult {
				began <- struct{}{}
				<-ctx.Done()
				return ToolResult{Output: quote("line 1"), Files: []part.FileChange{{Path: "a", Op: "modified"}}}
			}),
			tool("deaf", func(context.Context, ToolCall) ToolResult {
				began <- struct{}{}
				<-free
				return ToolResult{Output: quote("late")}
			}),
			tool("fails", func(ctx context.Context, _ ToolCall) ToolResult {
				began <- struct{}{}
				<-ctx.Done()
				return ToolResult{Err: &planning.ToolError{Code: "killed", Message: "signal: killed"}}
			}),
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			for range 3 {
				<-began
			}
			cancel(ErrStopRequested)
		}()
		start := time.Now()
		if out := Run(ctx, tr.job, tr.log); out.State != part.Stopped {
			t.Fatalf("outcome %+v", out)
		}
		close(free)
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %s", took)
		}
		tr.check()
		for id, says := range map[string]string{"c1": "output so far:\nline 1", "c2": "did not end", "c3": "signal: killed"} {
			p := tr.tool(id)
			if p.State != part.StateCancelled || !strings.Contains(p.Tool.ErrorText, "stopped by the user") || !strings.Contains(p.Tool.ErrorText, says) {
				t.Errorf("%s is %s: %s", id, p.State, p.Tool.ErrorText)
			}
		}
		if files := tr.tool("c1").Tool.Files; len(files) != 1 {
			t.Errorf("files of the stopped tool: %+v", files)
		}
	})
}

// The durable cancel flag comes back from the log.
func TestStopByTheLog(t *testing.T) {
	for n := 1; n <= 12; n++ {
		tr := scripted(t).swept()
		tr.log.Stop = func(commit int) bool { return commit == n }
		out := tr.run()
		if out.State != part.Stopped || out.Err != nil {
			t.Errorf("commit %d: outcome %+v", n, out)
		}
		tr.finish()
	}
}

// HO-16: a run that is shut down writes nothing more.
func TestShutdownWritesNothing(t *testing.T) {
	for seq := 1; seq < 20; seq++ {
		tr := scripted(t).swept()
		ctx, cancel := context.WithCancelCause(t.Context())
		after := 0
		tr.log.Committed = func(entries []*part.Entry) {
			if ctx.Err() != nil && !slices.ContainsFunc(entries, func(e *part.Entry) bool { return e.Type == part.FinishStep }) {
				after++
			}
			if entries[len(entries)-1].Seq >= int64(seq) {
				cancel(ErrShutdown)
			}
		}
		out := Run(ctx, tr.job, tr.log)
		if !errors.Is(out.Err, ErrShutdown) || out.State != "" {
			t.Errorf("outcome %+v", out)
		}
		entries := tr.log.Entries()
		if entries[len(entries)-1].Type == part.Finish {
			t.Errorf("shut down at %d: the run was settled", seq)
		}
		cancel(nil)
	}
}

func TestRunTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := try(t, planning.None, hangs(say("Thinking")))
		tr.job.Limits.Run = time.Minute
		tr.job.Limits.Silence = time.Hour
		began := time.Now()
		finish := tr.ended(part.Finished, part.ReasonLength)
		if took := time.Since(began); took != time.Minute || !strings.Contains(finish.Note, "time limit of 1m") {
			t.Errorf("after %s: %q", took, finish.Note)
		}
	})
}

func TestRunTimeoutWhileAToolRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := try(t, planning.None, answers(calls("c1", "slow", `{}`), tools()))
		tr.job.Limits.Run = time.Minute
		tr.job.Tools = []Tool{tool("slow", func(ctx context.Context, _ ToolCall) ToolResult {
			<-ctx.Done()
			return ToolResult{Output: quote("half")}
		})}
		tr.ended(part.Finished, part.ReasonLength)
		if p := tr.tool("c1"); p.State != part.StateCancelled || strings.Contains(p.Tool.ErrorText, "by the user") {
			t.Errorf("%s: %s", p.State, p.Tool.ErrorText)
		}
	})
}

func TestSilenceLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alive := func(ctx context.Context, yield func(Chunk, error) bool) {
			for range 5 {
				time.Sleep(50 * time.Second)
				if !yield(Chunk{Kind: ChunkAlive}, nil) {
					return
				}
			}
			hangs(say("Half"))(ctx, yield)
		}
		tr := try(t, planning.None, alive)
		tr.job.Limits.Silence = time.Minute
		began := time.Now()
		finish := tr.ended(part.FailedRun, part.ReasonError)
		if took := time.Since(began); took != 310*time.Second {
			t.Errorf("it took %s", took)
		}
		want := &part.RunError{Code: "silence", Message: "the provider sent nothing for 1m0s", Hint: hintOf(&ProviderError{Kind: KindSilence})}
		if diff := cmp.Diff(want, finish.Error); diff != "" {
			t.Error(diff)
		}
		if tr.model.calls() != 1 {
			t.Errorf("%d model calls", tr.model.calls())
		}
	})
}

// Row 1 of the test kinds: the log fails at the Nth commit; every position
// ends in an honest state, with nothing running.
func TestLogFailsAtEveryCommit(t *testing.T) {
	whole := scripted(t)
	whole.run()
	full := errors.New("disk full")
	for n := 1; n <= whole.log.Commits(); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			tr := scripted(t).swept()
			tr.log.Fail = func(commit int) error {
				if commit == n {
					return full
				}
				return nil
			}
			out := tr.run()
			entries := tr.log.Entries()
			if out.Err != nil {
				if !errors.Is(out.Err, full) || len(entries) > 0 && entries[len(entries)-1].Type == part.Finish {
					t.Errorf("outcome %+v", out)
				}
				return
			}
			f := tr.finish()
			if n == whole.log.Commits() { // only the end itself: it is written again
				if out.State != part.Finished {
					t.Errorf("outcome %+v", out)
				}
				return
			}
			if out.State != part.FailedRun || f.Error == nil || f.Error.Code != codeStorage {
				t.Errorf("outcome %+v, finish %+v", out, f)
			}
		})
	}
	for n := 1; n <= whole.log.Commits(); n++ { // and never comes back
		tr := scripted(t).swept()
		tr.log.Fail = func(commit int) error {
			if commit >= n {
				return full
			}
			return nil
		}
		if out := tr.run(); !errors.Is(out.Err, full) {
			t.Errorf("from commit %d: outcome %+v", n, out)
		}
	}
}

func TestFencedStopsAtOnce(t *testing.T) {
	whole := scripted(t)
	whole.run()
	for n := 1; n <= whole.log.Commits(); n++ {
		tr := scripted(t).swept()
		commits := 0
		tr.log.Fail = func(commit int) error {
			if commit >= n {
				commits++
				return ErrFenced
			}
			return nil
		}
		if out := tr.run(); out.Err != ErrFenced {
			t.Errorf("at commit %d: outcome %+v", n, out)
		}
		if commits > 1 {
			t.Errorf("at commit %d: tried to write %d times more", n, commits-1)
		}
	}
}

// The log loses a commit just before the user stops: what is settled is there.
func TestStopAfterALostCommit(t *testing.T) {
	whole := scripted(t)
	whole.run()
	for n := 1; n < whole.log.Commits(); n++ {
		tr := scripted(t).swept()
		ctx, cancel := context.WithCancelCause(t.Context())
		tr.log.Fail = func(commit int) error {
			if commit == n {
				cancel(ErrStopRequested)
				return errors.New("disk full")
			}
			return nil
		}
		out := Run(ctx, tr.job, tr.log)
		cancel(nil)
		tr.check()
		if out.Err == nil {
			tr.finish()
		}
	}
}

// What an abandoned tool returns in the end is logged as late and changes no row.
func TestLateResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := try(t, planning.None,
			answers(calls("c1", "deaf", `{}`), tools()), answers(calls("c2", "wait", `{}`), tools()), answers(say("Done."), stops()))
		tr.job.Limits.Tool = time.Second
		tr.job.Tools = []Tool{
			tool("deaf", func(context.Context, ToolCall) ToolResult {
				time.Sleep(time.Minute)
				return ToolResult{Output: quote("at last")}
			}),
			{Spec: ToolSpec{Name: "wait", Schema: object("")}, Timeout: -1, Run: func(context.Context, ToolCall) ToolResult {
				time.Sleep(time.Hour)
				return ToolResult{}
			}},
		}
		tr.ended(part.Finished, part.ReasonStop)
		late := 0
		for _, e := range tr.log.Entries() {
			if e.Late {
				late++
				if e.ToolCallID != "c1" || string(e.Output) != `"at last"` {
					t.Errorf("late entry %+v", e)
				}
			}
		}
		if p := tr.tool("c1"); late != 1 || p.State != part.StateOutputError {
			t.Errorf("%d late entries; the call is %s", late, p.State)
		}
	})
}
