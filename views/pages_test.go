package views

import (
	"testing"

	"github.com/a-h/templ"

	"stagefold/internal/part"
)

// wholePages are the whole pages, in the states that differ as a page.
func wholePages(render Renderer) []Specimen {
	live, waiting, done := view(liveRun(), render), view(waitingRun(), render), view(finishedRun(), render)
	done.Cost = "$0.12"
	review := done
	review.Review = true
	liveReview := live
	liveReview.Review = true
	fresh := fixtureChatPage()
	fresh.Chat.ID, fresh.Chat.Title, fresh.Chat.Queue, fresh.Chat.RunIDs, fresh.Chat.Model = "", "", nil, nil, "rehearsal"
	refused := fixtureChatPage(done)
	refused.Draft, refused.Error, refused.Chat.Queue, refused.Older = "half a thought", "The message is longer than 256 KiB. Put the text into a file of the workspace and name it.", nil, 3
	atRest := fixtureChatPage(view(plainRun(), render), done)
	atRest.Chat.Queue = nil
	waits := fixtureChatPage(view(plainRun(), render), waiting)
	waits.Chat.Queue = nil
	runs := RunsPageView{Page: fixturePage("runs"), Now: fixtureNow, Models: []string{"anthropic/claude-sonnet-4-5", "rehearsal"}, Next: "c2", State: "finished", Query: "build",
		Runs: []RunItem{
			{ID: "run-live", ChatID: "chat-1", ChatTitle: "Why is the nightly build slow?", Text: "Find out why the nightly build got slow and write down what to change.", State: part.Running, Model: "anthropic/claude-sonnet-4-5", Started: at(190), StagesDone: 2, Stages: 5, Tokens: 30100},
			{ID: "run-finished", ChatID: "chat-1", ChatTitle: "Why is the nightly build slow?", Text: "And the weekly one?", State: part.Finished, Debt: 2, Model: "anthropic/claude-sonnet-4-5", Started: at(4000), Duration: 188e9, StagesDone: 3, Stages: 5, Tokens: 91000, Cost: "$0.12"},
			{ID: "run-plain", ChatID: "chat-2", ChatTitle: "", Text: "What does the Makefile build?", State: part.Finished, Model: "rehearsal", Started: at(90000), Duration: 4e9, Tokens: 800},
			{ID: "run-failed", ChatID: "chat-3", ChatTitle: "Upgrade the database driver", Text: "Upgrade the driver and run all tests", State: part.FailedRun, Model: "openai/gpt-5.2", Started: at(400000), Duration: 61e9, StagesDone: 1, Stages: 4, Tokens: 12000},
		}}
	settings := SettingsView{Page: fixturePage("settings"), Models: fixtureChatPage().Models, Modes: fixtureChatPage().Modes, Mode: "metronome",
		Workspace: "/home/me/workspace", DataDir: "/home/me/data", Approve: "always", Notes: []string{"No API key was found; the built-in rehearsal model is used."}}
	return []Specimen{
		{"page chat", ChatPage(fixtureChatPage(done, live))}, {"page chat waiting", ChatPage(waits)}, {"page chat at rest", ChatPage(atRest)},
		{"page new chat", ChatPage(fresh)}, {"page chat refused", ChatPage(refused)},
		{"page runs", RunsPage(runs)}, {"page runs empty", RunsPage(RunsPageView{Page: fixturePage("runs"), Now: fixtureNow})},
		{"page run", RunPage(RunPageView{Page: fixturePage("runs"), Run: review, ChatID: "chat-1", ChatTitle: "Why is the nightly build slow?", StageKey: StageKey("stage-1")})},
		{"page run live", RunPage(RunPageView{Page: fixturePage("runs"), Run: liveReview, ChatID: "chat-1", ChatTitle: "Why is the nightly build slow?"})},
		{"page settings", SettingsPage(settings)},
		{"page error", ErrorPage(ErrorView{Page: fixturePage(""), Status: 404, Message: "There is no such run.", Hint: "It may have been deleted with its chat."})},
	}
}

func all(render Renderer) []Specimen { return append(Specimens(render), wholePages(render)...) }

func markup(t *testing.T, c templ.Component) string {
	t.Helper()
	html, err := templ.ToGoHTML(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}
