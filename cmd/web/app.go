package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"stagefold/internal/agent"
	"stagefold/internal/agent/tools"
	"stagefold/internal/live"
	"stagefold/internal/part"
	"stagefold/internal/store"
	"stagefold/static"
	"stagefold/views"
)

// app is the product, wired.
type app struct {
	cfg    config
	log    *slog.Logger
	db     *store.DB
	hub    *live.Hub
	runs   *agent.Runs
	models *models
	work   *tools.Set
	disp   *dispatcher
	folds  *folds

	cancel context.CancelFunc // ends discovery and keeps new runs from starting
}

func newApp(ctx context.Context, cfg config, log *slog.Logger) (_ *app, err error) {
	a := &app{cfg: cfg, log: log, runs: agent.NewRuns(), models: newModels(cfg)}
	a.folds = newFolds(a.entries)
	a.hub = live.NewHub(live.Config{Entries: a.entries, Chat: a.chatState, Now: now, Render: a.folds.render})
	ctx, a.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(context.Background()))
		}
	}()
	if a.db, err = store.Open(ctx, store.Options{Dir: cfg.data, Now: now, NewID: newID, Logger: log, Committed: a.committed}); err != nil {
		return nil, err
	}
	if a.work, err = tools.Workspace(cfg.workspace, tools.Limits{Output: cfg.toolOutput}); err != nil {
		return nil, fmt.Errorf("open the workspace %s: %w", cfg.workspace, err)
	}
	a.disp = &dispatcher{db: a.db, runs: a.runs, models: a.models, tools: a.work.Tools(), hub: a.hub, cfg: cfg, log: log, stop: ctx}
	if err = a.disp.settleLeftovers(ctx); err != nil {
		return nil, err
	}
	go a.models.discover(ctx)
	return a, nil
}

// committed is called after each commit: the page's viewers may look.
func (a *app) committed(c store.Committed) {
	a.hub.Wake(c.ChatID, live.Wake{RunID: c.RunID, Entries: c.Entries})
}

func (a *app) entries(ctx context.Context, runID string, after int64) ([]*part.Entry, error) {
	return a.db.Entries(ctx, runID, after, 0)
}

// startLines are the sentences after the address.
func (a *app) startLines() []string {
	lines := []string{"tools run without asking (--approve always) in " + a.cfg.workspace}
	if a.cfg.datastarJS != "" {
		lines = append(lines, "the official Datastar file is served; the CSP allows unsafe-eval")
	}
	return lines
}

// endStreams ends every open stream so that clients reconnect.
func (a *app) endStreams(ctx context.Context) { a.hub.Shutdown(ctx) }

// close stops the runs, then closes what they wrote to.
func (a *app) close(ctx context.Context) error {
	a.cancel()
	a.runs.Shutdown(ctx)
	var errs []error
	if a.disp != nil {
		a.disp.ends.Wait()
	}
	a.hub.Shutdown(ctx)
	if a.work != nil {
		errs = append(errs, a.work.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	<-a.models.ready
	return errors.Join(errs...)
}

// page fills the frame of a page.
func (a *app) page(c echo.Context, title, nav string) views.PageView {
	nonce, _ := c.Get("nonce").(string)
	return views.PageView{Title: title, Nonce: nonce, Nav: nav, CSS: static.CSS(), Client: a.clientURL(), App: static.URL("app.js"), Dev: a.cfg.dev}
}

func (a *app) clientURL() string { return static.URL("client.js") }

// render writes a component as a page.
func render(c echo.Context, status int, component templ.Component) error {
	var b bytes.Buffer
	if err := component.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.HTMLBlob(status, b.Bytes())
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// newID makes a random id of 20 lower-case letters and digits.
func newID() string { return randomID(20) }

func randomID(n int) string { return strings.ToLower(rand.Text()[:n]) }

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types come here
	}
	return b
}
