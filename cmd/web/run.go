package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"stagefold/views"
)

// runPage is GET /runs/{id}: one run for review; it works without JavaScript.
func (a *app) runPage(c echo.Context) error {
	ctx := c.Request().Context()
	run, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	view, err := a.runView(ctx, run.ID)
	if err != nil {
		return err
	}
	view.Review = true
	page := 1
	if q := c.QueryParam("page"); q != "" {
		if page, err = strconv.Atoi(q); err != nil || page < 1 {
			return badRequest("page", "The page number is not a whole number from 1.", "Leave ?page= away.")
		}
	}
	return render(c, http.StatusOK, views.RunPage(views.RunPageView{Page: a.page(c, titleOf(run.UserText), "runs"), Run: view,
		ChatID: run.ChatID, ChatTitle: run.ChatTitle, Model: run.Model, StageKey: c.QueryParam("stage"), PartPage: page}))
}

// stageFragment is GET /runs/{id}/stages/{key}: the parts of one stage, for a
// row whose body is not in the page.
func (a *app) stageFragment(c echo.Context) error {
	view, err := a.runView(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	for _, row := range view.Snap.Rows.All() {
		if views.StageKey(row.StageID) == c.Param("key") {
			return render(c, http.StatusOK, views.RowBody(views.RowView{Run: view, Row: row, Body: true}))
		}
	}
	return &webError{http.StatusNotFound, "no_stage", "This run has no such stage.", "Reload the page."}
}

func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
