package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Run is the work on one user message.
type Run struct {
	ID, ChatID, ParentRunID, UserMessageID, UserText, Model string
	Mode                                                    planning.Mode
	State                                                   part.State
	FinishReason                                            part.FinishReason
	Error                                                   *part.RunError
	Note                                                    string
	Debt                                                    []part.Debt
	Waiting                                                 []part.Waiting
	Plan                                                    planning.State // as the run's planner stored it last
	Attempts                                                int            // claims since the last completed step
	Epoch                                                   int64          // claims in all; an older owner is fenced
	LastSeq                                                 int64
	NextStep                                                int // the first step that is not completed
	CreatedAt, StartedAt, FinishedAt                        time.Time
	Usage                                                   part.Usage // of the steps so far
	StagesDone, Stages                                      int
	ChatTitle                                               string
	CancelRequested                                         bool
}

var openStates = []string{string(part.Queued), string(part.Running), string(part.Waits)}

const runColumns = "runs.*, (SELECT title FROM chats WHERE chats.id = runs.chat_id) AS chat_title"

func (d *DB) runsQuery(ctx context.Context) *gorm.DB {
	return d.read.WithContext(ctx).Table("runs").Select(runColumns)
}

// Run reads one run.
func (d *DB) Run(ctx context.Context, id string) (Run, error) {
	var row runRow
	err := d.runsQuery(ctx).Where("runs.id = ?", text(id)).Take(&row).Error
	return row.run(), wrap("read run", err)
}

// ChatRuns reads a chat's root runs, oldest first.
func (d *DB) ChatRuns(ctx context.Context, chatID string) ([]Run, error) {
	return runsOf(d.runsQuery(ctx).Where("chat_id = ? AND parent_run_id = ''", text(chatID)).Order("position"))
}

// Children reads a run's child runs, oldest first.
func (d *DB) Children(ctx context.Context, runID string) ([]Run, error) {
	return runsOf(d.runsQuery(ctx).Where("parent_run_id = ? AND parent_run_id <> ''", text(runID)).Order("position"))
}

// Leftovers reads every run that has not ended, children too, oldest first.
func (d *DB) Leftovers(ctx context.Context) ([]Run, error) {
	return runsOf(d.runsQuery(ctx).Where("state IN ?", openStates).Order("position"))
}

// Counts is the number of runs in each state that has some.
func (d *DB) Counts(ctx context.Context) (map[part.State]int64, error) {
	var rows []struct {
		State part.State
		N     int64
	}
	err := d.read.WithContext(ctx).Table("runs").Select("state, COUNT(*) AS n").Group("state").Find(&rows).Error
	counts := map[part.State]int64{}
	for _, r := range rows {
		counts[r.State] = r.N
	}
	return counts, wrap("count runs", err)
}

func runsOf(q *gorm.DB) ([]Run, error) {
	var rows []runRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, wrap("read runs", err)
	}
	list := make([]Run, len(rows))
	for i, r := range rows {
		list[i] = r.run()
	}
	return list, nil
}

// CreateChildRun stores a queued run under r.ParentRunID; ErrConflict where the
// id is taken, ErrNotFound where the parent or the chat is gone.
func (d *DB) CreateChildRun(ctx context.Context, r Run) error {
	r.CreatedAt = d.now()
	row := rowOfRun(r)
	return d.tx(ctx, func(tx *gorm.DB) error {
		var parent runRow
		if err := tx.Where("id = ? AND chat_id = ?", row.ParentRunID, row.ChatID).Take(&parent).Error; err != nil {
			return wrap("read parent run", err)
		}
		err := tx.Omit("chat_title").Create(&row).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return ErrConflict
		}
		return wrap("store child run", err)
	})
}

// RunAgain stores a new queued run on the same user message, with the chat's
// settings of now; ErrBusy while the chat has a live root run.
func (d *DB) RunAgain(ctx context.Context, runID, newRunID string) (again Run, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		var old runRow
		if err := tx.Where("id = ? AND parent_run_id = ''", text(runID)).Take(&old).Error; err != nil {
			return wrap("read run", err)
		}
		chat, err := d.lockChat(tx, old.ChatID)
		if err != nil {
			return err
		}
		if _, isLive, err := liveRun(tx, chat.ID); err != nil {
			return err
		} else if isLive {
			return ErrBusy
		}
		if chat.Model == "" {
			chat.Model = old.Model
		}
		run, err := d.newRun(tx, chat, Run{ID: newRunID, UserMessageID: old.UserMessageID, UserText: old.UserText, Model: chat.Model, Mode: planning.Mode(chat.PlanningMode)})
		if err != nil {
			return err
		}
		again = *run
		return d.touch(tx, chat.ID)
	})
	return again, err
}

// RequestStop sets the run's durable cancel flag and gives the run's state. A
// terminal run is not changed; any other ends as stopped, unless it fails
// first. The owner sees the flag at its next commit.
func (d *DB) RequestStop(ctx context.Context, runID string) (part.State, error) {
	var row runRow
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE runs SET cancel_requested = 1 WHERE id = ? AND state IN ?", text(runID), openStates).Error; err != nil {
			return wrap("request stop", err)
		}
		return wrap("read run", tx.Where("id = ?", text(runID)).Take(&row).Error)
	})
	return part.State(row.State), err
}
