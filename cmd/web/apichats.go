package main

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
	"stagefold/internal/transcript"
)

type chatJSON struct {
	ID           string         `json:"id"`
	Title        string         `json:"title"`
	PlanningMode planning.Mode  `json:"planningMode"`
	Model        string         `json:"model"`
	CreatedAt    time.Time      `json:"createdAt"`
	UpdatedAt    time.Time      `json:"updatedAt"`
	LastRunID    string         `json:"lastRunId,omitempty"`
	LastRunState part.State     `json:"lastRunState,omitempty"`
	Plan         *planning.Plan `json:"plan,omitempty"`
}

type queuedJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Held bool   `json:"held"`
}

type messageJSON struct {
	ID       string            `json:"id"`
	Role     string            `json:"role"`
	RunID    string            `json:"runId,omitempty"`
	Parts    []transcript.Part `json:"parts"`
	Metadata map[string]any    `json:"metadata,omitempty"`
}

func (a *app) chatJSON(c store.Chat) chatJSON {
	out := chatJSON{ID: c.ID, Title: c.Title, PlanningMode: c.PlanningMode, Model: c.Model, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		LastRunID: c.LastRunID, LastRunState: c.LastRunState}
	if out.Model == "" {
		out.Model = a.models.standard()
	}
	if c.Plan.HasPlan {
		out.Plan = &c.Plan.Plan
	}
	return out
}

func (a *app) apiModels(c echo.Context) error {
	type model struct {
		ID            string `json:"id"`
		Provider      string `json:"provider"`
		Name          string `json:"name"`
		ContextWindow int64  `json:"contextWindow,omitempty"`
	}
	a.models.wait(c.Request().Context())
	out := []model{}
	for _, f := range a.models.list() {
		out = append(out, model{f.ID, f.Provider, f.Name, int64(f.ContextWindow)})
	}
	return c.JSON(http.StatusOK, out)
}

func (a *app) apiNewChat(c echo.Context) error {
	var in struct {
		Title        string `json:"title"`
		PlanningMode string `json:"planningMode"`
		Model        string `json:"model"`
		Approve      string `json:"approve"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if in.Approve != "" && in.Approve != "always" {
		return badRequest("approve", "The only approval setting is always.", "Leave approve away.")
	}
	chat, err := a.chatFrom(in.Title, in.PlanningMode, in.Model)
	if err != nil {
		return err
	}
	defer a.chats.forget()
	made, err := a.db.CreateChat(c.Request().Context(), chat)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, map[string]string{"id": made.ID})
}

func (a *app) apiDeleteChat(c echo.Context) error {
	if err := a.dropChat(c.Request().Context(), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (a *app) apiChats(c echo.Context) error {
	list, next, err := a.db.Chats(c.Request().Context(), c.QueryParam("cursor"), chatsListed)
	if err != nil {
		return err
	}
	out := []chatJSON{}
	for _, ch := range list {
		out = append(out, a.chatJSON(ch))
	}
	return c.JSON(http.StatusOK, map[string]any{"chats": out, "cursor": next})
}

// apiChat is GET /api/chats/{id}: the chat with its messages; each run is one
// assistant message.
func (a *app) apiChat(c echo.Context) error {
	ctx := c.Request().Context()
	chat, err := a.db.Chat(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	runs, err := a.db.ChatRuns(ctx, chat.ID)
	if err != nil {
		return err
	}
	messages, err := a.db.Messages(ctx, chat.ID)
	if err != nil {
		return err
	}
	queue, out := []queuedJSON{}, []messageJSON{}
	for _, m := range messages {
		if m.State == store.MessageQueued || m.State == store.MessageHeld {
			queue = append(queue, queuedJSON{m.ID, m.Text, m.State == store.MessageHeld})
		}
	}
	told := map[string]bool{}
	for _, r := range runs {
		if !told[r.UserMessageID] { // a run again works on a message told before
			told[r.UserMessageID] = true
			text := r.UserText
			out = append(out, messageJSON{ID: r.UserMessageID, Role: "user", RunID: r.ID, Parts: []transcript.Part{{Type: "text", Text: &text}}})
		}
		m, err := a.assistantMessage(c, r)
		if err != nil {
			return err
		}
		out = append(out, m)
	}
	return c.JSON(http.StatusOK, struct {
		chatJSON
		Queue    []queuedJSON  `json:"queue"`
		Messages []messageJSON `json:"messages"`
	}{a.chatJSON(chat), queue, out})
}

func (a *app) assistantMessage(c echo.Context, r store.Run) (messageJSON, error) {
	entries, err := a.db.Entries(c.Request().Context(), r.ID, 0, 0)
	if err != nil {
		return messageJSON{}, err
	}
	m := messageJSON{ID: "m-" + r.ID, Role: "assistant", RunID: r.ID, Parts: []transcript.Part{}, Metadata: map[string]any{"state": r.State, "usage": r.Usage}}
	if r.FinishReason != "" {
		m.Metadata["finishReason"] = r.FinishReason
	}
	for _, p := range part.Build(entries) {
		m.Parts = append(m.Parts, transcript.FromPart(p, p.Text))
	}
	return m, nil
}
