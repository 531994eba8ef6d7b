package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func TestPlainAnswer(t *testing.T) {
	tr := try(t, planning.None, answers(think("hm", "s"), say("Hello there."), stops()))
	finish := tr.ended(part.Finished, part.ReasonStop)
	if diff := cmp.Diff(&part.Usage{Input: 10, Output: 3}, finish.Usage); diff != "" {
		t.Errorf("usage: %s", diff)
	}
	var types []part.Type
	for _, e := range tr.log.Entries() {
		types = append(types, e.Type)
	}
	want := []part.Type{
		part.Start, part.StartStep, part.ReasoningStart, part.ReasoningDelta, part.ReasoningEnd,
		part.TextStart, part.TextDelta, part.TextEnd, part.DataActivity, part.FinishStep, part.Finish,
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	var start part.StartData
	if err := json.Unmarshal(tr.log.Entries()[0].Data, &start); err != nil {
		t.Fatal(err)
	}
	wantStart := part.StartData{
		RunID: "run-1", ChatID: "chat-1", MessageID: "run-1", UserMessageID: "message-1", UserText: "Do it.",
		Model: "test/model", PlanningMode: planning.None,
	}
	if diff := cmp.Diff(wantStart, start); diff != "" {
		t.Error(diff)
	}
	if name := tr.model.requests[0].ModelName; name != "model" {
		t.Errorf("the provider was asked for %q", name)
	}
}

// HO-02 a: the tool runs although the reason says stop.
func TestCallsRunWhateverTheReasonSays(t *testing.T) {
	tr := try(t, planning.None,
		answers(say("I will read."), calls("c1", "read_file", `{"path":"a.txt"}`), stops()),
		answers(say("Two lines."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	if n := tr.model.calls(); n != 2 {
		t.Errorf("%d model calls", n)
	}
	want := []Content{{Kind: ContentToolResult, ToolCallID: "c1", ToolName: "read_file", Text: "content of a.txt"}}
	if diff := cmp.Diff(want, tr.results(2)); diff != "" {
		t.Error(diff)
	}
}

// HO-02 b, c and their siblings: a cut call never runs, the model is told so,
// and after three in a row the run fails.
func TestCutCallsNeverRun(t *testing.T) {
	const half = `{"path":"r.md","content":"# Repo`
	for _, tt := range []struct {
		name  string
		plays play
		says  string
	}{
		{"arguments without an end", answers(cut("c", "write_file", half), ends(part.ReasonLength)), "output limit"},
		{"arguments that end broken", answers(calls("c", "write_file", half), ends(part.ReasonLength)), "output limit"},
		{"the last of two calls", answers(calls("b", "write_file", `{"path":"r.md"}`), cut("c", "write_file", half), ends(part.ReasonLength)), "output limit"},
		{"whole calls under length", answers(calls("c", "write_file", `{"path":"r.md"}`), ends(part.ReasonLength)), "output limit"},
		{"a proper reason", answers(cut("c", "write_file", half), tools()), "did not reach their end"},
		{"a fragment without a place", answers(calls("c", "write_file", `{"path":"r.md"}`), []Chunk{{Kind: ChunkToolBroken, Text: "no index"}}, tools()), "no index"},
		{"announced calls that do not come", answers(say("I will write."), tools()), "held none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.None, tt.plays)
			tr.job.Tools = []Tool{writeTool(func(id string) { t.Errorf("%s ran", id) })}
			finish := tr.ended(part.FailedRun, part.ReasonError)
			if n := tr.model.calls(); n != 3 {
				t.Errorf("%d model calls", n)
			}
			if finish.Error == nil || finish.Error.Message == "" {
				t.Fatalf("no reason: %+v", finish)
			}
			if strings.Contains(tt.says, "output limit") && !strings.Contains(finish.Error.Message, "output limit") {
				t.Errorf("the limit is not named: %s", finish.Error.Message)
			}
			told := ""
			for _, m := range tr.model.requests[1].Messages {
				for _, c := range m.Content {
					if c.Kind == ContentToolResult && !c.IsError {
						t.Errorf("a success was invented: %+v", c)
					}
					told += c.Text
				}
			}
			if !strings.Contains(told, tt.says) {
				t.Errorf("the model is not told %q: %s", tt.says, told)
			}
		})
	}
}

func TestCutsInARowAreForgottenByAStepThatRuns(t *testing.T) {
	half := answers(cut("c", "read_file", `{"pa`), ends(part.ReasonLength))
	whole := answers(calls("d", "read_file", `{"path":"a"}`), tools())
	tr := try(t, planning.None, half, half, whole, half, half, whole, answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
}

func TestEndsByReason(t *testing.T) {
	call := calls("c1", "read_file", `{"path":"a"}`)
	for _, tt := range []struct {
		name  string
		play  play
		state part.State
		end   part.FinishReason
		note  string
	}{
		{"output limit", answers(say("Half an ans"), ends(part.ReasonLength)), part.Finished, part.ReasonLength, "output limit"},
		{"content filter", answers(say("Half"), ends(part.ReasonContentFilter)), part.Finished, part.ReasonContentFilter, "content filter"},
		{"content filter after a call", answers(call, ends(part.ReasonContentFilter)), part.Finished, part.ReasonContentFilter, "content filter"},
		{"nothing said", answers(stops()), part.Finished, part.ReasonStop, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.None, tt.play)
			finish := tr.ended(tt.state, tt.end)
			if tr.model.calls() != 1 {
				t.Errorf("%d model calls", tr.model.calls())
			}
			if !strings.Contains(finish.Note, tt.note) || (tt.note == "") != (finish.Note == "") {
				t.Errorf("note %q, want %q", finish.Note, tt.note)
			}
		})
	}
}

func TestPausedTurnGoesOn(t *testing.T) {
	pause := append(say("Thinking on."), Chunk{Kind: ChunkFinish, Reason: part.ReasonStop, Pause: true})
	tr := try(t, planning.None, answers(pause), answers(pause), answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	endless := try(t, planning.None, answers(pause))
	if f := endless.ended(part.FailedRun, part.ReasonError); endless.model.calls() != maxPauses || f.Error.Code != "paused" {
		t.Errorf("%d calls, %+v", endless.model.calls(), f.Error)
	}
}

func TestStepLimit(t *testing.T) {
	tr := try(t, planning.None, answers(calls("c", "read_file", `{"path":"a"}`), tools()))
	tr.job.Limits.Steps = 4
	finish := tr.ended(part.Finished, part.ReasonToolCalls)
	if tr.model.calls() != 4 || !strings.Contains(finish.Note, "limit of 4 steps") {
		t.Errorf("%d calls, note %q", tr.model.calls(), finish.Note)
	}
	// The provider counts its calls anew in each answer; the run does not.
	var ids []string
	for _, p := range tr.parts() {
		if p.Kind == part.KindTool {
			ids = append(ids, p.Tool.CallID)
		}
	}
	if diff := cmp.Diff([]string{"c", "c-2", "c-3", "c-4"}, ids); diff != "" {
		t.Error(diff)
	}
}

// HO-03, the loop's side: kept, labelled by the error, never done; repeated
// only while nothing was shown.
func TestProviderFailures(t *testing.T) {
	overloaded := &ProviderError{Kind: KindOverloaded, Code: "overloaded_error", Message: "come back later", Retryable: true}
	quota := &ProviderError{Kind: KindRequest, Code: "insufficient_quota", Message: "quota used up"}
	cutOff := &ProviderError{Kind: KindBroken, Code: "broken", Message: "the stream ended", Retryable: true}
	fine := answers(say("Fine."), stops())
	for _, tt := range []struct {
		name  string
		plays []play
		calls int
		code  string // "" where the run ends well
	}{
		{"not retryable", []play{fails(quota), fine}, 1, "insufficient_quota"},
		{"retryable, once", []play{fails(overloaded), fine}, 2, ""},
		{"retryable, twice", []play{fails(overloaded), fails(cutOff), fine}, 3, ""},
		{"retryable, too often", []play{fails(overloaded)}, 3, "overloaded_error"},
		{"after text", []play{fails(cutOff, say("The three causes are: first,")), fine}, 1, "broken"},
		{"after reasoning", []play{fails(cutOff, think("hm", "")), fine}, 1, "broken"},
		{"after half a call", []play{fails(cutOff, cut("c", "read_file", `{"pa`)), fine}, 1, "broken"},
		{"after usage only", []play{fails(cutOff, []Chunk{{Kind: ChunkUsage, Usage: part.Usage{Input: 1}}}), fine}, 2, ""},
		{"an error without a kind", []play{fails(errors.New("connection reset"), say("Half")), fine}, 1, "broken"},
		{"a stream that just stops", []play{answers(say("Half")), fine}, 1, "broken"},
		{"an error after the finish", []play{fails(cutOff, say("Fine."), stops())}, 1, ""},
		{"asked to wait for an hour", []play{fails(&ProviderError{Kind: KindOverloaded, Code: "429", Message: "later", Retryable: true, RetryAfter: time.Hour}), fine}, 1, "429"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.None, tt.plays...)
			out := tr.run()
			if n := tr.model.calls(); n != tt.calls {
				t.Errorf("%d model calls, want %d", n, tt.calls)
			}
			finish := tr.finish()
			if tt.code == "" {
				if out.State != part.Finished {
					t.Fatalf("outcome %+v", out)
				}
				return
			}
			if out.State != part.FailedRun || out.Reason != part.ReasonError || finish.Error == nil || finish.Error.Code != tt.code {
				t.Errorf("outcome %+v, error %+v", out, finish.Error)
			}
			if tr.model.open != 0 {
				t.Errorf("%d streams still open", tr.model.open)
			}
		})
	}
}

func TestRetriesAreNoticed(t *testing.T) {
	tr := try(t, planning.None,
		fails(&ProviderError{Kind: KindOverloaded, Code: "529", Message: "overloaded", Retryable: true}), answers(say("Fine."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	for _, e := range tr.log.Entries() {
		if e.Type == part.DataNotice {
			var n part.NoticeData
			if err := json.Unmarshal(e.Data, &n); err != nil || n.Kind != "retry" || n.Text != "retry 1 of 2: overloaded" {
				t.Errorf("notice %+v %v", n, err)
			}
			return
		}
	}
	t.Error("no notice")
}

func TestAFaultInTheModelFailsTheRun(t *testing.T) {
	tr := try(t, planning.None, func(context.Context, func(Chunk, error) bool) { panic("adapter") })
	if f := tr.ended(part.FailedRun, part.ReasonError); f.Error.Code != "internal" || strings.Contains(f.Error.Message, "adapter") {
		t.Errorf("error %+v", f.Error)
	}
}

func TestActivity(t *testing.T) {
	tr := try(t, planning.None,
		answers(think("secret plan.", "s"), say("I read first. Then I write."), calls("c1", "read_file", `{"path":"a.txt"}`), tools()),
		answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	var got []part.ActivityData
	for _, e := range tr.log.Entries() {
		if e.Type == part.DataActivity {
			var a part.ActivityData
			if err := json.Unmarshal(e.Data, &a); err != nil {
				t.Fatal(err)
			}
			got = append(got, a)
		}
	}
	want := []part.ActivityData{
		{Phase: part.PhaseAct, Summary: "read_file a.txt"},
		{Phase: part.PhaseObs, Summary: "read_file: 1 line"},
		{Phase: part.PhaseReflect, Summary: "I read first."},
		{Phase: part.PhaseReflect, Summary: "Done."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
