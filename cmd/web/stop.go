package main

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"stagefold/internal/bus"
)

// stop ends a run: delivered, finished (it was over already), or no-owner (no
// worker holds it; the durable flag is set and the next owner obeys it).
func (a *app) stop(ctx context.Context, runID string) (string, error) {
	state, err := a.db.RequestStop(ctx, runID)
	if err != nil {
		return "", err
	}
	switch {
	case state.Terminal():
		return "finished", nil
	case a.disp.tell(ctx, runID, bus.Letter{Kind: "stop"}):
		return "delivered", nil
	}
	run, err := a.db.Run(ctx, runID)
	if err != nil {
		return "", err
	}
	if run.State.Terminal() {
		return "finished", nil
	}
	return "no-owner", nil
}

func (a *app) stopRun(c echo.Context) error {
	ctx := c.Request().Context()
	run, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	if _, err := a.stop(ctx, run.ID); err != nil {
		return err
	}
	return done(c, "/chats/"+run.ChatID)
}

func (a *app) apiStop(c echo.Context) error {
	result, err := a.stop(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"result": result})
}

// again starts a new run on the same user message.
func (a *app) again(ctx context.Context, runID string) (posted, error) {
	run, err := a.db.RunAgain(ctx, runID, newID())
	if err != nil {
		return posted{}, err
	}
	a.disp.launch(ctx, run)
	a.disp.wake(run.ChatID, run.ID)
	return posted{MessageID: run.UserMessageID, RunID: run.ID, State: "started"}, nil
}

func (a *app) runAgain(c echo.Context) error {
	ctx := c.Request().Context()
	run, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	if _, err := a.again(ctx, run.ID); err != nil {
		return err
	}
	return done(c, "/chats/"+run.ChatID)
}

func (a *app) apiAgain(c echo.Context) error {
	r, err := a.again(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, r)
}

// answer hands the user's answer to a run that waits for one.
func (a *app) answer(ctx context.Context, runID, toolCallID, text string) error {
	if err := checkMessage("answer", text); err != nil {
		return err
	}
	run, err := a.db.Run(ctx, runID)
	if err != nil {
		return err
	}
	if !a.disp.tell(ctx, run.ID, bus.Letter{Kind: "answer", ToolCallID: toolCallID, Text: text}) {
		return &webError{http.StatusConflict, "not_waiting", "This run does not wait for an answer.", "Send a message to the chat instead."}
	}
	return nil
}

// answerRun is POST /runs/{id}/answer: one of the options that a question offers.
func (a *app) answerRun(c echo.Context) error {
	ctx := c.Request().Context()
	run, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	if err := a.answer(ctx, run.ID, c.FormValue("toolCallId"), c.FormValue("text")); err != nil {
		return err
	}
	return done(c, "/chats/"+run.ChatID)
}

// apiAnswer is POST /api/runs/{id}/answer: the answer to ask_user or to a
// closing question.
func (a *app) apiAnswer(c echo.Context) error {
	var in struct {
		ToolCallID string `json:"toolCallId"`
		Text       string `json:"text"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if err := a.answer(c.Request().Context(), c.Param("id"), in.ToolCallID, in.Text); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"state": "answered"})
}
