package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// The database's rows. Times are milliseconds since 1970; JSON stands as text,
// "" for nothing.

type chatRow struct {
	ID, Title, PlanningMode, Model string
	ApproveAll                     int64
	Allowed, Plan                  string
	CreatedAt, UpdatedAt           int64
	// Of the newest root run; read, not stored.
	LastRunID, LastRunState, LastRunDebt string `gorm:"->;-:migration"`
}

func (chatRow) TableName() string { return "chats" }

type messageRow struct {
	Position                       int64 `gorm:"primaryKey;autoIncrement"`
	ID, ChatID, Text, State, RunID string
	CreatedAt                      int64
}

func (messageRow) TableName() string { return "messages" }

type runRow struct {
	Position                                                      int64 `gorm:"primaryKey;autoIncrement"`
	ID, ChatID, ParentRunID, UserMessageID, UserText, Model, Mode string
	State, FinishReason, Error, Note, Debt, Waiting, Plan         string
	Attempts, Epoch, LastSeq, NextStep, CancelRequested           int64
	Usage                                                         string
	StagesDone, Stages, Packed                                    int64
	CreatedAt, StartedAt, FinishedAt                              int64
	ChatTitle                                                     string `gorm:"->;-:migration"`
}

func (runRow) TableName() string { return "runs" }

type planRow struct {
	RunID                         string
	Seq, Revision, Time           int64
	Tool, Explanation, Note, Plan string
}

func (planRow) TableName() string { return "plans" }

type outputRow struct {
	RunID, CallID, MediaType string
	Body                     []byte
}

func (outputRow) TableName() string { return "tool_outputs" }

type settingRow struct{ Key, Value string }

func (settingRow) TableName() string { return "settings" }

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// text makes s fit into both databases: valid UTF-8 without NUL, which Postgres
// does not take. Ids from outside go through it too.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// encode is v as JSON text; a NUL in a string stands as \u0000 in it, which both
// databases keep. Null is "".
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", &permanentError{fmt.Errorf("write JSON: %w", err)}
	}
	s := strings.TrimSuffix(b.String(), "\n")
	if s == "null" {
		return "", nil
	}
	return text(s), nil
}

// decode reads what encode wrote; zero where it is "".
func decode[T any](s string) (v T) {
	if s != "" {
		_ = json.Unmarshal([]byte(s), &v)
	}
	return v
}

func (r chatRow) chat() Chat {
	return Chat{ID: r.ID, Title: r.Title, PlanningMode: planning.Mode(r.PlanningMode), Model: r.Model, ApproveAll: r.ApproveAll != 0,
		Allowed: decode[[]string](r.Allowed), Plan: decode[planning.State](r.Plan), CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
		LastRunID: r.LastRunID, LastRunState: part.State(r.LastRunState), LastRunDebt: len(decode[[]part.Debt](r.LastRunDebt))}
}

func rowOfChat(c Chat) (chatRow, error) {
	allowed, err := encode(c.Allowed)
	if err != nil {
		return chatRow{}, err
	}
	plan, err := encode(c.Plan)
	return chatRow{ID: text(c.ID), Title: text(c.Title), PlanningMode: text(string(c.PlanningMode)), Model: text(c.Model), ApproveAll: flag(c.ApproveAll),
		Allowed: allowed, Plan: plan, CreatedAt: ms(c.CreatedAt), UpdatedAt: ms(c.UpdatedAt)}, err
}

func (r messageRow) message() Message {
	return Message{ID: r.ID, ChatID: r.ChatID, Text: r.Text, State: MessageState(r.State), RunID: r.RunID, Position: r.Position, CreatedAt: at(r.CreatedAt)}
}

func (r runRow) run() Run {
	return Run{ID: r.ID, ChatID: r.ChatID, ParentRunID: r.ParentRunID, UserMessageID: r.UserMessageID, UserText: r.UserText, Model: r.Model,
		Mode: planning.Mode(r.Mode), State: part.State(r.State), FinishReason: part.FinishReason(r.FinishReason), Error: decode[*part.RunError](r.Error),
		Note: r.Note, Debt: decode[[]part.Debt](r.Debt), Waiting: decode[[]part.Waiting](r.Waiting), Plan: decode[planning.State](r.Plan),
		Attempts: int(r.Attempts), Epoch: r.Epoch, LastSeq: r.LastSeq, NextStep: int(r.NextStep), CreatedAt: at(r.CreatedAt), StartedAt: at(r.StartedAt),
		FinishedAt: at(r.FinishedAt), Usage: decode[part.Usage](r.Usage), StagesDone: int(r.StagesDone), Stages: int(r.Stages), ChatTitle: r.ChatTitle,
		CancelRequested: r.CancelRequested != 0}
}

// rowOfRun is a new queued run.
func rowOfRun(r Run) runRow {
	return runRow{ID: text(r.ID), ChatID: text(r.ChatID), ParentRunID: text(r.ParentRunID), UserMessageID: text(r.UserMessageID), UserText: text(r.UserText),
		Model: text(r.Model), Mode: text(string(r.Mode)), State: string(part.Queued), NextStep: 1, CreatedAt: ms(r.CreatedAt)}
}
