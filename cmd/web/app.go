package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"stagefold/internal/agent"
	"stagefold/internal/agent/tools"
	"stagefold/internal/bus"
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
	bus    *bus.Bus
	hub    *live.Hub
	runs   *agent.Runs
	models *models
	work   *tools.Set
	disp   *dispatcher
	folds  *folds
	meter  *metrics
	chats  *chatList
	client []byte // the official Datastar file in place of ours; nil without one

	cancel     context.CancelFunc // ends what runs in the background
	background sync.WaitGroup
}

func newApp(ctx context.Context, cfg config, log *slog.Logger) (_ *app, err error) {
	a := &app{cfg: cfg, log: log, runs: agent.NewRuns(), models: newModels(cfg)}
	a.folds = newFolds(a.wholeLog)
	a.hub = live.NewHub(live.Config{Entries: a.entries, Chat: a.chatState, Now: now, Render: a.folds.render, Cost: a.costText, Log: log})
	a.meter = newMetrics(a)
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(context.Background()))
		}
	}()
	if cfg.datastarJS != "" {
		if a.client, err = os.ReadFile(cfg.datastarJS); err != nil {
			return nil, fmt.Errorf("--datastar-js: %w", err)
		}
	}
	if a.work, err = tools.Workspace(cfg.workspace, tools.Limits{Output: cfg.toolOutput}); err != nil {
		return nil, fmt.Errorf("open the workspace %s: %w", cfg.workspace, err)
	}
	a.background.Go(func() { a.models.discover(ctx) })
	if a.db, err = store.Open(ctx, store.Options{Dir: cfg.data, URL: cfg.databaseURL, Now: now, NewID: newID, Logger: log, Committed: a.committed, Patience: cfg.patience}); err != nil {
		return nil, err
	}
	a.chats = &chatList{db: a.db, now: now}
	if a.bus, err = bus.Open(ctx, bus.Options{URL: cfg.natsURL, Instance: newID(), Logger: log, AckWait: cfg.ackWait}); err != nil {
		return nil, err
	}
	if err = a.bus.OnWake(a.wokenByOthers); err != nil {
		return nil, err
	}
	a.disp = newDispatcher(a)
	a.background.Go(func() { a.bus.Reconcile(ctx, a.disp.open) })
	a.background.Go(func() { a.bus.Work(ctx, maxLive, a.disp.handle) })
	a.background.Go(func() { a.look(ctx) })
	a.background.Go(func() { a.disp.catchUp(ctx) })
	return a, nil
}

// committed is called after each commit: viewers here may look, and the other
// instances are told.
func (a *app) committed(c store.Committed) {
	a.meter.committed(c)
	moved := slices.ContainsFunc(c.Entries, movesState)
	if a.chats != nil && moved {
		a.chats.forget()
	}
	a.hub.Wake(c.ChatID, live.Wake{RunID: c.RunID, Entries: c.Entries, Chrome: moved})
	if c.State == part.Waits && a.disp != nil {
		a.disp.lookForLetters()
	}
	if a.cfg.natsURL == "" || a.disp == nil {
		return // embedded: there is no other instance
	}
	w := bus.Wake{ChatID: c.ChatID, RunID: c.RunID, Entries: c.Entries, Chrome: moved}
	if n := len(c.Entries); n > 0 {
		w.Seq = c.Entries[n-1].Seq
	}
	a.disp.tellOthers(w)
}

// movesState: the entry changes the run's state, which the list of chats shows.
func movesState(e *part.Entry) bool {
	return e.Type == part.Start || e.Type == part.Wait || e.Type == part.Resume || e.Type == part.Finish
}

func (a *app) wokenByOthers(w bus.Wake) {
	if w.Chrome {
		a.chats.forget()
	}
	a.hub.Wake(w.ChatID, live.Wake{RunID: w.RunID, Entries: w.Entries, Chrome: w.Chrome})
}

// look lets every viewed chat look at the database, so that a wake that was
// lost (NATS away) is made good.
func (a *app) look(ctx context.Context) {
	if a.cfg.natsURL == "" {
		return // embedded: wakes are calls, none is lost
	}
	tick := time.NewTicker(a.cfg.lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.hub.Look()
		case <-ctx.Done():
			return
		}
	}
}

func (a *app) entries(ctx context.Context, runID string, after int64) ([]*part.Entry, error) {
	return a.db.Entries(ctx, runID, after, 0)
}

// wholeLog reads a run's log to fold it at once. An ended one is read packed; a
// live one must be read to the letter, because its page goes on from its seq.
func (a *app) wholeLog(ctx context.Context, runID string) ([]*part.Entry, error) {
	run, err := a.db.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if run.State.Terminal() {
		return a.db.Packed(ctx, runID, 0)
	}
	return a.db.Entries(ctx, runID, 0, 0)
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

// errLeft: something did not end while the database or the disk kept it waiting.
// Nothing is lost: the runs go on as after kill -9.
var errLeft = errors.New("not everything ended in time; the runs go on at the next start")

// close abandons the runs, which go on elsewhere or at the next start, then
// closes what they wrote to. When ctx ends before the runs have, it leaves them.
func (a *app) close(ctx context.Context) error {
	a.cancel()
	errs := []error{a.runs.Shutdown(ctx)}
	if !waited(ctx, &a.background) {
		return errors.Join(append(errs, errLeft)...)
	}
	a.hub.Shutdown(ctx)
	if a.bus != nil {
		errs = append(errs, a.bus.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if a.work != nil {
		errs = append(errs, a.work.Close())
	}
	return errors.Join(errs...)
}

// waited waits for the group; false where ctx ends before.
func waited(ctx context.Context, group *sync.WaitGroup) bool {
	gone := make(chan struct{})
	go func() {
		group.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return true
	case <-ctx.Done():
		return false
	}
}

// page fills the frame of a page.
func (a *app) page(c echo.Context, title, nav string) views.PageView {
	nonce, _ := c.Get("nonce").(string)
	return views.PageView{Title: title, Nonce: nonce, Nav: nav, CSS: static.CSS(), Icon: static.URL("icon.svg"), Client: static.URL("client.js"), App: static.URL("app.js"), Dev: a.cfg.dev}
}

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
