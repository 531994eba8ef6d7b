package views

import (
	"net/url"

	"stagefold/internal/part"
)

var runStates = []part.State{part.Queued, part.Running, part.Waits, part.Finished, part.FailedRun, part.Stopped, part.Interrupted}

func (v RunsPageView) filtered() bool { return v.State != "" || v.Model != "" || v.Query != "" }

// nextPath is the next page under the same filters.
func (v RunsPageView) nextPath() string {
	q := url.Values{"cursor": {v.Next}}
	for name, value := range map[string]string{"state": v.State, "model": v.Model, "q": v.Query} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return RunsPath() + "?" + q.Encode()
}

// chatName is the run's chat, shortly where it has the same title as the run.
func (r RunItem) chatName() string {
	if title := chatTitle(r.ChatTitle); title != runTitle(r.Text) {
		return title
	}
	return "its chat"
}

// runTitle is the user's message as a title.
func runTitle(text string) string {
	if t := short(Line(text), 120); t != "" {
		return t
	}
	return "Run without a message"
}
