package fold

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// deep compares snapshots by value, Vecs as slices.
var deep = cmp.Options{
	cmp.Transformer("parts", func(v Vec[*Part]) []*Part { return v.Slice() }),
	cmp.Transformer("blocks", func(v Vec[*Block]) []*Block { return v.Slice() }),
	cmp.Transformer("pieces", func(v Vec[*Piece]) []*Piece { return v.Slice() }),
	cmp.Transformer("rows", func(v Vec[*Row]) []*Row { return v.Slice() }),
	cmp.Transformer("activity", func(v Vec[*Activity]) []*Activity { return v.Slice() }),
	cmp.Exporter(func(t reflect.Type) bool { return t == reflect.TypeFor[Part]() || t == reflect.TypeFor[Block]() }),
}

func regions(s *Snapshot) []Vec[*Part] {
	all := []Vec[*Part]{s.Lead}
	for _, r := range s.Rows.All() {
		all = append(all, r.Parts)
	}
	return append(all, s.Sink, s.Answer, s.Calls)
}

func partsOf(s *Snapshot) map[int]*Part {
	all := map[int]*Part{}
	for _, v := range regions(s) {
		for _, p := range v.All() {
			all[p.N] = p
		}
	}
	return all
}

// checkLog folds a log entry by entry and holds every promise to it.
func checkLog(t *testing.T, log []*part.Entry, every int) {
	t.Helper()
	f := New()
	var last *Snapshot
	var shown *page
	for i, e := range log {
		f.Apply(e)
		if every > 1 && i%every != 0 && i != len(log)-1 {
			continue
		}
		now := f.Snapshot()
		if f.Snapshot() != now {
			t.Fatal("nothing changed, but the snapshot did")
		}
		if i%4 == 3 || i == len(log)-1 {
			if once := Fold(log[:i+1]); !cmp.Equal(once, now, deep) {
				t.Fatalf("entry %d: folded at once it differs:\n%s", i, cmp.Diff(once, now, deep))
			}
		}
		checkParts(t, now, log[:i+1])
		if last != nil && last.Terminal() && now != last {
			t.Fatal("a terminal snapshot changed")
		}
		if last != nil {
			checkStable(t, last, now, log[:i+1])
		}
		if last == nil {
			shown = pageOf(now)
		} else {
			for _, c := range Changes(last, now) {
				if err := shown.show(c, now); err != nil {
					t.Fatalf("entry %d: %v", i, err)
				}
			}
			if got, want := shown.String(), pageOf(now).String(); got != want {
				t.Fatalf("entry %d: the page differs:\n%s", i, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
		}
		last = now
	}
}

// checkParts: every part once, in order in its region, and none beside those
// of the log.
func checkParts(t *testing.T, s *Snapshot, log []*part.Entry) {
	t.Helper()
	seen := map[int]bool{}
	count := 0
	for k, v := range regions(s) {
		n := 0
		for _, p := range v.All() {
			calls := k == len(regions(s))-1 // they stand in the order in which they were accepted
			if p.N <= n && !calls {
				t.Fatalf("part %d stands behind part %d", p.N, n)
			}
			if seen[p.N] {
				t.Fatalf("part %d stands there twice", p.N)
			}
			n, seen[p.N] = p.N, true
			if !calls {
				count++
			}
		}
	}
	if count != s.PartCount {
		t.Fatalf("PartCount %d, %d parts", s.PartCount, count)
	}
	live := 0
	for _, r := range s.Rows.All() {
		if r.Live {
			live++
		}
		if s.Terminal() && (r.Live || r.Status == RowInProgress || r.Status == RowWaiting || r.Activity != "") {
			t.Fatalf("row %s goes on after the end", r.StageID)
		}
	}
	if live > 1 {
		t.Fatal("two live rows")
	}
	all := partsOf(s)
	for _, p := range part.Build(log) {
		if p.Kind == part.KindChild {
			continue
		}
		q := all[p.N]
		if q == nil {
			if p.Kind == part.KindTool && !p.Terminal() && !s.Terminal() {
				continue // a planner's call that is still open
			}
			t.Fatalf("part %d (%s %s) is lost", p.N, p.Kind, p.ID)
		}
		if p.Tool != nil && q.Tool.InputText != p.Tool.InputText {
			t.Fatalf("part %d: input %q, want %q", p.N, q.Tool.InputText, p.Tool.InputText)
		}
		if q.Source() != p.Text {
			t.Fatalf("part %d: text %q, want %q", p.N, q.Source(), p.Text)
		}
		if s.Terminal() && !q.Terminal() {
			t.Fatalf("part %d is open after the end", p.N)
		}
		delete(all, p.N)
	}
	if len(all) > 0 {
		t.Fatalf("parts that are not in the log: %v", all)
	}
}

// checkStable: what did not change keeps its pointer, and rows do not vanish.
func checkStable(t *testing.T, last, now *Snapshot, log []*part.Entry) {
	t.Helper()
	was := partsOf(last)
	for n, p := range partsOf(now) {
		old := was[n]
		if old == nil || old == p {
			continue
		}
		if cmp.Equal(old, p, deep) {
			t.Fatalf("part %d is a new pointer to the same: %q %q %v", n, old.text, p.text, old.Blocks.same(p.Blocks))
		}
		for i, b := range old.Blocks.All() {
			if i < p.Blocks.Len() && p.Blocks.At(i) != b && cmp.Equal(b, p.Blocks.At(i), deep) {
				t.Fatalf("block %d is a new pointer to the same", i)
			}
			if b.Closed && p.Blocks.At(i) != b && b.Refs == p.Blocks.At(i).Refs {
				t.Fatalf("block %d changed after it closed", i)
			}
		}
	}
	rows := map[string]*Row{}
	for _, r := range now.Rows.All() {
		rows[r.StageID] = r
	}
	mayVanish := false
	for _, e := range log[last.Seq:] {
		switch e.Type {
		case part.StepReset, part.DataPlanCarried:
			mayVanish = true
		case part.ToolOutput, part.ToolOutputError, part.ToolOutputDenied, part.ToolInputError, part.ToolInputAvailable, part.Finish:
			mayVanish = mayVanish || last.Plan == nil || last.Plan != now.Plan
		}
	}
	for _, r := range last.Rows.All() {
		switch q := rows[r.StageID]; {
		case q == nil:
			if !mayVanish {
				t.Fatalf("row %s vanished", r.StageID)
			}
		case q != r && cmp.Equal(q, r, deep):
			t.Fatalf("row %s is a new pointer to the same", r.StageID)
		}
	}
}

func FuzzFold(f *testing.F) {
	for i := range 40 {
		var seed []byte
		for k := range 200 {
			seed = append(seed, byte((i*7919+k*104729)>>(i%5)))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		log := fuzzLog(data)
		checkLog(t, log, 1)
		if len(data) > 0 {
			checkLog(t, log, 2+int(data[0])%7)
		}
		for i := range log {
			parts := part.Build(log[:i+1])
			settled := append(log[:i+1:i+1], part.Settle(parts, part.Stopped, part.ReasonAbort, epochStart)...)
			for _, p := range part.Build(settled) {
				if !p.Terminal() {
					t.Fatalf("after %d entries part %d is open: %+v", i+1, p.N, p)
				}
			}
		}
	})
}
