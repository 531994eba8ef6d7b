package main

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// The queue: messages that wait for the chat's run to end.

func (a *app) changeQueued(ctx context.Context, chatID, messageID, text string) error {
	if err := checkMessage(messageID, text); err != nil {
		return err
	}
	if err := a.db.EditQueued(ctx, chatID, messageID, text); err != nil {
		return err
	}
	a.disp.wake(chatID, "")
	return nil
}

func (a *app) dropQueued(ctx context.Context, chatID, messageID string) error {
	if err := a.db.DeleteQueued(ctx, chatID, messageID); err != nil {
		return err
	}
	a.disp.wake(chatID, "")
	return nil
}

// release sends a held message: it becomes a run, or queues behind a live one.
func (a *app) release(ctx context.Context, chatID, messageID string) (posted, error) {
	chat, err := a.db.Chat(ctx, chatID)
	if err != nil {
		return posted{}, err
	}
	model := chat.Model
	if model == "" {
		model = a.models.standard()
	}
	r, err := a.db.SendQueued(ctx, chatID, messageID, newID(), model)
	if err != nil {
		return posted{}, err
	}
	if r.Run != nil && !r.Repeated {
		a.disp.launch(ctx, *r.Run)
	}
	a.disp.wake(chatID, r.RunID)
	return posted{MessageID: r.MessageID, RunID: r.RunID, State: r.State}, nil
}

func (a *app) editQueued(c echo.Context) error {
	if err := a.changeQueued(c.Request().Context(), c.Param("id"), c.Param("message"), c.FormValue("text")); err != nil {
		return err
	}
	return done(c, "/chats/"+c.Param("id"))
}

func (a *app) deleteQueued(c echo.Context) error {
	if err := a.dropQueued(c.Request().Context(), c.Param("id"), c.Param("message")); err != nil {
		return err
	}
	return done(c, "/chats/"+c.Param("id"))
}

func (a *app) sendQueued(c echo.Context) error {
	if _, err := a.release(c.Request().Context(), c.Param("id"), c.Param("message")); err != nil {
		return err
	}
	return done(c, "/chats/"+c.Param("id"))
}

func (a *app) apiEditQueued(c echo.Context) error {
	var in struct {
		Text string `json:"text"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if err := a.changeQueued(c.Request().Context(), c.Param("id"), c.Param("message"), in.Text); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (a *app) apiDeleteQueued(c echo.Context) error {
	if err := a.dropQueued(c.Request().Context(), c.Param("id"), c.Param("message")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (a *app) apiSendQueued(c echo.Context) error {
	r, err := a.release(c.Request().Context(), c.Param("id"), c.Param("message"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, r)
}
