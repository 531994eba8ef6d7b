package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
	"stagefold/views"
)

const (
	chatsListed = 100 // chats at the side
	runsShown   = 20  // newest runs on the chat page; earlier ones are linked
)

// home is GET /: an empty chat, made when its first message is sent.
func (a *app) home(c echo.Context) error {
	return a.showNewChat(c, http.StatusOK, "", "")
}

func (a *app) showNewChat(c echo.Context, status int, draft, sentence string) error {
	state, err := a.chatState(c.Request().Context(), "")
	if err != nil {
		return err
	}
	state.Model, state.PlanningMode = a.models.standard(), a.cfg.mode
	return render(c, status, views.ChatPage(views.ChatPageView{Page: a.page(c, "New chat", "chats"), Chat: state,
		Models: a.models.choices(state.Model), Modes: modes(), Draft: draft, Error: sentence, MessageID: newID()}))
}

// newChat is POST /chats: a chat with its first message. The chat's id comes
// from the message's, so that a repeated post finds the same chat.
func (a *app) newChat(c echo.Context) error {
	ctx := c.Request().Context()
	id, text := formID(c), c.FormValue("text")
	chatID, err := a.openChat(ctx, id, text, c.FormValue("model"), c.FormValue("planningMode"))
	if err == nil {
		_, err = a.post(ctx, chatID, id, text)
	}
	if err != nil {
		w := asWebError(err)
		if fromClient(c) || w.status >= 500 {
			return err
		}
		return a.showNewChat(c, w.status, text, w.message+" "+w.hint)
	}
	return c.Redirect(http.StatusSeeOther, "/chats/"+chatID)
}

func (a *app) openChat(ctx context.Context, id, text, model, mode string) (string, error) {
	if err := checkMessage(id, text); err != nil {
		return "", err
	}
	chat, err := a.chatFrom("", mode, model)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	chat.ID = "c" + hex.EncodeToString(sum[:10])
	chat.Title = titleOf(text)
	if _, err := a.db.Chat(ctx, chat.ID); err == nil {
		return chat.ID, nil
	}
	defer a.chats.forget()
	made, err := a.db.CreateChat(ctx, chat)
	return made.ID, err
}

// chatFrom checks a new chat's settings.
func (a *app) chatFrom(title, mode, model string) (store.Chat, error) {
	chat := store.Chat{Title: titleOf(title), PlanningMode: a.cfg.mode, Model: model, ApproveAll: true}
	if mode != "" {
		m, err := planning.ParseMode(mode)
		if err != nil {
			return chat, badRequest("planning_mode", "The planning mode is unknown.", "Use metronome, classic, checklist, steps or none.")
		}
		chat.PlanningMode = m
	}
	if model != "" {
		if _, err := a.models.resolve(model); err != nil {
			return chat, badRequest("model", "The model cannot be used: "+err.Error()+".", "Choose one of GET /api/models.")
		}
	}
	return chat, nil
}

// titleOf is a chat's title, and a run's where it needs one line.
func titleOf(text string) string { return store.Title(text) }

// chatPage is GET /chats/{id}.
func (a *app) chatPage(c echo.Context) error {
	return a.showChat(c, http.StatusOK, c.Param("id"), "", "")
}

func (a *app) showChat(c echo.Context, status int, chatID, draft, sentence string) error {
	ctx := c.Request().Context()
	state, err := a.chatState(ctx, chatID)
	if err != nil {
		return err
	}
	v := views.ChatPageView{Page: a.page(c, state.Title, "chats"), Chat: state, Models: a.models.choices(state.Model), Modes: modes(),
		Draft: draft, Error: sentence, MessageID: newID()}
	ids := state.RunIDs
	if len(ids) > runsShown {
		v.Older = len(ids) - runsShown
		ids = ids[v.Older:]
	}
	for _, id := range ids {
		r, err := a.runView(ctx, id)
		if err != nil {
			return err
		}
		v.Runs = append(v.Runs, r)
	}
	return render(c, status, views.ChatPage(v))
}

func (a *app) runView(ctx context.Context, runID string) (views.RunView, error) {
	snap, err := a.folds.snapshot(ctx, runID)
	if err != nil {
		return views.RunView{}, err
	}
	if snap.Start.RunID == "" { // queued: nothing is logged yet
		run, err := a.db.Run(ctx, runID)
		if err != nil {
			return views.RunView{}, err
		}
		queued := *snap
		queued.Start = part.StartData{RunID: run.ID, ChatID: run.ChatID, UserText: run.UserText, UserMessageID: run.UserMessageID, Model: run.Model, PlanningMode: run.Mode}
		queued.Started = run.CreatedAt
		snap = &queued
	}
	return views.RunView{Snap: snap, Now: now(), Render: a.folds.render, Cost: a.costText(snap.Start.Model, snap.Usage)}, nil
}

// chatState is the chat page beside its runs; the live view asks for it too.
func (a *app) chatState(ctx context.Context, chatID string) (views.ChatState, error) {
	s := views.ChatState{ID: chatID, ApproveAll: true, Now: now()}
	list, err := a.chats.newest(ctx)
	if err != nil {
		return s, err
	}
	for _, ch := range list {
		s.Chats = append(s.Chats, views.ChatItem{ID: ch.ID, Title: ch.Title, State: ch.LastRunState, Debt: ch.LastRunDebt, Updated: ch.UpdatedAt, Current: ch.ID == chatID})
	}
	if chatID == "" {
		return s, nil
	}
	chat, err := a.db.Chat(ctx, chatID)
	if err != nil {
		return s, err
	}
	s.Title, s.PlanningMode, s.Model = chat.Title, chat.PlanningMode, chat.Model
	if s.Model == "" {
		s.Model = a.models.standard()
	}
	messages, err := a.db.Messages(ctx, chatID)
	if err != nil {
		return s, err
	}
	for _, m := range messages {
		if m.State == store.MessageQueued || m.State == store.MessageHeld {
			s.Queue = append(s.Queue, views.Queued{ID: m.ID, Text: m.Text, Held: m.State == store.MessageHeld})
		}
	}
	runs, err := a.db.ChatRuns(ctx, chatID)
	if err != nil {
		return s, err
	}
	for _, r := range runs {
		s.RunIDs = append(s.RunIDs, r.ID)
		s.Stopping = r.CancelRequested && !r.State.Terminal()
	}
	return s, nil
}

// chatShortState is GET /chats/{id}/state: what a tab without a stream polls.
func (a *app) chatShortState(c echo.Context) error {
	ctx := c.Request().Context()
	chat, err := a.db.Chat(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	out := map[string]any{"title": chat.Title, "state": chat.LastRunState, "runId": chat.LastRunID, "seq": 0}
	if chat.LastRunID != "" {
		run, err := a.db.Run(ctx, chat.LastRunID)
		if err != nil {
			return err
		}
		out["state"], out["seq"], out["waiting"] = run.State, run.LastSeq, len(run.Waiting)
	}
	return c.JSON(http.StatusOK, out)
}

// chatSettings is POST /chats/{id}/settings: model and planning mode of the
// chat's next runs.
func (a *app) chatSettings(c echo.Context) error {
	set, err := a.chatFrom("", c.FormValue("planningMode"), c.FormValue("model"))
	if err != nil {
		return err
	}
	id := c.Param("id")
	err = a.db.UpdateChat(c.Request().Context(), id, func(chat *store.Chat) {
		if c.FormValue("model") != "" {
			chat.Model = set.Model
		}
		if c.FormValue("planningMode") != "" {
			chat.PlanningMode = set.PlanningMode
		}
	})
	if err != nil {
		return err
	}
	a.disp.wake(id, "")
	return done(c, "/chats/"+id)
}

func (a *app) dropChat(ctx context.Context, id string) error {
	defer a.chats.forget()
	return a.db.DeleteChat(ctx, id)
}

func (a *app) deleteChat(c echo.Context) error {
	if err := a.dropChat(c.Request().Context(), c.Param("id")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

func modes() []planning.Mode {
	return []planning.Mode{planning.Metronome, planning.Classic, planning.Checklist, planning.Steps, planning.None}
}

func since(from, to time.Time) time.Duration {
	if from.IsZero() || to.Before(from) {
		return 0
	}
	return to.Sub(from)
}
