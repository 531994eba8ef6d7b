package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"stagefold/internal/bus"
	"stagefold/internal/store"
)

const maxMessage = 256 << 10 // bytes of one user message

// posted is what a message came to: started, queued or answered.
type posted struct {
	MessageID string `json:"messageId"`
	RunID     string `json:"runId,omitempty"`
	State     string `json:"state"`
}

// post is the one way a message gets in. The id is made by the client: the same
// id twice is one message.
func (a *app) post(ctx context.Context, chatID, messageID, text string) (posted, error) {
	if err := checkMessage(messageID, text); err != nil {
		return posted{}, err
	}
	chat, err := a.db.Chat(ctx, chatID)
	if err != nil {
		return posted{}, err
	}
	model := chat.Model
	if model == "" {
		a.models.wait(ctx)
		model = a.models.standard()
	}
	r, err := a.db.PostMessage(ctx, store.Post{ChatID: chatID, MessageID: messageID, Text: text, NewRunID: newID(), Model: model, Mode: chat.PlanningMode})
	if err != nil {
		return posted{}, err
	}
	if !r.Repeated {
		if r.Run != nil { // of this message, or of an older one that waited
			a.disp.launch(ctx, *r.Run)
		}
		if r.State == "answered" {
			if !a.disp.tell(ctx, r.RunID, bus.Letter{Kind: "answer", MessageID: r.MessageID, Text: text}) {
				a.log.Warn("answer waits for the run's next owner", slog.String("run", r.RunID))
			}
		}
		a.disp.wake(chatID, r.RunID)
	}
	return posted{MessageID: r.MessageID, RunID: r.RunID, State: r.State}, nil
}

func checkMessage(id, text string) error {
	switch {
	case id == "" || len(id) > 100 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		return badRequest("message_id", "The message has no usable id.", "Send an id of 1 to 100 visible ASCII characters, made by the client.")
	case strings.TrimSpace(text) == "":
		return badRequest("empty_message", "The message is empty.", "Write what the agent should do.")
	case len(text) > maxMessage:
		return badRequest("message_too_long", "The message is longer than 256 KiB.", "Put the text into a file of the workspace and name it.")
	case !utf8.ValidString(text):
		return badRequest("message_encoding", "The message is not valid UTF-8.", "Send UTF-8 text.")
	}
	return nil
}

// postMessage is the composer's POST /chats/{id}/messages.
func (a *app) postMessage(c echo.Context) error {
	id := c.Param("id")
	if _, err := a.post(c.Request().Context(), id, formID(c), c.FormValue("text")); err != nil {
		return a.refuse(c, id, err)
	}
	return done(c, "/chats/"+id)
}

// formID is the client-made id; a form without JavaScript has the one that its
// page was rendered with.
func formID(c echo.Context) string { return c.FormValue("id") }

// done answers a write: 204 to the page's client, else back to the page.
func done(c echo.Context, to string) error {
	if fromClient(c) {
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

func fromClient(c echo.Context) bool { return c.Request().Header.Get("Datastar-Request") != "" }

// refuse answers a refused message: JSON to the client, which keeps the draft;
// without JavaScript the page comes again with the draft in it.
func (a *app) refuse(c echo.Context, chatID string, err error) error {
	if fromClient(c) {
		return err
	}
	w := asWebError(err)
	if w.status >= 500 || w.code == "not_found" {
		return err
	}
	return a.showChat(c, w.status, chatID, c.FormValue("text"), w.message+" "+w.hint)
}

// apiPostMessage is POST /api/chats/{id}/messages.
func (a *app) apiPostMessage(c echo.Context) error {
	var in struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	r, err := a.post(c.Request().Context(), c.Param("id"), in.ID, in.Text)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, r)
}

func contextWithin(c echo.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Request().Context(), d)
}
