package store

import (
	"encoding/json"
	"strings"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// The database's rows. Times are milliseconds since 1970; JSON stands as text.

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
	ID, ChatID, ParentRunID, UserMessageID, UserText, Model, Mode string
	State, FinishReason, Error, Note, Debt, Waiting               string
	Attempts, Epoch, LastSeq, NextStep, CancelRequested           int64
	Usage                                                         string
	StagesDone, Stages                                            int64
	CreatedAt, StartedAt, FinishedAt                              int64
	ChatTitle                                                     string `gorm:"->;-:migration"`
}

func (runRow) TableName() string { return "runs" }

type entryRow struct {
	RunID           string
	Seq, Step, Time int64
	Type, Body      string
}

func (entryRow) TableName() string { return "entries" }

type planRow struct {
	ID                            int64 `gorm:"primaryKey;autoIncrement"`
	RunID                         string
	Revision, Time                int64
	Tool, Explanation, Note, Plan string
}

func (planRow) TableName() string { return "plans" }

type stepRow struct {
	RunID      string
	Step       int64
	Plan       string
	FinishedAt int64
}

func (stepRow) TableName() string { return "steps" }

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
// does not take.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// toJSON writes our own types, which cannot fail; nil pointers and empty lists
// become "".
func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if s := string(b); s != "null" {
		return s
	}
	return ""
}

func fromJSON[T any](s string) (v T) {
	if s != "" {
		_ = json.Unmarshal([]byte(s), &v) // written by toJSON
	}
	return v
}

func (r chatRow) chat() Chat {
	return Chat{ID: r.ID, Title: r.Title, PlanningMode: planning.Mode(r.PlanningMode), Model: r.Model, ApproveAll: r.ApproveAll != 0,
		Allowed: fromJSON[[]string](r.Allowed), Plan: fromJSON[planning.State](r.Plan), CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
		LastRunID: r.LastRunID, LastRunState: part.State(r.LastRunState), LastRunDebt: len(fromJSON[[]part.Debt](r.LastRunDebt))}
}

func rowOfChat(c Chat) chatRow {
	return chatRow{ID: c.ID, Title: text(c.Title), PlanningMode: string(c.PlanningMode), Model: text(c.Model), ApproveAll: flag(c.ApproveAll),
		Allowed: toJSON(c.Allowed), Plan: toJSON(c.Plan), CreatedAt: ms(c.CreatedAt), UpdatedAt: ms(c.UpdatedAt)}
}

func (r messageRow) message() Message {
	return Message{ID: r.ID, ChatID: r.ChatID, Text: r.Text, State: MessageState(r.State), RunID: r.RunID, Position: r.Position, CreatedAt: at(r.CreatedAt)}
}

func (r runRow) run() Run {
	return Run{ID: r.ID, ChatID: r.ChatID, ParentRunID: r.ParentRunID, UserMessageID: r.UserMessageID, UserText: r.UserText, Model: r.Model,
		Mode: planning.Mode(r.Mode), State: part.State(r.State), FinishReason: part.FinishReason(r.FinishReason), Error: fromJSON[*part.RunError](r.Error),
		Note: r.Note, Debt: fromJSON[[]part.Debt](r.Debt), Waiting: fromJSON[[]part.Waiting](r.Waiting), Attempts: int(r.Attempts), Epoch: r.Epoch,
		LastSeq: r.LastSeq, NextStep: int(r.NextStep), CreatedAt: at(r.CreatedAt), StartedAt: at(r.StartedAt), FinishedAt: at(r.FinishedAt),
		Usage: fromJSON[part.Usage](r.Usage), StagesDone: int(r.StagesDone), Stages: int(r.Stages), ChatTitle: r.ChatTitle, CancelRequested: r.CancelRequested != 0}
}

func rowOfRun(r Run) runRow {
	return runRow{ID: r.ID, ChatID: r.ChatID, ParentRunID: r.ParentRunID, UserMessageID: r.UserMessageID, UserText: text(r.UserText), Model: text(r.Model),
		Mode: string(r.Mode), State: string(r.State), Usage: toJSON(r.Usage), NextStep: 1, CreatedAt: ms(r.CreatedAt)}
}

func rowOfEntry(runID string, e *part.Entry) entryRow {
	return entryRow{RunID: runID, Seq: e.Seq, Step: int64(e.Step), Time: ms(e.Time), Type: string(e.Type), Body: body(e)}
}

// body is the entry as JSON text. A NUL stands as \u0000 in it, which both
// databases keep.
func body(e *part.Entry) string {
	b, err := json.Marshal(e)
	if err != nil { // a raw field that is no JSON: keep the rest
		c := *e
		c.Input, c.Output, c.Data, c.ProviderMetadata = valid(c.Input), valid(c.Output), valid(c.Data), valid(c.ProviderMetadata)
		b, _ = json.Marshal(&c)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func valid(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	b, _ := json.Marshal(string(raw))
	return b
}

func (r entryRow) entry() (*part.Entry, error) {
	e := &part.Entry{}
	if err := json.Unmarshal([]byte(r.Body), e); err != nil {
		return nil, err
	}
	e.Seq = r.Seq
	return e, nil
}
