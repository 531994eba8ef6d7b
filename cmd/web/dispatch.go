package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"stagefold/internal/agent"
	"stagefold/internal/bus"
	"stagefold/internal/live"
	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
)

const (
	maxLive     = 1000 // runs that one process works on at once, waiting ones included
	maxAttempts = 3    // without a completed step; then the run ends as interrupted
)

// dispatcher takes jobs from the queue: it claims the run, lets the agent work
// on it, and when it has ended sends the next queued message of its chat. What
// stands in the database decides; the queue only says where to look.
type dispatcher struct {
	db     *store.DB
	bus    *bus.Bus
	runs   *agent.Runs
	models *models
	tools  []agent.Tool
	hub    *live.Hub
	chats  *chatList
	cfg    config
	log    *slog.Logger

	letters *letters
}

func newDispatcher(a *app) *dispatcher {
	return &dispatcher{db: a.db, bus: a.bus, runs: a.runs, models: a.models, tools: a.work.Tools(), hub: a.hub, chats: a.chats, cfg: a.cfg, log: a.log, letters: newLetters()}
}

// launch puts a queued run into the job queue. If that fails now, reconciling
// does it within seconds.
func (d *dispatcher) launch(ctx context.Context, run store.Run) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := d.bus.Enqueue(ctx, run.ID); err != nil {
		d.log.Warn("run was not enqueued", slog.String("run", run.ID), slog.Any("err", err))
	}
}

// open lists the runs that need an owner, for reconciling. Messages whose turn
// came while no process was there to see it become runs first.
func (d *dispatcher) open(ctx context.Context) ([]string, error) {
	waiting, err := d.db.QueuedChats(ctx)
	if err != nil {
		return nil, err
	}
	for _, chatID := range waiting {
		if _, _, err := d.db.NextQueued(ctx, chatID, newID()); err != nil {
			return nil, err
		}
	}
	left, err := d.db.Leftovers(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range left {
		if !d.runs.Live(r.ID) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// handle works on one job until its run has ended, or until this process ends.
func (d *dispatcher) handle(ctx context.Context, runID string) bus.Verdict {
	log := d.log.With(slog.String("run", runID))
	verdict, err := d.work(ctx, runID)
	switch {
	case err == nil:
	case errors.Is(err, agent.ErrShutdown), ctx.Err() != nil:
		log.Info("run was left for another worker")
	case errors.Is(err, agent.ErrFenced):
		log.Info("run was taken over by another worker")
	default:
		log.Error("run was left", slog.Any("err", err))
	}
	return verdict
}

func (d *dispatcher) work(ctx context.Context, runID string) (bus.Verdict, error) {
	run, err := d.db.Run(ctx, runID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return bus.Done, nil
	case err != nil:
		return bus.Later, err
	case run.State.Terminal():
		return bus.Done, nil
	case d.runs.Live(runID):
		return bus.Later, nil
	case run.State != part.Queued && d.bus.Owned(ctx, runID):
		return bus.Later, nil // the queue was lost, its owner was not
	}
	runLog, run, err := d.db.Claim(ctx, runID)
	switch {
	case errors.Is(err, store.ErrFinished):
		return bus.Done, nil
	case err != nil:
		return bus.Later, fmt.Errorf("claim: %w", err)
	}
	if run.Attempts > maxAttempts {
		return d.giveUp(ctx, run)
	}
	job, err := d.job(ctx, run)
	if err != nil {
		if ctx.Err() != nil {
			return bus.HandOver, err
		}
		return bus.Done, errors.Join(err, d.fail(ctx, runLog, run, err))
	}
	if run.State == part.Waits && !waitsStill(job.Done) {
		if err := runLog.SetWaiting(ctx, nil); err != nil {
			return bus.Later, fmt.Errorf("end a wait: %w", err)
		}
	}
	return d.run(ctx, job, runLog, run)
}

// waitsStill: what the run waited for when its owner died had not come yet.
func waitsStill(log []*part.Entry) bool {
	waits := false
	for _, e := range log {
		switch e.Type {
		case part.Wait:
			waits = len(e.Waiting) > 0
		case part.DataAnswer, part.ToolApprovalAnswer:
			waits = false
		}
	}
	return waits
}

// run lets the agent work on the job and draws the consequences of its end.
func (d *dispatcher) run(ctx context.Context, job agent.Job, runLog *store.RunLog, run store.Run) (bus.Verdict, error) {
	if err := d.bus.Hold(run.ID, func(l bus.Letter) bool { return d.deliver(run.ID, l) }); err != nil {
		d.log.Warn("letters do not reach the run", slog.String("run", run.ID), slog.Any("err", err))
	}
	defer d.bus.Release(run.ID)
	d.letters.begin(run.ID, run.Epoch)
	defer d.letters.end(run.ID)
	ended := make(chan agent.Outcome, 1)
	if err := d.runs.Start(job, logOf{runLog}, func(o agent.Outcome) { ended <- o }); err != nil {
		return bus.HandOver, err
	}
	d.wake(run.ChatID, run.ID)
	defer d.wake(run.ChatID, run.ID)
	o := <-ended
	switch {
	case o.Err == nil:
		d.after(run, o)
		return bus.Done, nil
	case errors.Is(o.Err, agent.ErrShutdown):
		return bus.HandOver, o.Err
	case errors.Is(o.Err, agent.ErrFenced):
		return bus.Lost, o.Err
	}
	return bus.Later, o.Err
}

// giveUp ends a run whose workers died again and again.
func (d *dispatcher) giveUp(ctx context.Context, run store.Run) (bus.Verdict, error) {
	reason := fmt.Sprintf("The run was begun %d times and no step was completed; it is not tried again by itself.", maxAttempts)
	if err := d.db.SettleInterrupted(ctx, run.ID, reason); err != nil {
		return bus.Later, fmt.Errorf("settle: %w", err)
	}
	d.after(run, agent.Outcome{State: part.Interrupted, Reason: part.ReasonAbort})
	d.wake(run.ChatID, run.ID)
	return bus.Done, nil
}

// job collects what the run works from.
func (d *dispatcher) job(ctx context.Context, run store.Run) (agent.Job, error) {
	chat, err := d.db.Chat(ctx, run.ChatID)
	if err != nil {
		return agent.Job{}, fmt.Errorf("read chat: %w", err)
	}
	d.models.wait(ctx)
	model, err := d.models.resolve(run.Model)
	if err != nil {
		return agent.Job{}, err
	}
	prior, err := d.prior(ctx, run)
	if err != nil {
		return agent.Job{}, err
	}
	done, err := d.db.Entries(ctx, run.ID, 0, 0)
	if err != nil {
		return agent.Job{}, fmt.Errorf("read the run's log: %w", err)
	}
	limits := planning.NormalLimits()
	if d.cfg.compact {
		limits = planning.CompactLimits()
	}
	return agent.Job{
		RunID: run.ID, ChatID: run.ChatID, ParentRunID: run.ParentRunID,
		UserMessageID: run.UserMessageID, UserText: run.UserText,
		Model: model, ModelName: run.Model, Mode: run.Mode,
		Prior: prior, Plan: chat.Plan, Tools: d.tools, Workspace: d.cfg.workspace, Done: done,
		Limits: agent.Limits{Steps: d.cfg.stepLimit, Run: d.cfg.runTimeout, Silence: d.cfg.silence,
			Tool: d.cfg.toolTimeout, ToolOutput: d.cfg.toolOutput, Plan: limits},
		Now: now, NewID: newID,
	}, nil
}

// prior reads the chat's earlier runs, oldest first.
func (d *dispatcher) prior(ctx context.Context, run store.Run) ([]agent.Turn, error) {
	earlier, err := d.db.ChatRuns(ctx, run.ChatID)
	if err != nil {
		return nil, fmt.Errorf("read earlier runs: %w", err)
	}
	var turns []agent.Turn
	for _, r := range earlier {
		if r.ID == run.ID {
			break
		}
		entries, err := d.db.Packed(ctx, r.ID, 0)
		if err != nil {
			return nil, fmt.Errorf("read log of run %s: %w", r.ID, err)
		}
		turns = append(turns, agent.Turn{UserText: r.UserText, Entries: entries})
	}
	return turns, nil
}

// fail settles a run that could not start.
func (d *dispatcher) fail(ctx context.Context, l *store.RunLog, run store.Run, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	at := now()
	var entries []*part.Entry
	if run.LastSeq == 0 {
		entries = append(entries, &part.Entry{Time: at, Type: part.Start, Data: mustJSON(part.StartData{RunID: run.ID, ChatID: run.ChatID,
			MessageID: run.ID, UserMessageID: run.UserMessageID, UserText: run.UserText, Model: run.Model, PlanningMode: run.Mode})})
	}
	entries = append(entries, &part.Entry{Time: at, Type: part.Finish, State: part.FailedRun, FinishReason: part.ReasonError,
		Error: &part.RunError{Code: "not_started", Message: cause.Error(), Hint: "Choose another model and send the message again."}})
	if err := l.Finish(ctx, nil, entries...); err != nil {
		return err
	}
	d.after(run, agent.Outcome{State: part.FailedRun, Reason: part.ReasonError})
	return nil
}

// after goes on with the chat: the next queued message is sent after a good
// end, and held after Stop or failure.
func (d *dispatcher) after(run store.Run, o agent.Outcome) {
	d.log.Info("run ended", slog.String("run", run.ID), slog.String("state", string(o.State)), slog.String("reason", string(o.Reason)))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if o.State != part.Finished {
		if err := d.db.HoldQueued(ctx, run.ChatID); err != nil {
			d.log.Error("queue was not held", slog.String("chat", run.ChatID), slog.Any("err", err))
		}
		return
	}
	next, ok, err := d.db.NextQueued(ctx, run.ChatID, newID())
	if err != nil {
		d.log.Error("queued message was not sent", slog.String("chat", run.ChatID), slog.Any("err", err))
		return
	}
	if ok {
		d.launch(ctx, *next)
	}
}

// wake tells the page's viewers, here and elsewhere, to look.
func (d *dispatcher) wake(chatID, runID string) {
	d.chats.forget()
	d.hub.Wake(chatID, live.Wake{RunID: runID, Chrome: true})
	d.tellOthers(bus.Wake{ChatID: chatID, RunID: runID, Chrome: true})
}

func (d *dispatcher) tellOthers(w bus.Wake) {
	if err := d.bus.Wake(w); err != nil {
		d.log.Debug("wake was not sent", slog.Any("err", err))
	}
}

// logOf is the store's log as the agent's, with the agent's sentinels.
type logOf struct{ *store.RunLog }

var _ agent.Log = logOf{}

func (l logOf) Append(entries ...*part.Entry) error { return asAgentError(l.RunLog.Append(entries...)) }
func (l logOf) Sync(ctx context.Context) error      { return asAgentError(l.RunLog.Sync(ctx)) }
func (l logOf) CommitPlan(ctx context.Context, s planning.State, c *part.PlanData, e ...*part.Entry) error {
	return asAgentError(l.RunLog.CommitPlan(ctx, s, c, e...))
}
func (l logOf) CommitStep(ctx context.Context, step int, s planning.State, e ...*part.Entry) error {
	return asAgentError(l.RunLog.CommitStep(ctx, step, s, e...))
}
func (l logOf) SetWaiting(ctx context.Context, w []part.Waiting, e ...*part.Entry) error {
	return asAgentError(l.RunLog.SetWaiting(ctx, w, e...))
}
func (l logOf) Finish(ctx context.Context, s *planning.State, e ...*part.Entry) error {
	return asAgentError(l.RunLog.Finish(ctx, s, e...))
}

func asAgentError(err error) error {
	switch {
	case errors.Is(err, store.ErrFenced):
		return fmt.Errorf("%w (%w)", agent.ErrFenced, err)
	case errors.Is(err, store.ErrStopRequested):
		return fmt.Errorf("%w (%w)", agent.ErrStopRequested, err)
	}
	return err
}
