package views

import (
	"github.com/a-h/templ"
)

// newest is the run that the status line and the plan are about.
func (v ChatPageView) newest() *RunView {
	if len(v.Runs) == 0 {
		return nil
	}
	return &v.Runs[len(v.Runs)-1]
}

func (v ChatPageView) composerPath() string {
	if v.Chat.ID == "" {
		return ChatsPath()
	}
	return MessagesPath(v.Chat.ID)
}

func (v ChatPageView) placeholder() string {
	if v.Chat.ID == "" {
		return "What should the agent do?"
	}
	return "Message"
}

// picker are the attributes of the model and mode pickers: in a chat they
// belong to its settings, which a change saves; in a new one to the message.
func (v ChatPageView) picker() templ.OrderedAttributes {
	if v.Chat.ID == "" {
		return nil
	}
	return templ.OrderedAttributes{
		templ.KV[string, any]("form", "chat-settings"),
		templ.KV[string, any]("data-on:change", "el.form.requestSubmit()"),
	}
}

// stream is the expression that opens the page's stream behind what the page
// already shows.
func (v ChatPageView) stream() string {
	path := StreamPath(v.Chat.ID)
	if run := v.newest(); run != nil {
		path = StreamFrom(v.Chat.ID, run.Snap.Start.RunID, run.Snap.Seq)
	}
	return "@get('" + path + "')"
}

// title is the tab's: a run that waits outranks everything.
func (v ChatPageView) title() string {
	if waits(v.newest()) {
		return "Waits for you · " + chatTitle(v.Chat.Title)
	}
	return chatTitle(v.Chat.Title)
}

func chatTitle(title string) string {
	if t := Line(title); t != "" {
		return t
	}
	return "New chat"
}

// rehearsal: the chat would be answered by the built-in script.
func (v ChatPageView) rehearsal() bool { return v.Chat.Model == "rehearsal" }

// examples are messages that show the rehearsal model's paths.
var examples = []string{"Survey the workspace and write survey.md", "A long survey, please", "Please fail on the way", "What can you do?"}
