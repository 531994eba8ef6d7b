package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// HO-08: the gate holds, is bounded, names what is open and ticks nothing off.
func TestOpenStagesDoNotHoldTheRunForEver(t *testing.T) {
	for _, tt := range []struct {
		name  string
		mode  planning.Mode
		plan  []Chunk
		later play
	}{
		{"v1: plain text", planning.Classic, calls("t", "write_todos", todos("a:i b:p")), answers(say("All done."), stops())},
		{"v1 in the metronome", planning.Metronome, calls("p", "plan", stages("a", "b")), answers(say("All done."), stops())},
		{"v2: complete", planning.Classic, calls("t", "write_todos", todos("a:i b:p")), answers(calls("k", "complete", `{}`), tools())},
		{"v2 in the metronome", planning.Metronome, calls("p", "plan", stages("a", "b")), answers(calls("k", "complete", `{}`), tools())},
		{"v3: the identical list", planning.Classic, calls("t", "write_todos", todos("a:i b:p")), answers(calls("t", "write_todos", todos("a:i b:p")), tools())},
		{"nothing at all", planning.Classic, calls("t", "write_todos", todos("a:i b:p")), answers(stops())},
		{"an unknown tool", planning.Classic, calls("t", "write_todos", todos("a:i b:p")), answers(calls("x", "nothing", `{}`), tools())},
		{"bad arguments", planning.Classic, calls("t", "write_todos", todos("a:i b:p")), answers(calls("x", "read_file", `{"path":1}`), tools())},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, tt.mode, answers(tt.plan, tools()), tt.later)
			finish := tr.ended(part.Finished, part.ReasonStop)
			if n := tr.model.calls() - 1; n > 6 {
				t.Errorf("%d model calls after the plan", n)
			}
			var ids []string
			for _, d := range finish.Debt {
				ids = append(ids, d.ID)
			}
			if diff := cmp.Diff([]string{"a", "b"}, ids); diff != "" {
				t.Errorf("debt: %s", diff)
			}
			if finish.Note != "finished, 2 stages open" {
				t.Errorf("note %q", finish.Note)
			}
			if got := tr.shown(); got != "a:i b:p" {
				t.Errorf("the plan is %s", got)
			}
			if plan, open := tr.log.State(); !open || listed(plan.Open()) != "a:i b:p" {
				t.Errorf("the chat keeps %+v, %v", plan.Plan.Stages, open)
			}
		})
	}
}

// HO-08 v4: one refusal a stage, then the claim is trusted and marked; beyond
// the end of the plan the run does not go on for ever either.
func TestAdvanceWithoutWorkIsBounded(t *testing.T) {
	tr := try(t, planning.Metronome,
		answers(calls("p", "plan", stages("a", "b")), tools()), answers(calls("v", "advance", `{"evidence":"x"}`), tools()))
	finish := tr.ended(part.Finished, part.ReasonStop)
	if n := tr.model.calls(); n > 9 || len(finish.Debt) != 0 {
		t.Errorf("%d model calls, %+v", n, finish.Debt)
	}
	revisions := tr.log.Revisions()
	last := revisions[len(revisions)-1].Plan
	if got := listed(last.Stages); got != "a:d b:d" || !last.Stages[0].Unverified || !last.Stages[1].Unverified {
		t.Errorf("the plan is %s: %+v", got, last.Stages)
	}
}

// Every ask names every open stage, as a reminder for one request and as a
// stored hidden user message.
func TestAsksNameTheOpenStages(t *testing.T) {
	tr := try(t, planning.Classic,
		answers(calls("t", "write_todos", todos("first:d second:i third:p")), reads("w"), tools()), answers(say("All done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	asks := 0
	for _, e := range tr.log.Entries() {
		if e.Type == part.DataAsk {
			asks++
		}
	}
	if asks != 3 || tr.model.calls() != 5 {
		t.Errorf("%d asks in %d model calls", asks, tr.model.calls())
	}
	for n, req := range tr.model.requests[2:] {
		last := req.Messages[len(req.Messages)-1]
		for _, text := range []string{req.Reminder, last.Content[0].Text} {
			if last.Role != RoleUser || !strings.Contains(text, "second") || !strings.Contains(text, "third") || strings.Contains(text, "- first") {
				t.Errorf("ask %d does not name the open stages: %s", n+1, text)
			}
		}
		if strings.Count(req.Reminder, "The plan still has open stages") != 1 {
			t.Errorf("ask %d: reminder %s", n+1, req.Reminder)
		}
	}
}

func TestCompleteIsGated(t *testing.T) {
	complete := calls("k", "complete", `{"summary":"done"}`)
	tr := try(t, planning.Metronome,
		answers(calls("p", "plan", stages("a")), reads("w"), tools()),
		answers(complete, tools()),
		answers(calls("v", "advance", `{"evidence":"a.md is there"}`), complete, tools()),
		answers(say("never asked"), stops()))
	finish := tr.ended(part.Finished, part.ReasonStop)
	if tr.model.calls() != 3 || len(finish.Debt) != 0 || finish.Note != "" {
		t.Errorf("%d calls, finish %+v", tr.model.calls(), finish)
	}
	var refused struct {
		Refused bool
		Reason  string
	}
	if err := json.Unmarshal(tr.tool("k").Tool.Output, &refused); err != nil || !refused.Refused || !strings.Contains(refused.Reason, "do a") {
		t.Errorf("the refusal: %+v %v", refused, err)
	}
	if out := string(tr.tool("k-2").Tool.Output); out != `{"completed":true}` {
		t.Errorf("the second complete: %s", out)
	}
}

func TestAModelThatNeverPlansIsANormalRun(t *testing.T) {
	tr := try(t, planning.Metronome, answers(reads("w"), tools()), answers(say("Anything else?"), stops()))
	finish := tr.ended(part.Finished, part.ReasonStop)
	if tr.model.calls() != 2 || finish.Note != "" {
		t.Errorf("%d calls, %+v", tr.model.calls(), finish)
	}
}

// A closing question waits, makes no ask, and the answer continues the same run.
func TestAClosingQuestionWaits(t *testing.T) {
	tr := try(t, planning.Classic,
		answers(calls("t", "write_todos", todos("a:i b:p")), tools()),
		answers(say("I see two ways.\n\n**Which one?**"), stops()),
		answers(calls("t2", "write_todos", todos("a:d b:d")), tools()),
		answers(say("Done."), stops()))
	runs := NewRuns()
	tr.whenWaiting(func(w part.Waiting) {
		want := part.Waiting{Kind: "question", RunID: "run-1", Question: "**Which one?**"}
		if diff := cmp.Diff(want, w); diff != "" {
			t.Error(diff)
		}
		if err := runs.Answer("run-1", Answer{MessageID: "message-2", Text: "The first."}); err != nil {
			t.Error(err)
		}
	})
	if out := tr.await(runs); out.State != part.Finished {
		t.Fatalf("outcome %+v", out)
	}
	if n := len(tr.types(part.DataAsk)); n != 0 {
		t.Errorf("%d asks", n)
	}
	third := tr.model.requests[2].Messages
	if diff := cmp.Diff(user("The first."), third[len(third)-1]); diff != "" {
		t.Error(diff)
	}
	if got := tr.types(part.Wait, part.DataAnswer, part.Resume); len(got) != 3 || got[1] != part.DataAnswer {
		t.Errorf("entries %v", got)
	}
}

func TestDebtStandsOnEveryEnd(t *testing.T) {
	plan := answers(calls("t", "write_todos", todos("a:d b:i c:p")), tools())
	for name, later := range map[string]play{
		"failure":       fails(&ProviderError{Kind: KindAuth, Code: "401", Message: "bad key"}),
		"output limit":  answers(say("Half"), ends(part.ReasonLength)),
		"filter":        answers(ends(part.ReasonContentFilter)),
		"its own":       answers(say("Done."), stops()),
		"three cuts":    answers(cut("x", "read_file", `{`), ends(part.ReasonLength)),
		"fault":         nil,
		"endless calls": answers(calls("x", "nothing", `{}`), tools()),
	} {
		tr := try(t, planning.Classic, plan, later)
		tr.run()
		if got := tr.finish().Debt; len(got) != 2 || got[0].ID != "b" || got[1].ID != "c" {
			t.Errorf("%s: debt %+v", name, got)
		}
	}
}
