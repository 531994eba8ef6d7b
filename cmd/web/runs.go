package main

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"stagefold/internal/part"
	"stagefold/internal/store"
	"stagefold/views"
)

const runsListed = 50

var runStates = []part.State{part.Queued, part.Running, part.Waits, part.Finished, part.FailedRun, part.Stopped, part.Interrupted}

func runFilter(c echo.Context) (store.RunFilter, error) {
	f := store.RunFilter{State: c.QueryParam("state"), Model: c.QueryParam("model"), Query: strings.TrimSpace(c.QueryParam("q")), Cursor: c.QueryParam("cursor"), Limit: runsListed}
	if f.State == "" {
		return f, nil
	}
	for _, s := range runStates {
		if f.State == string(s) {
			return f, nil
		}
	}
	return f, badRequest("state", "The run state is unknown.", "Use queued, running, waiting, finished, failed, stopped or interrupted.")
}

// runsPage is GET /runs: all runs, newest first.
func (a *app) runsPage(c echo.Context) error {
	ctx := c.Request().Context()
	f, err := runFilter(c)
	if err != nil {
		return err
	}
	list, next, err := a.db.Runs(ctx, f)
	if err != nil {
		return err
	}
	used, err := a.db.Models(ctx)
	if err != nil {
		return err
	}
	v := views.RunsPageView{Page: a.page(c, "Runs", "runs"), State: f.State, Model: f.Model, Query: f.Query, Models: used, Next: next, Now: now()}
	for _, r := range list {
		item := runItem(r)
		item.Cost = a.costText(r.Model, r.Usage)
		v.Runs = append(v.Runs, item)
	}
	return render(c, http.StatusOK, views.RunsPage(v))
}

func runItem(r store.Run) views.RunItem {
	end := r.FinishedAt
	if end.IsZero() {
		end = now()
	}
	u := r.Usage
	return views.RunItem{ID: r.ID, ChatID: r.ChatID, ChatTitle: r.ChatTitle, Text: titleOf(r.UserText), State: r.State, FinishReason: r.FinishReason,
		Debt: len(r.Debt), Model: r.Model, Started: firstTime(r.StartedAt, r.CreatedAt), Duration: since(r.StartedAt, end),
		StagesDone: r.StagesDone, Stages: r.Stages, Tokens: u.Input + u.Output + u.CacheRead + u.CacheWrite}
}
