package views

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// logOf writes entries with seq, step and a second between two.
type logOf struct {
	entries []*part.Entry
	step    int
}

func (l *logOf) add(e part.Entry) *logOf {
	e.Seq, e.Step = int64(len(l.entries)+1), l.step
	e.Time = fixtureNow.Add(time.Duration(len(l.entries)) * time.Second)
	l.entries = append(l.entries, &e)
	return l
}

func (l *logOf) text(id, text string) *logOf {
	return l.add(part.Entry{Type: part.TextStart, ID: id}).add(part.Entry{Type: part.TextDelta, ID: id, Delta: text}).add(part.Entry{Type: part.TextEnd, ID: id})
}

func (l *logOf) call(id, tool, input, output string) *logOf {
	l.add(part.Entry{Type: part.ToolInputStart, ToolCallID: id, ToolName: tool})
	l.add(part.Entry{Type: part.ToolInputAvailable, ToolCallID: id, ToolName: tool, Input: json.RawMessage(input)})
	return l.add(part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: json.RawMessage(output)})
}

// classicLog is a run of the classic planner with a child, whose second list
// leaves the finished stage out.
func classicLog() *logOf {
	l := &logOf{}
	l.add(part.Entry{Type: part.Start, Data: raw(part.StartData{RunID: "run-1", ChatID: "chat-1", UserText: "Fix it", PlanningMode: "classic"})})
	l.step = 1
	l.add(part.Entry{Type: part.StartStep}).text("t1", "Plan first.")
	l.call("w1", "write_todos", `{"todos":[{"id":"a","content":"Read","status":"in_progress"},{"id":"b","content":"Fix","status":"pending"}]}`,
		`{"todos":[{"id":"a","content":"Read","status":"in_progress"},{"id":"b","content":"Fix","status":"pending"}]}`)
	l.text("t2", "Now reading.").call("r1", "read_file", `{"path":"a.txt"}`, `"AAA"`)
	l.add(part.Entry{Type: part.Child, Data: raw(part.ChildData{RunID: "run-2", Goal: "Look at b.txt", State: part.Running})})
	l.call("w2", "write_todos", `{"todos":[{"id":"a","content":"Read","status":"done"},{"id":"b","content":"Fix","status":"in_progress"}]}`,
		`{"todos":[{"id":"a","content":"Read","status":"done"},{"id":"b","content":"Fix","status":"in_progress"}]}`)
	l.text("t3", "Fixing.")
	l.call("w3", "write_todos", `{"todos":[{"id":"b","content":"Fix","status":"done"}]}`,
		`{"todos":[{"id":"a","content":"Read","status":"done"},{"id":"b","content":"Fix","status":"done"}]}`)
	l.text("t4", "All fixed.")
	return l.add(part.Entry{Type: part.Finish, State: part.Finished, FinishReason: part.ReasonStop})
}

// TestFoldedRun: of a folded log, every sentence stands once and in its place,
// live, after a reload and in review.
func TestFoldedRun(t *testing.T) {
	entries := classicLog().entries
	for n := 1; n <= len(entries); n++ { // no prefix of a log breaks a page
		v := view(fold.Fold(entries[:n]), nil)
		markup(t, ChatPage(fixtureChatPage(v)))
		v.Review = true
		markup(t, RunPage(RunPageView{Run: v}))
	}
	v := view(fold.Fold(entries), nil)
	v.Review = true
	page := markup(t, RunPage(RunPageView{Run: v}))
	last := -1
	for _, sentence := range []string{"Plan first.", "Now reading.", `data-tool="read_file"`, "Fixing.", "All fixed."} {
		at := strings.Index(page, sentence)
		if at < last {
			t.Errorf("%q is missing or in the wrong place", sentence)
		}
		last = at
		if strings.HasSuffix(sentence, ".") && strings.Count(page, sentence) != 1 {
			t.Errorf("%q stands %d times", sentence, strings.Count(page, sentence))
		}
	}
	if n := strings.Count(page, `data-part-kind="child"`); n != 1 {
		t.Errorf("the child run stands %d times", n)
	}
	if !strings.Contains(page, "sent:    nothing") {
		t.Error("the row does not show that the model left the finished stage out")
	}
}
