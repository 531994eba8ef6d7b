package views

import (
	"fmt"
	"strings"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func partSpecimens(render Renderer) []Specimen {
	s := &sketch{}
	v := view(run("run-parts", part.Running), render)
	file := s.part(part.KindFile, "", 10, 0)
	file.Filename, file.MediaType = "timings.csv", "text/csv"
	bad := s.part(part.KindSource, "", 10, 0)
	bad.URL, bad.Title = "javascript:alert(1)", "A source that is no address"
	code := s.text("")
	code.Blocks = inPieces(fold.BlockCode, "go", fold.Piece{Head: "```go\n", Text: "package main\n"}, fold.Piece{Head: "```go\n", Text: "func main() {"})
	table := s.text("")
	table.Blocks = inPieces(fold.BlockTable, "", fold.Piece{Text: "| a | b |\n|---|--:|\n| 1 | 2 |\n"}, fold.Piece{Head: "| a | b |\n|---|--:|\n", Text: "| 3 | 4 |\n"})
	bullets := s.text("")
	bullets.Blocks = inPieces(fold.BlockList, "", fold.Piece{Text: "- one\n"}, fold.Piece{Text: "- two"})
	running, child := s.child(part.Running, "Measure the tests on tmpfs", nil)
	done, second := s.child(part.Finished, "Look for other slow steps", map[string]any{"keyFindings": []string{"Compile is as fast as before"},
		"artifacts": []any{map[string]string{"type": "file", "ref": "notes/steps.md", "summary": "the other steps"}}, "nextActions": []string{"Nothing"}})
	v.Snap.Unattached = []*fold.Child{child, second}
	var out []Specimen
	for _, p := range []struct {
		name string
		part *fold.Part
	}{
		{"text", s.text(fixtureAnswer)}, {"reasoning", s.reasoning("First the timings.", 60, 4)}, {"reasoning live", s.reasoning("First the", 5, 0)},
		{"source", s.source()}, {"source that is no link", bad}, {"file", file},
		{"notice", s.data(part.DataNotice, part.NoticeData{Kind: "retry", Text: "The provider was overloaded; trying again in 2 s."})},
		{"answer of the reader", s.data(part.DataAnswer, part.AnswerData{Text: "Use the second one."})},
		{"carried plan", s.data(part.DataPlanCarried, planning.Plan{Stages: []planning.Stage{{ID: "a"}, {ID: "b"}}})},
		{"other data", s.data("data-weather", map[string]any{"city": "Bonn", "degrees": 11})},
		{"child live", running}, {"child finished", done},
		{"code in pieces", code}, {"table in pieces", table}, {"list in pieces", bullets},
	} {
		out = append(out, Specimen{"part " + p.name, PartItem(PartView{Run: v, Part: p.part})})
	}
	return out
}

func chromeSpecimens(render Renderer) []Specimen {
	live, waiting, done := view(liveRun(), render), view(waitingRun(), render), view(finishedRun(), render)
	asks := waitingRun()
	asks.Waiting = []part.Waiting{{Kind: "question", RunID: "run-waiting", ToolCallID: "call-q", Question: "Which of the two branches is meant?", Options: []string{"main", "release"}}}
	question := view(asks, render)
	retry := liveRun()
	s := &sketch{n: 40}
	retry.Rows = fold.VecOf(stage(fold.RowInProgress, 1, "Read the timings", s.data(part.DataNotice, part.NoticeData{Kind: "retry", Text: "again"})))
	retry.Rows.At(0).Total = 1
	retrying := view(retry, render)
	chat := fixtureChat()
	stopping := chat
	stopping.Stopping = true
	finished := view(finishedRun(), render)
	finished.Review = true
	return []Specimen{
		{"status line live", StatusLine(chat, &live)}, {"status line stopping", StatusLine(stopping, &live)}, {"status line retrying", StatusLine(chat, &retrying)},
		{"status line waiting", StatusLine(chat, &waiting)}, {"status line at rest", StatusLine(chat, &done)}, {"status line without a run", StatusLine(chat, nil)},
		{"waiting for an approval", Waiting(chat, &waiting)}, {"waiting for an answer", Waiting(chat, &question)}, {"waiting for nothing", Waiting(chat, nil)},
		{"pinned plan", PinnedPlan(chat, &live)}, {"pinned plan at rest", PinnedPlan(chat, &done)},
		{"plan pane", PlanPane(chat, &live)}, {"plan pane without a plan", PlanPane(chat, nil)},
		{"queue", Queue(chat)}, {"queue empty", Queue(ChatState{ID: "chat-1"})},
		{"chat list", ChatList(chat)}, {"chat list empty", ChatList(ChatState{})},
		{"composer", Composer(fixtureChatPage(live))}, {"notice", Notice("The message is empty. Write what the agent should do.")},
		{"stage bar", Gantt(finished)}, {"activity", ActivityView(finished)},
	}
}

func fixtureChat() ChatState {
	return ChatState{ID: "chat-1", Title: "Why is the nightly build slow?", PlanningMode: planning.Metronome, Model: "anthropic/claude-sonnet-4-5", Now: fixtureNow,
		Chats: []ChatItem{
			{ID: "chat-1", Title: "Why is the nightly build slow?", State: part.Running, Updated: at(3), Current: true},
			{ID: "chat-2", Title: "Move the settings page to templ", State: part.Waits, Updated: at(400)},
			{ID: "chat-3", Title: "Compare three ways to store the log and say which one survives a lost commit answer", State: part.Finished, Debt: 2, Updated: at(8000)},
			{ID: "chat-4", Title: "Release notes for 1.4", State: part.Finished, Updated: at(100000)},
			{ID: "chat-5", Title: "Upgrade the database driver", State: part.FailedRun, Updated: at(300000)},
			{ID: "chat-6", Title: "Draft", State: "", Updated: at(900000)},
			{ID: "chat-7", Title: "Old notes", State: part.Stopped, Updated: at(40000000)},
		},
		Queue:  []Queued{{ID: "m-1", Text: "Then do the same for the weekly build."}, {ID: "m-2", Text: "And tell me what it costs.", Held: true}},
		RunIDs: []string{"run-finished", "run-live"}}
}

func fixtureChatPage(runs ...RunView) ChatPageView {
	return ChatPageView{Page: fixturePage("chats"), Chat: fixtureChat(), Runs: runs, MessageID: "m-9",
		Models: []ModelChoice{{ID: "anthropic/claude-sonnet-4-5", Provider: "anthropic", Name: "claude-sonnet-4-5", Current: true}, {ID: "rehearsal", Provider: "rehearsal", Name: "rehearsal"}},
		Modes:  []planning.Mode{planning.Metronome, planning.Classic, planning.Checklist, planning.Steps, planning.None}}
}

func fixturePage(nav string) PageView {
	return PageView{Title: "Stagefold", Nonce: "nonce", Nav: nav, CSS: "/static/app.css", Client: "/static/client.js", App: "/static/app.js"}
}

func longText(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "internal/fold/row.go:%d: a line of a long output\n", i+1)
	}
	return b.String()
}
