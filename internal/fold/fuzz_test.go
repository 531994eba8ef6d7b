package fold

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
)

var epochStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// byteSource reads the choices of a fuzz input.
type byteSource struct{ data []byte }

func (s *byteSource) next(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := int(s.data[0])
	s.data = s.data[1:]
	return b % n
}

var fuzzTexts = []string{
	"word ", "\n", "\n\n", "- item\n", "# Head\n", "```go\ncode\n", "```\n", "| a | b |\n|---|---|\n", "> quote\n", "1. one\n",
	"[a]: /u\n", "see [a] ", "\xff\xfe", "\x00", "\r\n", "    code\n", "<div>\n", "é", "***", "-",
	strings.Repeat("line of text that is long\n", 60), strings.Repeat("- item\n", 90),
}

var fuzzLists = []string{
	`{"todos":[{"id":"a","content":"A","status":"in_progress"},{"id":"b","content":"B","status":"pending"}]}`,
	`{"todos":[{"id":"a","content":"A","status":"done"},{"id":"b","content":"B","status":"in_progress"}]}`,
	`{"todos":[{"id":"b","content":"B","status":"in_progress"}]}`,
	`{"todos":[{"id":"a","content":"A","status":"done"},{"id":"b","content":"B","status":"done"}]}`,
	`{"todos":[{"id":"b","content":"B","status":"done"},{"id":"a","content":"A2","status":"in_progress"},{"id":"c","content":"C","status":"pending"}]}`,
	`{"todos":[]}`,
	`{"todos":[{"id":"a","content":"A","status":"pending"},{"id":"c","content":"C","status":"pending"}]}`,
	`{"refused":true,"reason":"no work"}`,
	`{"plan":{"mode":"metronome","revision":1,"pointer":1,"stages":[{"id":"a","content":"A","status":"done","evidence":"seen"},{"id":"m","content":"M","status":"in_progress"}]}}`,
	`nonsense`,
	`{"todos":[{"id":"a","content":"A","status":"in_progress"},{"id":"a","content":"twice","status":"pending"}]}`,
}

// fuzzEntry is one entry of any kind, from a few bytes.
func fuzzEntry(s *byteSource, seq int64, step *int) *part.Entry {
	e := &part.Entry{Seq: seq, Step: *step, Time: epochStart.Add(time.Duration(seq) * time.Second)}
	id := string(rune('p' + s.next(4)))
	call := string(rune('t' + s.next(4)))
	tool := []string{"list_files", "write_todos", "complete", "plan"}[int(call[0]-'t')]
	switch s.next(26) {
	case 0:
		*step++
		e.Type, e.Step = part.StartStep, *step
	case 1:
		e.Type, e.Usage = part.FinishStep, &part.Usage{Input: 3, Output: 2}
	case 2:
		e.Type = part.StepReset
	case 3, 4:
		e.Type, e.ID = part.TextStart, id
	case 5, 6, 7, 8:
		e.Type, e.ID, e.Delta = part.TextDelta, id, fuzzTexts[s.next(len(fuzzTexts))]
	case 9:
		e.Type, e.ID = part.TextEnd, id
	case 10:
		e.Type, e.ID = []part.Type{part.ReasoningStart, part.ReasoningEnd}[s.next(2)], id
	case 11:
		e.Type, e.ID, e.Delta = part.ReasoningDelta, id, fuzzTexts[s.next(len(fuzzTexts))]
	case 12, 13:
		e.Type, e.ToolCallID, e.ToolName = part.ToolInputStart, call, tool
	case 14:
		e.Type, e.ToolCallID, e.InputTextDelta = part.ToolInputDelta, call, []string{`{"todos":[`, `{"id":"a","content":"A","status":"in_progress"}`, `,`, `{"id":"z","content":"Z","status":"pending"}`, `]}`}[s.next(5)]
	case 15, 16:
		e.Type, e.ToolCallID, e.ToolName, e.Input = part.ToolInputAvailable, call, tool, json.RawMessage([]string{`{"path":"a.txt"}`, fuzzLists[0]}[s.next(2)])
	case 17, 18:
		e.Type, e.ToolCallID, e.Output = part.ToolOutput, call, json.RawMessage(fuzzLists[s.next(len(fuzzLists))])
		if s.next(4) == 0 {
			e.Preliminary = true
		}
		if s.next(3) == 0 {
			e.Files = []part.FileChange{{Path: id, Op: "created"}}
		}
	case 19:
		e.Type, e.ToolCallID, e.ErrorText = []part.Type{part.ToolOutputError, part.ToolInputError, part.ToolOutputDenied}[s.next(3)], call, "no"
	case 20:
		e.Type, e.ToolCallID, e.ApprovalID = part.ToolApprovalRequest, call, "ap"+call
	case 21:
		yes := s.next(2) == 0
		e.Type, e.ApprovalID, e.Approved = part.ToolApprovalAnswer, "ap"+call, &yes
	case 22:
		e.Type = []part.Type{part.Wait, part.Resume, part.File, part.SourceURL, part.ToolStart}[s.next(5)]
		e.ToolCallID, e.URL = call, "https://example.org/"
	case 23:
		states := []part.State{part.Running, part.Finished, part.FailedRun}
		data := part.ChildData{RunID: id, StageID: []string{"", "a", "zz"}[s.next(3)], StageLabel: []string{"", " b ", "x"}[s.next(3)], State: states[s.next(3)]}
		e.Type = part.Child
		e.Data, _ = json.Marshal(data)
	case 24:
		e.Type = []part.Type{part.DataNotice, part.DataAnswer, part.DataAsk, part.DataActivity, part.DataPlan, part.DataPlanCarried, "data-other", "unknown"}[s.next(8)]
		e.ID, e.Data = []string{"", id}[s.next(2)], json.RawMessage([]string{`{"text":"t","summary":"s"}`, `{"mode":"metronome","revision":3,"pointer":0,"stages":[{"id":"b","content":"B","deliverable":"d","status":"pending"}]}`}[s.next(2)])
	case 25:
		e.Type = part.Finish
		e.State = []part.State{part.Finished, part.FailedRun, part.Stopped, part.Interrupted, ""}[s.next(5)]
		e.FinishReason = []part.FinishReason{part.ReasonStop, part.ReasonError, part.ReasonAbort, part.ReasonLength, ""}[s.next(5)]
		if s.next(2) == 0 {
			e.Late = true
		}
	}
	return e
}

func fuzzLog(data []byte) []*part.Entry {
	s := &byteSource{data}
	var log []*part.Entry
	step := 1
	for len(s.data) > 0 && len(log) < 64 {
		log = append(log, fuzzEntry(s, int64(len(log)+1), &step))
	}
	return log
}

// FuzzFold holds every promise to logs of at most 64 entries; the first byte
// says how often a snapshot is made.
func FuzzFold(f *testing.F) {
	for i := range 40 {
		var seed []byte
		for k := range 64 {
			seed = append(seed, byte((i*7919+k*104729)>>(i%5)))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		log := fuzzLog(data)
		every := 1
		if len(data) > 0 {
			every += int(data[0]) % 4
		}
		checkLog(t, log, every)
		for n := len(log) % 8; n <= len(log); n += 8 {
			checkSettle(t, log[:n:n])
		}
	})
}

// checkSettle: part.Settle closes all that is open.
func checkSettle(t *testing.T, log []*part.Entry) {
	t.Helper()
	ends := part.Settle(part.Build(log), part.Stopped, part.ReasonAbort, epochStart)
	for _, p := range part.Build(append(log, ends...)) {
		if !p.Terminal() {
			t.Fatalf("after %d entries part %d is open: %+v", len(log), p.N, p)
		}
	}
}
