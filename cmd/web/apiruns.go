package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
	"stagefold/internal/transcript"
)

// stageJSON is a row at the API (docs/api.md, 'a stage').
type stageJSON struct {
	ID             string            `json:"id"`
	Index          int               `json:"index"`
	Total          int               `json:"total"`
	Content        string            `json:"content"`
	Deliverable    string            `json:"deliverable,omitempty"`
	Evidence       string            `json:"evidence,omitempty"`
	Status         fold.Status       `json:"status"`
	Icon           string            `json:"icon"`
	Unverified     bool              `json:"unverified"`
	ClosedByRunEnd bool              `json:"closedByRunEnd"`
	ResolvedBy     string            `json:"resolvedBy,omitempty"`
	StartedAt      *time.Time        `json:"startedAt,omitempty"`
	FinishedAt     *time.Time        `json:"finishedAt,omitempty"`
	ElapsedMS      int64             `json:"elapsedMs"`
	Tools          int               `json:"tools"`
	Usage          part.Usage        `json:"usage"`
	Cost           *float64          `json:"cost,omitempty"`
	Files          []part.FileChange `json:"files"`
	Children       []childJSON       `json:"children"`
	Parts          []transcript.Part `json:"parts"`
}

type childJSON struct {
	RunID   string          `json:"runId"`
	StageID string          `json:"stageId,omitempty"`
	Goal    string          `json:"goal"`
	State   part.State      `json:"state"`
	Capsule json.RawMessage `json:"capsule,omitempty"`
}

type activityJSON struct {
	Phase   part.Phase `json:"phase"`
	Summary string     `json:"summary"`
	Step    int        `json:"step"`
	Time    time.Time  `json:"time"`
	Seq     int64      `json:"seq"`
}

type runJSON struct {
	ID           string            `json:"id"`
	ChatID       string            `json:"chatId"`
	ParentRunID  string            `json:"parentRunId,omitempty"`
	State        part.State        `json:"state"`
	FinishReason part.FinishReason `json:"finishReason,omitempty"`
	Error        *part.RunError    `json:"error,omitempty"`
	Note         string            `json:"note,omitempty"`
	Attempts     int               `json:"attempts"`
	Model        string            `json:"model"`
	PlanningMode planning.Mode     `json:"planningMode"`
	Text         string            `json:"text"`
	StartedAt    *time.Time        `json:"startedAt,omitempty"`
	FinishedAt   *time.Time        `json:"finishedAt,omitempty"`
	Usage        part.Usage        `json:"usage"`
	Cost         *float64          `json:"cost,omitempty"` // US dollars
	StagesDone   int               `json:"stagesDone"`
	StagesTotal  int               `json:"stagesTotal"`
	Debt         []part.Debt       `json:"debt"`
	LastSeq      int64             `json:"lastSeq"`
}

func (a *app) runHead(r store.Run) runJSON {
	return runJSON{Cost: a.cost(r.Model, r.Usage), ID: r.ID, ChatID: r.ChatID, ParentRunID: r.ParentRunID, State: r.State, FinishReason: r.FinishReason, Error: r.Error, Note: r.Note,
		Attempts: r.Attempts, Model: r.Model, PlanningMode: r.Mode, Text: r.UserText, StartedAt: timeOrNil(r.StartedAt), FinishedAt: timeOrNil(r.FinishedAt),
		Usage: r.Usage, StagesDone: r.StagesDone, StagesTotal: r.Stages, Debt: orEmpty(r.Debt), LastSeq: r.LastSeq}
}

func (a *app) apiRuns(c echo.Context) error {
	f, err := runFilter(c)
	if err != nil {
		return err
	}
	list, next, err := a.db.Runs(c.Request().Context(), f)
	if err != nil {
		return err
	}
	out := []runJSON{}
	for _, r := range list {
		out = append(out, a.runHead(r))
	}
	return c.JSON(http.StatusOK, map[string]any{"runs": out, "cursor": next})
}

// apiRun is GET /api/runs/{id}: the run's head and its folded log.
func (a *app) apiRun(c echo.Context) error {
	ctx := c.Request().Context()
	r, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	snap, err := a.folds.snapshot(ctx, r.ID)
	if err != nil {
		return err
	}
	stages := []stageJSON{}
	for _, row := range snap.Rows.All() {
		st := stageOf(row)
		st.Cost = a.cost(r.Model, row.Usage)
		stages = append(stages, st)
	}
	activity := []activityJSON{}
	for _, l := range snap.Activity.All() {
		activity = append(activity, activityJSON{l.Phase, l.Summary, l.Step, l.Time, l.Seq})
	}
	out := struct {
		runJSON
		Plan     *planning.Plan    `json:"plan,omitempty"`
		Stages   []stageJSON       `json:"stages"`
		Lead     []transcript.Part `json:"lead"`
		Sink     []transcript.Part `json:"sink"`
		Answer   []transcript.Part `json:"answer"`
		Waiting  []part.Waiting    `json:"waiting"`
		Children []childJSON       `json:"children"`
		Activity []activityJSON    `json:"activity"`
	}{a.runHead(r), snap.Plan, stages, partsOf(snap.Lead), partsOf(snap.Sink), partsOf(snap.Answer), orEmpty(snap.Waiting), childrenOf(snap), activity}
	if snap.PlanData != nil && snap.Plan != nil {
		plan := snap.PlanData.Plan
		out.Plan = &plan
	}
	out.LastSeq, out.Usage, out.Cost = snap.Seq, snap.Usage, a.cost(r.Model, snap.Usage)
	return c.JSON(http.StatusOK, out)
}

func stageOf(row *fold.Row) stageJSON {
	s := stageJSON{ID: row.StageID, Index: row.Index, Total: row.Total, Content: row.Content, Deliverable: row.Deliverable, Evidence: row.Evidence,
		Status: row.Status, Icon: row.Status.Icon(), Unverified: row.Unverified, ClosedByRunEnd: row.ClosedByRunEnd, ResolvedBy: row.ResolvedBy,
		StartedAt: timeOrNil(row.Started), FinishedAt: timeOrNil(row.Ended), ElapsedMS: row.Elapsed.Milliseconds(), Tools: row.Tools, Usage: row.Usage,
		Files: orEmpty(row.Files), Children: []childJSON{}, Parts: partsOf(row.Parts)}
	for _, ch := range row.Children {
		s.Children = append(s.Children, childOf(ch))
	}
	return s
}

func partsOf(v fold.Vec[*fold.Part]) []transcript.Part {
	out := []transcript.Part{}
	for _, p := range v.All() {
		out = append(out, transcript.FromPart(&p.Part, p.Source()))
	}
	return out
}

func childOf(ch *fold.Child) childJSON {
	return childJSON{RunID: ch.RunID, StageID: ch.StageID, Goal: ch.Goal, State: ch.State, Capsule: ch.Capsule}
}

func childrenOf(s *fold.Snapshot) []childJSON {
	out := []childJSON{}
	for _, row := range s.Rows.All() {
		for _, ch := range row.Children {
			out = append(out, childOf(ch))
		}
	}
	for _, ch := range s.Unattached {
		out = append(out, childOf(ch))
	}
	return out
}

// apiEntries is GET /api/runs/{id}/entries?after=: the log in seq order.
func (a *app) apiEntries(c echo.Context) error {
	ctx := c.Request().Context()
	after := int64(0)
	if q := c.QueryParam("after"); q != "" {
		var err error
		if after, err = strconv.ParseInt(q, 10, 64); err != nil || after < 0 {
			return badRequest("after", "after is not a seq.", "Give the seq of the last entry you have, or leave it away.")
		}
	}
	r, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	entries, err := a.db.Entries(ctx, r.ID, after, 0)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, orEmpty(entries))
}

// apiRevisions is GET /api/runs/{id}/plan/revisions.
func (a *app) apiRevisions(c echo.Context) error {
	ctx := c.Request().Context()
	r, err := a.db.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	list, err := a.db.Revisions(ctx, r.ID)
	if err != nil {
		return err
	}
	type revision struct {
		Revision    int             `json:"revision"`
		Time        time.Time       `json:"time"`
		Tool        string          `json:"tool"`
		Explanation string          `json:"explanation,omitempty"`
		Note        string          `json:"note,omitempty"`
		Stages      json.RawMessage `json:"stages"`
	}
	out := []revision{}
	for _, v := range list {
		var plan struct {
			Stages json.RawMessage `json:"stages"`
		}
		if err := json.Unmarshal(mustJSON(v.Plan), &plan); err != nil {
			return err
		}
		out = append(out, revision{v.Revision, v.Time, v.Tool, v.Explanation, v.Note, plan.Stages})
	}
	return c.JSON(http.StatusOK, out)
}

// apiToolOutput is GET /api/tool-outputs/{run}/{call}: the whole output as
// bytes, never rendered.
func (a *app) apiToolOutput(c echo.Context) error {
	ctx := c.Request().Context()
	_, b, err := a.db.ToolOutput(ctx, c.Param("run"), c.Param("call"))
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", "inline")
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", b)
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
