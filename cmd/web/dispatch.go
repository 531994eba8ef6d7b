package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"stagefold/internal/agent"
	"stagefold/internal/live"
	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
)

// dispatcher takes queued runs from the store to the agent and, when one ends,
// sends the next queued message of its chat.
type dispatcher struct {
	db     *store.DB
	runs   *agent.Runs
	models *models
	tools  []agent.Tool
	hub    *live.Hub
	cfg    config
	log    *slog.Logger
	stop   context.Context // ends when the process is told to end

	ends sync.WaitGroup // the after-work of ended runs
}

// launch claims a queued run and starts it. A run that cannot start is settled
// as failed, with the reason on its page.
func (d *dispatcher) launch(ctx context.Context, run store.Run) {
	ctx = context.WithoutCancel(ctx)
	if err := d.start(ctx, run); err != nil {
		if errors.Is(err, store.ErrFinished) {
			return
		}
		d.log.Error("run did not start", slog.String("run", run.ID), slog.Any("err", err))
		d.wake(run.ChatID, run.ID)
	}
}

func (d *dispatcher) start(ctx context.Context, run store.Run) error {
	runLog, run, err := d.db.Claim(ctx, run.ID)
	if err != nil {
		return err
	}
	job, err := d.job(ctx, run)
	if err != nil {
		return errors.Join(err, d.fail(ctx, runLog, run, err))
	}
	d.ends.Add(1)
	err = d.runs.Start(job, logOf{runLog}, func(o agent.Outcome) {
		defer d.ends.Done()
		d.ended(run, o)
	})
	if err != nil {
		d.ends.Done()
		return errors.Join(err, d.fail(ctx, runLog, run, err))
	}
	d.wake(run.ChatID, run.ID)
	return nil
}

// job collects what the run works from.
func (d *dispatcher) job(ctx context.Context, run store.Run) (agent.Job, error) {
	chat, err := d.db.Chat(ctx, run.ChatID)
	if err != nil {
		return agent.Job{}, fmt.Errorf("read chat: %w", err)
	}
	model, name, err := d.models.resolve(run.Model)
	if err != nil {
		return agent.Job{}, err
	}
	prior, err := d.prior(ctx, run)
	if err != nil {
		return agent.Job{}, err
	}
	limits := planning.NormalLimits()
	if d.cfg.compact {
		limits = planning.CompactLimits()
	}
	return agent.Job{
		RunID: run.ID, ChatID: run.ChatID, ParentRunID: run.ParentRunID,
		UserMessageID: run.UserMessageID, UserText: run.UserText,
		Model: model, ModelName: run.Model, RequestModel: name, Mode: run.Mode,
		Prior: prior, Plan: chat.Plan, Tools: d.tools, Workspace: d.cfg.workspace,
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
		entries, err := d.db.Entries(ctx, r.ID, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("read log of run %s: %w", r.ID, err)
		}
		turns = append(turns, agent.Turn{UserText: r.UserText, Entries: entries})
	}
	return turns, nil
}

// fail settles a run that could not start.
func (d *dispatcher) fail(ctx context.Context, l *store.RunLog, run store.Run, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	at := now()
	start := &part.Entry{Time: at, Type: part.Start, Data: mustJSON(part.StartData{RunID: run.ID, ChatID: run.ChatID,
		MessageID: "m-" + run.ID, UserMessageID: run.UserMessageID, UserText: run.UserText, Model: run.Model, PlanningMode: run.Mode})}
	end := &part.Entry{Time: at, Type: part.Finish, State: part.FailedRun, FinishReason: part.ReasonError,
		Error: &part.RunError{Code: "not_started", Message: cause.Error(), Hint: "Choose another model and send the message again."}}
	if err := l.Finish(ctx, nil, start, end); err != nil {
		return err
	}
	return d.db.HoldQueued(ctx, run.ChatID)
}

// ended goes on with the chat: the next queued message is sent after a good
// end, and held after Stop or failure.
func (d *dispatcher) ended(run store.Run, o agent.Outcome) {
	defer d.wake(run.ChatID, run.ID)
	if o.Err != nil {
		d.log.Warn("run was left", slog.String("run", run.ID), slog.Any("err", o.Err))
		return
	}
	d.log.Info("run ended", slog.String("run", run.ID), slog.String("state", string(o.State)), slog.String("reason", string(o.Reason)))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if o.State != part.Finished {
		if err := d.db.HoldQueued(ctx, run.ChatID); err != nil {
			d.log.Error("queue not held", slog.String("chat", run.ChatID), slog.Any("err", err))
		}
		return
	}
	if d.stop.Err() != nil {
		return
	}
	next, ok, err := d.db.NextQueued(ctx, run.ChatID, newID())
	if err != nil {
		d.log.Error("queued message not sent", slog.String("chat", run.ChatID), slog.Any("err", err))
		return
	}
	if ok {
		d.launch(ctx, *next)
	}
}

// settleLeftovers ends every run that an earlier process left over, before the
// first request is served.
func (d *dispatcher) settleLeftovers(ctx context.Context) error {
	left, err := d.db.Leftovers(ctx)
	if err != nil {
		return fmt.Errorf("read unfinished runs: %w", err)
	}
	for _, run := range left {
		if err := d.db.SettleInterrupted(ctx, run.ID, "The server was restarted while this run was working."); err != nil {
			return fmt.Errorf("settle run %s: %w", run.ID, err)
		}
		if err := d.db.HoldQueued(ctx, run.ChatID); err != nil {
			return fmt.Errorf("hold the queue of chat %s: %w", run.ChatID, err)
		}
	}
	if len(left) > 0 {
		d.log.Info("unfinished runs were settled", slog.Int("runs", len(left)))
	}
	return nil
}

// wake tells the page's viewers to look.
func (d *dispatcher) wake(chatID, runID string) {
	d.hub.Wake(chatID, live.Wake{RunID: runID, Chrome: true})
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

func asAgentError(err error) error {
	switch {
	case errors.Is(err, store.ErrFenced):
		return fmt.Errorf("%w (%w)", agent.ErrFenced, err)
	case errors.Is(err, store.ErrStopRequested):
		return fmt.Errorf("%w (%w)", agent.ErrStopRequested, err)
	}
	return err
}
