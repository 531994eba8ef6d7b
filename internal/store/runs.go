package store

import (
	"context"
	"errors"
	"strings"
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
	Attempts                                                int   // claims since the last completed step
	Epoch                                                   int64 // claims in all; an older owner is fenced
	LastSeq                                                 int64
	NextStep                                                int // the first step that is not completed
	CreatedAt, StartedAt, FinishedAt                        time.Time
	Usage                                                   part.Usage
	StagesDone, Stages                                      int
	ChatTitle                                               string
	CancelRequested                                         bool
}

var openStates = []string{string(part.Queued), string(part.Running), string(part.Waits)}

const runColumns = "runs.*, COALESCE((SELECT title FROM chats WHERE chats.id = runs.chat_id), '') AS chat_title"

func (d *DB) runsQuery(ctx context.Context) *gorm.DB {
	return d.read.WithContext(ctx).Table("runs").Select(runColumns)
}

// Run reads one run.
func (d *DB) Run(ctx context.Context, id string) (Run, error) {
	var row runRow
	err := d.runsQuery(ctx).Where("runs.id = ?", id).Take(&row).Error
	return row.run(), wrap("read run", err)
}

// ChatRuns reads a chat's root runs, oldest first.
func (d *DB) ChatRuns(ctx context.Context, chatID string) ([]Run, error) {
	return runsOf(d.runsQuery(ctx).Where("chat_id = ? AND parent_run_id = ''", chatID).Order("created_at, id"))
}

// Children reads a run's child runs, oldest first.
func (d *DB) Children(ctx context.Context, runID string) ([]Run, error) {
	return runsOf(d.runsQuery(ctx).Where("parent_run_id = ?", runID).Order("created_at, id"))
}

// Leftovers reads every run that has not ended.
func (d *DB) Leftovers(ctx context.Context) ([]Run, error) {
	return runsOf(d.runsQuery(ctx).Where("state IN ('queued', 'running', 'waiting')").Order("created_at, id"))
}

func runsOf(q *gorm.DB) ([]Run, error) {
	var rows []runRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, wrap("read runs", err)
	}
	var list []Run
	for _, r := range rows {
		list = append(list, r.run())
	}
	return list, nil
}

// CreateChildRun stores a queued child run.
func (d *DB) CreateChildRun(ctx context.Context, r Run) error {
	r.State, r.CreatedAt = part.Queued, d.o.Now()
	row := rowOfRun(r)
	err := d.write.WithContext(ctx).Omit("chat_title").Create(&row).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return ErrConflict
	}
	return wrap("store child run", err)
}

// RunFilter narrows the list of runs; empty fields do not.
type RunFilter struct {
	State, Model, Query, Cursor string
	Limit                       int
}

// Runs reads a page of root runs, newest first, and the next page's cursor.
// Query is full text over user messages, chat titles and answers.
func (d *DB) Runs(ctx context.Context, f RunFilter) ([]Run, string, error) {
	if f.Limit <= 0 {
		f.Limit = 50
	}
	q := d.runsQuery(ctx).Where("parent_run_id = ''").Order("created_at DESC, id DESC").Limit(f.Limit + 1)
	if f.State != "" {
		q = q.Where("state = ?", f.State)
	}
	if f.Model != "" {
		q = q.Where("runs.model = ?", f.Model)
	}
	if strings.TrimSpace(f.Query) != "" {
		var any bool
		if q, any = d.matching(q, f.Query); !any {
			return nil, "", nil
		}
	}
	if t, id, ok := splitCursor(f.Cursor); ok {
		q = q.Where("(created_at < ? OR (created_at = ? AND runs.id < ?))", t, t, id)
	}
	list, err := runsOf(q)
	if err != nil || len(list) <= f.Limit {
		return list, "", err
	}
	last := list[f.Limit-1]
	return list[:f.Limit], joinCursor(ms(last.CreatedAt), last.ID), nil
}

// Models reads the models that root runs used.
func (d *DB) Models(ctx context.Context) ([]string, error) {
	var list []string
	err := d.read.WithContext(ctx).Table("runs").Where("parent_run_id = ''").Distinct("model").Order("model").Pluck("model", &list).Error
	return list, wrap("read models", err)
}

// RunAgain stores a new queued run on the same user message; ErrBusy while the
// chat has a live root run.
func (d *DB) RunAgain(ctx context.Context, runID, newRunID string) (again Run, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		var old runRow
		if err := tx.Where("id = ?", runID).Take(&old).Error; err != nil {
			return wrap("read run", err)
		}
		chat, err := d.lockChat(tx, old.ChatID)
		if err != nil {
			return err
		}
		if _, isLive, err := liveRun(tx, old.ChatID); err != nil {
			return err
		} else if isLive {
			return ErrBusy
		}
		model := chat.Model
		if model == "" {
			model = old.Model
		}
		again, err = d.newRun(tx, newRunID, messageRow{ID: old.UserMessageID, ChatID: old.ChatID, Text: old.UserText}, model, planning.Mode(chat.PlanningMode))
		if err != nil {
			return err
		}
		return d.touch(tx, old.ChatID)
	})
	return again, err
}

// RequestStop sets the run's durable cancel flag and gives the state that the
// run had. A terminal run is not changed. The owner sees the flag at its next
// commit.
func (d *DB) RequestStop(ctx context.Context, runID string) (part.State, error) {
	var row runRow
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", runID).Take(&row).Error; err != nil {
			return wrap("read run", err)
		}
		return wrap("request stop", tx.Exec("UPDATE runs SET cancel_requested = 1 WHERE id = ? AND state IN ('queued', 'running', 'waiting')", runID).Error)
	})
	return part.State(row.State), err
}

// Entries reads a run's log above a seq, in order; limit 0 reads all.
func (d *DB) Entries(ctx context.Context, runID string, after int64, limit int) ([]*part.Entry, error) {
	q := d.read.WithContext(ctx).Where("run_id = ? AND seq > ?", runID, after).Order("seq")
	if limit > 0 {
		q = q.Limit(limit)
	}
	var rows []entryRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, wrap("read log", err)
	}
	list := make([]*part.Entry, 0, len(rows))
	for _, r := range rows {
		e, err := r.entry()
		if err != nil {
			return nil, wrap("read entry", err)
		}
		list = append(list, e)
	}
	return list, nil
}

// Revision is one accepted change of a run's plan.
type Revision struct {
	Revision                int
	Time                    time.Time
	Tool, Explanation, Note string
	Plan                    planning.Plan
}

// Revisions reads a run's plan revisions, oldest first.
func (d *DB) Revisions(ctx context.Context, runID string) ([]Revision, error) {
	var rows []planRow
	if err := d.read.WithContext(ctx).Where("run_id = ?", runID).Order("id").Find(&rows).Error; err != nil {
		return nil, wrap("read revisions", err)
	}
	var list []Revision
	for _, r := range rows {
		list = append(list, Revision{int(r.Revision), at(r.Time), r.Tool, r.Explanation, r.Note, fromJSON[planning.Plan](r.Plan)})
	}
	return list, nil
}

// ToolOutput reads the whole output of a tool call whose entry is truncated.
func (d *DB) ToolOutput(ctx context.Context, runID, callID string) (string, []byte, error) {
	var row outputRow
	err := d.read.WithContext(ctx).Where("run_id = ? AND call_id = ?", runID, callID).Take(&row).Error
	return row.MediaType, row.Body, wrap("read tool output", err)
}

// Setting reads a stored setting.
func (d *DB) Setting(ctx context.Context, key string) (string, bool, error) {
	var row settingRow
	err := d.read.WithContext(ctx).Where(&settingRow{Key: key}).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", false, nil
	}
	return row.Value, err == nil, wrap("read setting", err)
}

// SetSetting stores a setting.
func (d *DB) SetSetting(ctx context.Context, key, value string) error {
	return wrap("store setting", d.write.WithContext(ctx).Exec("INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, text(value)).Error)
}
