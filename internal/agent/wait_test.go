package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// approving is a run whose first step writes a file, which asks first.
func approving(t *testing.T) *trial {
	tr := try(t, planning.None,
		answers(calls("c1", "write_file", `{"path":"a"}`), calls("c2", "read_file", `{"path":"b"}`), tools()),
		answers(say("Done."), stops()))
	ask := writeTool(nil)
	ask.Approval = true
	tr.job.Tools = []Tool{readTool(), ask}
	tr.job.Approve = func(string) bool { return false }
	return tr
}

// whenWaiting calls f once, in a goroutine of its own, when the run waits.
func (tr *trial) whenWaiting(f func(part.Waiting)) {
	before := tr.log.Committed
	done := false
	tr.log.Committed = func(entries []*part.Entry) {
		if before != nil {
			before(entries)
		}
		for _, e := range entries {
			if e.Type == part.Wait && !done {
				done = true
				go f(e.Waiting[0])
			}
		}
	}
}

// decide decides on whatever the run asks first.
func (tr *trial) decide(runs *Runs, d Decision) {
	tr.whenWaiting(func(w part.Waiting) {
		if err := runs.Decide(tr.job.RunID, w.ToolCallID, d); err != nil {
			tr.t.Errorf("deciding: %v", err)
		}
	})
}

// await starts the run in runs and waits for its end.
func (tr *trial) await(runs *Runs) Outcome {
	tr.t.Helper()
	done := make(chan Outcome, 1)
	if err := runs.Start(tr.job, tr.log, func(o Outcome) { done <- o }); err != nil {
		tr.t.Fatal(err)
	}
	out := <-done
	tr.check()
	return out
}

func (tr *trial) types(of ...part.Type) []part.Type {
	want := map[part.Type]bool{}
	for _, t := range of {
		want[t] = true
	}
	var got []part.Type
	for _, e := range tr.log.Entries() {
		if want[e.Type] {
			got = append(got, e.Type)
		}
	}
	return got
}

func TestApproval(t *testing.T) {
	for _, tt := range []struct {
		name     string
		decision Decision
		state    part.PartState
		result   string
	}{
		{"allowed", Decision{Allow: true}, part.StateOutputAvailable, `{"ok":true}`},
		{"denied", Decision{Reason: "not that file"}, part.StateOutputDenied,
			`{"error":{"code":"denied","message":"The user denied this call; it did not run. Reason: not that file"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := approving(t)
			runs := NewRuns()
			tr.decide(runs, tt.decision)
			if out := tr.await(runs); out.State != part.Finished {
				t.Fatalf("outcome %+v", out)
			}
			if p := tr.tool("c1"); p.State != tt.state {
				t.Errorf("the call is %s", p.State)
			}
			got := tr.results(2)
			if got[0].Text != tt.result || got[1].Text != "content of b" {
				t.Errorf("results %+v", got)
			}
			want := []part.Type{part.ToolApprovalRequest, part.Wait, part.ToolApprovalAnswer, part.Resume}
			if diff := cmp.Diff(want, tr.types(want...)); diff != "" {
				t.Error(diff)
			}
			if w := tr.log.Waiting(); len(w) != 0 {
				t.Errorf("still waits for %+v", w)
			}
		})
	}
}

func TestApprovalThatIsNotAskedFor(t *testing.T) {
	for name, approve := range map[string]func(string) bool{
		"no approvals":        nil,
		"allowed in the chat": func(tool string) bool { return tool == "write_file" },
	} {
		tr := approving(t)
		tr.job.Approve = approve
		tr.ended(part.Finished, part.ReasonStop)
		if got := tr.types(part.ToolApprovalRequest, part.Wait); len(got) != 0 {
			t.Errorf("%s: asked %v", name, got)
		}
	}
}

// allow-always covers the calls of the tool that wait beside it and all later ones.
func TestAllowAlways(t *testing.T) {
	two := answers(calls("c1", "write_file", `{"path":"a"}`), calls("c2", "write_file", `{"path":"b"}`), tools())
	tr := try(t, planning.None, two, two, answers(say("Done."), stops()))
	tr.job.Tools = approving(t).job.Tools
	tr.job.Approve = func(string) bool { return false }
	runs := NewRuns()
	tr.decide(runs, Decision{Allow: true, Always: true})
	tr.await(runs)
	for _, id := range []string{"c1", "c2", "c1-2", "c2-2"} {
		if p := tr.tool(id); p.State != part.StateOutputAvailable {
			t.Errorf("%s is %s", id, p.State)
		}
	}
	if got := tr.types(part.ToolApprovalRequest); len(got) != 2 {
		t.Errorf("asked %d times", len(got))
	}
}

func TestDecideAndAnswerErrors(t *testing.T) {
	tr := approving(t)
	runs := NewRuns()
	if err := runs.Decide("run-1", "c1", Decision{}); !errors.Is(err, ErrNotLive) {
		t.Errorf("no run: %v", err)
	}
	if err := runs.Answer("run-1", Answer{}); !errors.Is(err, ErrNotLive) {
		t.Errorf("no run: %v", err)
	}
	tr.whenWaiting(func(w part.Waiting) {
		if err := runs.Decide("run-1", "c2", Decision{Allow: true}); !errors.Is(err, ErrUnknownCall) {
			t.Errorf("a call that asks nothing: %v", err)
		}
		if err := runs.Answer("run-1", Answer{Text: "x"}); !errors.Is(err, ErrNotWaiting) {
			t.Errorf("no question: %v", err)
		}
		if err := runs.Start(tr.job, tr.log, nil); !errors.Is(err, ErrLive) {
			t.Errorf("a second start: %v", err)
		}
		first, second := runs.Decide("run-1", "c1", Decision{Allow: true}), runs.Decide("run-1", "c1", Decision{})
		if first != nil || !errors.Is(second, ErrDecided) && !errors.Is(second, ErrNotLive) {
			t.Errorf("deciding twice: %v, %v", first, second)
		}
	})
	tr.await(runs)
}

func TestStopWhileTheRunWaits(t *testing.T) {
	tr := approving(t)
	runs := NewRuns()
	tr.whenWaiting(func(part.Waiting) { runs.Stop("run-1") })
	if out := tr.await(runs); out.State != part.Stopped {
		t.Fatalf("outcome %+v", out)
	}
	next := history([]Turn{{UserText: "x", Entries: tr.log.Entries()}}, "go on", "test/model", nil)
	if text := next[2].Content[0].Text; !strings.Contains(text, "stopped by the user") || strings.Contains(text, "denied") {
		t.Errorf("the next run is told %s", text)
	}
}

func TestAskUser(t *testing.T) {
	tr := try(t, planning.None,
		answers(calls("c1", "ask_user", `{"question":"Which colour?","options":["red","blue"]}`), calls("c2", "read_file", `{"path":"a"}`), tools()),
		answers(say("Done."), stops()))
	runs := NewRuns()
	tr.whenWaiting(func(w part.Waiting) {
		want := part.Waiting{Kind: "question", RunID: "run-1", ToolCallID: "c1", Tool: "ask_user", Question: "Which colour?", Options: []string{"red", "blue"}}
		if diff := cmp.Diff(want, w); diff != "" {
			t.Error(diff)
		}
		if err := runs.Answer("run-1", Answer{MessageID: "message-2", Text: "blue </task_reminder>"}); err != nil {
			t.Error(err)
		}
	})
	tr.await(runs)
	if got := tr.results(2)[0].Text; got != `blue \u003c/task_reminder>` {
		t.Errorf("result %q", got)
	}
	for _, p := range tr.parts() {
		if p.Kind == part.KindData {
			var a part.AnswerData
			if err := json.Unmarshal(p.Data, &a); err != nil || a.MessageID != "message-2" || a.ToolCallID != "c1" {
				t.Errorf("answer part %+v %v", a, err)
			}
		}
	}
}

func TestAskUserWithoutAQuestion(t *testing.T) {
	tr := try(t, planning.None, answers(calls("c1", "ask_user", `{}`), tools()), answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	if got := tr.results(2)[0]; !got.IsError || !strings.Contains(got.Text, "question") {
		t.Errorf("result %+v", got)
	}
}

// The run's time stands still while it waits for the user.
func TestWaitingTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := approving(t)
		tr.job.Limits.Run = time.Minute
		runs := NewRuns()
		tr.whenWaiting(func(w part.Waiting) {
			time.Sleep(24 * time.Hour)
			if err := runs.Decide("run-1", w.ToolCallID, Decision{Allow: true}); err != nil {
				t.Error(err)
			}
		})
		if out := tr.await(runs); out.State != part.Finished || out.Reason != part.ReasonStop {
			t.Errorf("outcome %+v", out)
		}
	})
}
