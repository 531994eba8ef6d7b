package part

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }

// numbered gives entries their seq and time, and step 1 where they have none.
func numbered(entries ...Entry) []*Entry {
	var log []*Entry
	for i, e := range entries {
		e.Seq, e.Time = int64(i+1), at(i+1)
		if e.Step == 0 {
			e.Step = 1
		}
		log = append(log, &e)
	}
	return log
}

// words is a part in short: kind, id, state and text or error.
func words(parts []*Part) []string {
	var all []string
	for _, p := range parts {
		s := string(p.Kind) + " " + p.ID + " " + string(p.State)
		if p.Text != "" {
			s += " " + p.Text
		}
		if t := p.Tool; t != nil {
			s += strings.TrimRight(" "+t.Name+" "+string(t.Input)+string(t.Output)+t.InputText+t.RawInput+t.ErrorText+t.Reason, " ")
		}
		all = append(all, s)
	}
	return all
}

func TestBuild(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		log  []Entry
		want []string
	}{
		"texts in deltas, two open at once": {
			[]Entry{
				{Type: TextStart, ID: "a"}, {Type: ReasoningStart, ID: "a"}, {Type: TextDelta, ID: "a", Delta: "on"},
				{Type: ReasoningDelta, ID: "a", Delta: "why"}, {Type: TextDelta, ID: "a", Delta: "e"}, {Type: TextEnd, ID: "a"},
			},
			[]string{"text a done one", "reasoning a streaming why"},
		},
		"a delta without its start is dropped": {
			[]Entry{{Type: TextDelta, ID: "a", Delta: "x"}, {Type: TextEnd, ID: "a"}}, []string{},
		},
		"a text that ended is not gone on": {
			[]Entry{{Type: TextStart, ID: "a"}, {Type: TextEnd, ID: "a"}, {Type: TextDelta, ID: "a", Delta: "x"}, {Type: TextStart, ID: "a"}, {Type: TextDelta, ID: "a", Delta: "y"}},
			[]string{"text a done", "text a streaming y"},
		},
		"a tool to its output": {
			[]Entry{
				{Type: ToolInputStart, ToolCallID: "c", ToolName: "read"}, {Type: ToolInputDelta, ToolCallID: "c", InputTextDelta: `{"a"`},
				{Type: ToolInputDelta, ToolCallID: "c", InputTextDelta: `:1}`}, {Type: ToolInputAvailable, ToolCallID: "c", Input: json.RawMessage(`{"a":1}`)},
				{Type: ToolStart, ToolCallID: "c"}, {Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`1`), Preliminary: true},
				{Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`2`)}, {Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`3`)},
			},
			[]string{`tool c output-available read {"a":1}2`},
		},
		"input that still streams": {
			[]Entry{{Type: ToolInputStart, ToolCallID: "c", ToolName: "read"}, {Type: ToolInputDelta, ToolCallID: "c", InputTextDelta: `{"a"`}},
			[]string{`tool c input-streaming read {"a"`},
		},
		"a call that begins whole": {
			[]Entry{{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "read", Input: json.RawMessage(`{}`)}}, []string{"tool c input-available read {}"},
		},
		"a call cut in its input": {
			[]Entry{{Type: ToolInputStart, ToolCallID: "c", ToolName: "read"}, {Type: ToolInputError, ToolCallID: "c", RawInput: `{"a`, ErrorText: "cut"}, {Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`1`)}},
			[]string{`tool c output-error read {"acut`},
		},
		"an approval that is given": {
			[]Entry{{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"}, {Type: ToolApprovalRequest, ToolCallID: "c", ApprovalID: "p"}, {Type: ToolApprovalAnswer, ApprovalID: "p", Approved: &yes}},
			[]string{"tool c approval-responded w"},
		},
		"an approval that is denied": {
			[]Entry{{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"}, {Type: ToolApprovalRequest, ToolCallID: "c", ApprovalID: "p"}, {Type: ToolApprovalAnswer, ToolCallID: "c", Approved: &no, Reason: "not now"}, {Type: ToolOutputDenied, ToolCallID: "c"}},
			[]string{"tool c output-denied w not now"},
		},
		"an approval that is asked for twice": {
			[]Entry{{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"}, {Type: ToolApprovalRequest, ToolCallID: "c", ApprovalID: "p"}, {Type: ToolApprovalAnswer, ApprovalID: "p", Approved: &yes}, {Type: ToolApprovalRequest, ToolCallID: "c", ApprovalID: "p"}},
			[]string{"tool c approval-responded w"},
		},
		"a tool that the end cancelled": {
			[]Entry{{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"}, {Type: ToolOutputError, ToolCallID: "c", ErrorText: "stopped by the user", Reason: ReasonCancelled}},
			[]string{"tool c cancelled w stopped by the user"},
		},
		"a call id that comes again in a later step": {
			[]Entry{{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"}, {Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`1`)}, {Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w", Step: 2}, {Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`2`)}},
			[]string{"tool c output-available w 1", "tool c output-available w 2"},
		},
		"a step that is taken back": {
			[]Entry{
				{Type: TextStart, ID: "a"}, {Type: TextEnd, ID: "a"}, {Type: TextStart, ID: "b", Step: 2}, {Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w", Step: 2},
				{Type: StepReset, Step: 2}, {Type: TextDelta, ID: "b", Delta: "late", Step: 2}, {Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w", Step: 2},
			},
			[]string{"text a done", "tool c input-available w"},
		},
		"data of every kind": {
			[]Entry{
				{Type: DataNotice, ID: "n", Data: json.RawMessage(`1`)}, {Type: DataNotice, ID: "n", Data: json.RawMessage(`2`)}, {Type: DataAnswer, Data: json.RawMessage(`3`)},
				{Type: DataPlan}, {Type: DataAsk}, {Type: DataActivity}, {Type: "data-own"}, {Type: "unknown"}, {Type: Wait}, {Type: SourceURL, SourceID: "s"}, {Type: File},
			},
			[]string{"data n done", "data  done", "data  done", "source  done", "file  done"},
		},
		"children": {
			[]Entry{{Type: Child, Data: json.RawMessage(`{"runId":"r","state":"running"}`)}, {Type: Child, Data: json.RawMessage(`{"runId":"r","state":"finished"}`)}, {Type: Child, Data: json.RawMessage(`nonsense`)}},
			[]string{"child r done"},
		},
		"the finish closes what is open, what comes later is late": {
			[]Entry{{Type: TextStart, ID: "a"}, {Type: Finish, State: Stopped}, {Type: TextStart, ID: "b"}}, []string{"text a done"},
		},
		"an entry marked late": {[]Entry{{Type: TextStart, ID: "a", Late: true}}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			parts := Build(numbered(c.log...))
			if d := cmp.Diff(c.want, words(parts), cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); d != "" {
				t.Error(d)
			}
			n := 0
			for _, p := range parts {
				if p.N <= n {
					t.Errorf("part %d behind part %d", p.N, n)
				}
				n = p.N
			}
		})
	}
}

// TestTimes: a part begins and ends with its entries, and files add up.
func TestTimes(t *testing.T) {
	log := numbered(
		Entry{Type: ToolInputStart, ToolCallID: "c", ToolName: "w"},
		Entry{Type: ToolInputAvailable, ToolCallID: "c"},
		Entry{Type: ToolStart, ToolCallID: "c"},
		Entry{Type: ToolStart, ToolCallID: "c"},
		Entry{Type: ToolOutput, ToolCallID: "c", Preliminary: true, Files: []FileChange{{Path: "a"}}},
		Entry{Type: ToolOutput, ToolCallID: "c", Files: []FileChange{{Path: "b"}}, Truncated: true},
	)
	p := Build(log)[0]
	if !p.Started.Equal(at(1)) || !p.Tool.ActedAt.Equal(at(3)) || !p.Ended.Equal(at(6)) || p.Seq != 1 || !p.Tool.Truncated {
		t.Errorf("%+v %+v", p, p.Tool)
	}
	if d := cmp.Diff([]FileChange{{Path: "a"}, {Path: "b"}}, p.Tool.Files); d != "" {
		t.Error(d)
	}
}

// TestNextIsPure: Next leaves the part it is given as it was.
func TestNextIsPure(t *testing.T) {
	log := numbered(
		Entry{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"},
		Entry{Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`1`), Files: []FileChange{{Path: "a"}}, Preliminary: true},
		Entry{Type: ToolOutput, ToolCallID: "c", Output: json.RawMessage(`2`), Files: []FileChange{{Path: "b"}}},
	)
	var p Part
	p.Begin(1, log[0])
	for _, e := range log[1:] {
		before, tool := p, *p.Tool
		next, ok := Next(p, e)
		if !ok || next.Tool == p.Tool {
			t.Fatal("nothing changed")
		}
		if d := cmp.Diff(before, p); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(tool, *p.Tool); d != "" {
			t.Error(d)
		}
		p = next
	}
	if _, ok := Next(p, log[1]); ok {
		t.Error("a terminal part changed")
	}
}

func TestSettle(t *testing.T) {
	log := numbered(
		Entry{Type: TextStart, ID: "t"},
		Entry{Type: ReasoningStart, ID: "r"},
		Entry{Type: ToolInputStart, ToolCallID: "a", ToolName: "w"},
		Entry{Type: ToolInputAvailable, ToolCallID: "b", ToolName: "w"},
		Entry{Type: ToolInputAvailable, ToolCallID: "c", ToolName: "w"},
		Entry{Type: ToolApprovalRequest, ToolCallID: "c", ApprovalID: "p"},
		Entry{Type: ToolInputAvailable, ToolCallID: "d", ToolName: "w"},
		Entry{Type: ToolOutput, ToolCallID: "d", Preliminary: true},
		Entry{Type: ToolInputAvailable, ToolCallID: "e", ToolName: "w"},
		Entry{Type: ToolOutput, ToolCallID: "e"},
		Entry{Type: Child, Data: json.RawMessage(`{"runId":"k","goal":"g","state":"running"}`)},
		Entry{Type: DataNotice},
	)
	for _, c := range []struct {
		state  State
		reason FinishReason
		words  string
		child  State
	}{
		{Stopped, ReasonAbort, "stopped by the user", Stopped},
		{Interrupted, ReasonAbort, "interrupted by a restart; its outcome is unknown", Interrupted},
		{FailedRun, ReasonError, "the run failed before this tool ended", Stopped},
		{Finished, ReasonLength, "the run reached its limit before this tool ended", Stopped},
		{Finished, ReasonStop, "the run ended before this tool did", Stopped},
	} {
		ends := Settle(Build(log), c.state, c.reason, at(60))
		var got []string
		for _, e := range ends {
			got = append(got, strings.TrimSpace(string(e.Type)+" "+e.ID+e.ToolCallID+" "+e.ErrorText+" "+e.Reason))
			if !e.Time.Equal(at(60)) || e.Step != 1 {
				t.Errorf("%s at %s in step %d", e.Type, e.Time, e.Step)
			}
		}
		want := []string{
			"text-end t", "reasoning-end r",
			"tool-output-error a " + c.words + " cancelled",
			"tool-output-error b " + c.words + " cancelled",
			"tool-output-denied c  " + c.words,
			"tool-output-error d " + c.words + " cancelled",
			"child",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if child := ChildOf(ends[len(ends)-1]); child.State != c.child || child.Goal != "g" {
			t.Errorf("child %+v", child)
		}
		parts := Build(append(log[:len(log):len(log)], ends...))
		for _, p := range parts {
			if !p.Terminal() {
				t.Errorf("%s %s is open", p.Kind, p.ID)
			}
		}
		if len(Settle(parts, c.state, c.reason, at(61))) != 0 {
			t.Error("settled twice")
		}
	}
}
