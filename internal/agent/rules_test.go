package agent

import (
	"context"
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

// The tests of this file state rules of docs/planning.md that hold for every
// planner, one by one.

var planners = []planning.Mode{planning.Metronome, planning.Classic, planning.Checklist, planning.Steps}

// lists are, for each planner, a first list of two open stages and another one
// that is open too.
func lists(mode planning.Mode) (tool, first, second string) {
	switch mode {
	case planning.Metronome:
		return "plan", stages("a", "b"), stages("a", "b", "c")
	case planning.Classic:
		return "write_todos", todos("a:i b:p"), todos("a:i b:p c:p")
	case planning.Checklist:
		return "update_plan", `{"steps":[{"text":"a","status":"in_progress"},{"text":"b","status":"pending"}]}`,
			`{"steps":[{"text":"a","status":"in_progress"},{"text":"c","status":"pending"}],"explanation":"b is not needed"}`
	}
	return "plan", `{"steps":[{"id":"a","label":"a","status":"running"},{"id":"b","label":"b","status":"pending"}]}`,
		`{"steps":[{"id":"a","label":"a","status":"running"},{"id":"b","label":"b","status":"pending"},"c"]}`
}

// closings is the list after which nothing of the first list is open; none for
// the metronome.
func closings(mode planning.Mode) string {
	return map[planning.Mode]string{
		planning.Classic:   todos("a:d b:d"),
		planning.Checklist: `{"steps":[{"text":"a","status":"completed"},{"text":"b","status":"cancelled"}]}`,
		planning.Steps:     `{"steps":[{"id":"a","label":"a","status":"done"},{"id":"b","label":"b","status":"failed"}]}`,
	}[mode]
}

// 'Work is': what an advance may rest on.
func TestWorkThatAnAdvanceMayRestOn(t *testing.T) {
	fails := tool("fails", func(context.Context, ToolCall) ToolResult {
		return ToolResult{Err: &planning.ToolError{Code: "not_found", Message: "no such file"}}
	})
	denied := writeTool(nil)
	denied.Approval = true
	for _, tt := range []struct {
		name  string
		step  []Chunk
		works bool
	}{
		{"a call that ended with output", reads("w"), true},
		{"an answered question", calls("w", "ask_user", `{"question":"Which one?"}`), true},
		{"200 characters of text", say(strings.Repeat("x", 200)), true},
		{"199 characters of text", say(strings.Repeat("x", 199)), false},
		{"reasoning", think(strings.Repeat("word ", 100), ""), false},
		{"a failed call", calls("w", "fails", `{}`), false},
		{"a denied call", calls("w", "write_file", `{"path":"a"}`), false},
		{"bad arguments", calls("w", "read_file", `{"path":1}`), false},
		{"an unknown tool", calls("w", "nothing", `{}`), false},
		{"a refused complete", calls("w", "complete", `{}`), false},
		{"the plan again", calls("w", "plan", stages("a", "b")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.Metronome,
				answers(calls("p", "plan", stages("a", "b")), tools()),
				answers(tt.step, tools()),
				answers(calls("v", "advance", `{"evidence":"seen"}`), tools()))
			tr.job.Tools = []Tool{readTool(), denied, fails}
			tr.job.Approve = func(string) bool { return false }
			tr.job.Limits.Steps = 3
			runs := NewRuns()
			tr.whenWaiting(func(w part.Waiting) {
				if w.Kind == "approval" {
					_ = runs.Decide("run-1", w.ToolCallID, Decision{})
					return
				}
				_ = runs.Answer("run-1", Answer{MessageID: "message-2", Text: "The first."})
			})
			tr.await(runs)
			if refused := strings.HasPrefix(string(tr.tool("v").Tool.Output), `{"refused":true`); refused == tt.works {
				t.Errorf("the advance came to %s", tr.tool("v").Tool.Output)
			}
		})
	}
}

// 'Identical list', 'Events': a change is one revision with its snapshot, told
// right behind the output; an identical list tells nothing.
func TestEveryChangeIsARevision(t *testing.T) {
	for _, mode := range planners {
		t.Run(string(mode), func(t *testing.T) {
			name, first, second := lists(mode)
			tr := try(t, mode,
				answers(calls("p1", name, first), reads("w"), tools()),
				answers(calls("p2", name, first), reads("w"), tools()),
				answers(calls("p3", name, second), reads("w"), tools()),
				answers(say("Shall I stop here?"), stops()))
			tr.job.Limits.Steps = 3
			tr.ended(part.Finished, part.ReasonToolCalls)
			log := tr.log.Entries()
			var told []part.PlanData
			for i, e := range log {
				if e.Type != part.DataPlan {
					continue
				}
				var data part.PlanData
				if err := json.Unmarshal(e.Data, &data); err != nil {
					t.Fatal(err)
				}
				if log[i-1].Type != part.ToolOutput || log[i-1].ToolCallID == "p2" {
					t.Errorf("revision %d stands behind a %s of %s", data.Plan.Revision, log[i-1].Type, log[i-1].ToolCallID)
				}
				told = append(told, data)
			}
			if diff := cmp.Diff(tr.log.Revisions(), told); diff != "" {
				t.Errorf("stored and told: %s", diff)
			}
			if len(told) != 2 || told[0].Plan.Revision != 1 || told[1].Plan.Revision != 2 || told[1].Tool != name {
				t.Fatalf("told %+v", told)
			}
			if string(tr.tool("p1").Tool.Output) != string(tr.tool("p2").Tool.Output) {
				t.Errorf("the identical list came to %s", tr.tool("p2").Tool.Output)
			}
			if state, open := tr.log.State(); !open || cmp.Diff(told[1].Plan, state.Plan) != "" {
				t.Errorf("the chat keeps %+v", state.Plan)
			}
		})
	}
}

// What a call says about itself is kept with its revision.
func TestRevisionsKeepWhatTheCallSaid(t *testing.T) {
	classic := try(t, planning.Classic,
		answers(calls("p", "write_todos", `{"todos":[{"id":"a","content":"A","status":"done"}],"focus":"A","note":"it was there already"}`), tools()),
		answers(say("Done."), stops()))
	classic.ended(part.Finished, part.ReasonStop)
	checklist := try(t, planning.Checklist,
		answers(calls("p", "update_plan", `{"steps":[{"text":"A","status":"completed"}],"explanation":" it was there "}`), tools()),
		answers(say("Done."), stops()))
	checklist.ended(part.Finished, part.ReasonStop)
	a, b := classic.log.Revisions()[0], checklist.log.Revisions()[0]
	if a.Focus != "A" || a.Note != "it was there already" || b.Explanation != "it was there" {
		t.Errorf("kept %+v and %+v", a, b)
	}
}

// checklist: the model is shown one line, the log and the API have it all.
func TestTheModelIsShownOneLineOfAChecklist(t *testing.T) {
	_, first, _ := lists(planning.Checklist)
	tr := try(t, planning.Checklist, answers(calls("p", "update_plan", first), reads("w"), tools()), answers(say("Shall I?"), stops()))
	tr.job.Limits.Steps = 2
	runs := NewRuns()
	tr.whenWaiting(func(part.Waiting) { runs.Stop("run-1") })
	tr.await(runs)
	if got, want := tr.results(2)[0].Text, "The plan is at revision 1: 0 of 2 steps completed, 1 in_progress."; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	if got := tr.shown(); got != "c1-1:i c1-2:p" {
		t.Errorf("the log has %s", got)
	}
}

// The database is written first: a plan that cannot be stored stays as it was,
// with its revision, and nothing is told of it.
func TestAPlanThatCannotBeStoredIsNoPlan(t *testing.T) {
	for _, mode := range planners {
		t.Run(string(mode), func(t *testing.T) {
			name, first, second := lists(mode)
			tr := try(t, mode,
				answers(calls("p1", name, first), reads("w"), tools()),
				answers(calls("p2", name, second), tools()),
				answers(calls("p3", name, second), reads("w"), tools()))
			tr.job.Limits.Steps = 3
			tr.log.Committed = func(entries []*part.Entry) {
				for _, e := range entries {
					if e.Type == part.ToolInputAvailable && e.ToolCallID == "p2" {
						tr.log.Fail = func(int) error {
							tr.log.Fail = nil
							return errors.New("disk full")
						}
					}
				}
			}
			tr.ended(part.Finished, part.ReasonToolCalls)
			if p := tr.tool("p2"); p.State != part.StateOutputError || !strings.Contains(p.Tool.ErrorText, codeStorage) {
				t.Errorf("the call is %s: %s", p.State, p.Tool.ErrorText)
			}
			var revisions []int
			for _, r := range tr.log.Revisions() {
				revisions = append(revisions, r.Plan.Revision)
			}
			if diff := cmp.Diff([]int{1, 2}, revisions); diff != "" || len(tr.types(part.DataPlan)) != 2 {
				t.Errorf("%s; told %v", diff, tr.types(part.DataPlan))
			}
		})
	}
}

// Reminders: the planner's own stands while a stage is open and is gone when
// none is.
func TestPlannerRemindersOfEveryMode(t *testing.T) {
	for _, mode := range planners {
		t.Run(string(mode), func(t *testing.T) {
			name, first, _ := lists(mode)
			second := calls("p2", name, closings(mode))
			if mode == planning.Metronome {
				second = append(calls("v1", "advance", `{"evidence":"e"}`), append(reads("w2"), calls("v2", "advance", `{"evidence":"e"}`)...)...)
			}
			tr := try(t, mode,
				answers(calls("p1", name, first), reads("w"), tools()),
				answers(reads("w"), second, tools()),
				answers(reads("w"), tools()),
				answers(say("Done."), stops()))
			finish := tr.ended(part.Finished, part.ReasonStop)
			if len(finish.Debt) != 0 || finish.Note != "" {
				t.Errorf("finish %+v", finish)
			}
			for i, open := range []bool{false, true, false, false} {
				got := tr.model.requests[i].Reminder
				if strings.Contains(got, "[Stage ") != open || !strings.HasPrefix(got, "<task_reminder>\n"+baseline+"\n") {
					t.Errorf("request %d: %s", i+1, got)
				}
			}
		})
	}
}

// Planning switched off: no tool, no words, no reminder but the baseline; a
// planner's tool is unknown.
func TestNoPlanner(t *testing.T) {
	tr := try(t, planning.None, answers(calls("p", "write_todos", todos("a:i")), tools()), answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	if p := tr.tool("p"); p.State != part.StateOutputError || !strings.HasPrefix(p.Tool.ErrorText, codeUnknownTool) {
		t.Errorf("the call is %s: %s", p.State, p.Tool.ErrorText)
	}
	for _, req := range tr.model.requests {
		if strings.Contains(req.System, "# Planning") || req.Reminder != "<task_reminder>\n"+baseline+"\n</task_reminder>" {
			t.Errorf("told %s %s", req.System, req.Reminder)
		}
	}
}

// 'How a run ends', with a plan that is open: state, reason and what is named.
func TestHowARunEnds(t *testing.T) {
	plan := answers(calls("t", "write_todos", todos("a:d b:i c:p")), reads("w"), tools())
	work := answers(reads("w"), tools())
	for _, tt := range []struct {
		cause  string
		later  play
		state  part.State
		reason part.FinishReason
		names  string
	}{
		{"the model's own end", answers(say("Done."), stops()), part.Finished, part.ReasonStop, "finished, 2 stages open"},
		{"step limit", work, part.Finished, part.ReasonToolCalls, "limit of 9 steps"},
		{"time", hangs(say("Half")), part.Finished, part.ReasonLength, "time limit of 1m"},
		{"output limit", answers(say("Half"), ends(part.ReasonLength)), part.Finished, part.ReasonLength, "output limit"},
		{"content filter", answers(say("Half"), ends(part.ReasonContentFilter)), part.Finished, part.ReasonContentFilter, "content filter"},
		{"provider failure", fails(&ProviderError{Kind: KindAuth, Code: "401", Message: "bad key"}), part.FailedRun, part.ReasonError, "bad key"},
		{"silence", func(ctx context.Context, yield func(Chunk, error) bool) {
			time.Sleep(20 * time.Second)
			hangs()(ctx, yield)
		}, part.FailedRun, part.ReasonError, "sent nothing for 30s"},
		{"three cut calls in a row", answers(cut("x", "read_file", `{`), ends(part.ReasonLength)), part.FailedRun, part.ReasonError, "3 answers in a row were cut by the output limit"},
		{"context too long", fails(&ProviderError{Kind: KindContext, Code: "context_length_exceeded", Message: "too long"}), part.FailedRun, part.ReasonError, "too long"},
	} {
		t.Run(tt.cause, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := try(t, planning.Classic, plan, tt.later)
				tr.job.Limits.Steps, tr.job.Limits.Run, tr.job.Limits.Silence = 9, time.Minute, 30*time.Second
				if tt.cause == "time" {
					tr.job.Limits.Silence = time.Hour
				}
				finish := tr.ended(tt.state, tt.reason)
				named := finish.Note
				if finish.Error != nil {
					named = finish.Error.Message
				}
				if !strings.Contains(named, tt.names) {
					t.Errorf("named %q, want %q", named, tt.names)
				}
				if len(finish.Debt) != 2 || finish.Debt[0] != (part.Debt{ID: "b", Content: "b"}) || tr.shown() != "a:d b:i c:p" {
					t.Errorf("debt %+v of %s", finish.Debt, tr.shown())
				}
				if state, open := tr.log.State(); !open || listed(state.Plan.Stages) != "a:d b:i c:p" {
					t.Errorf("the chat keeps %+v", state.Plan)
				}
			})
		})
	}
}
