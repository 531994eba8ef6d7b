package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// MessageState says what became of a user message.
type MessageState string

const (
	MessageSent   MessageState = "sent"   // it has a run
	MessageQueued MessageState = "queued" // it waits for the live run to end
	MessageHeld   MessageState = "held"   // it waits for the user, after Stop or failure
	MessageAnswer MessageState = "answer" // it answers a question of RunID
)

// Message is one user message.
type Message struct {
	ID, ChatID, Text string
	State            MessageState
	RunID            string
	Position         int64
	CreatedAt        time.Time
}

// Messages reads a chat's user messages in order.
func (d *DB) Messages(ctx context.Context, chatID string) ([]Message, error) {
	return messages(d.read.WithContext(ctx).Where("chat_id = ?", text(chatID)))
}

// PendingAnswers reads the messages that were taken as answers to a run's
// questions, in order. The run's log has a data-answer entry for each that
// reached it; one that never did is queued or held again when the run ends.
func (d *DB) PendingAnswers(ctx context.Context, runID string) ([]Message, error) {
	return messages(d.read.WithContext(ctx).Where("run_id = ? AND state = 'answer'", text(runID)))
}

func messages(q *gorm.DB) ([]Message, error) {
	var rows []messageRow
	if err := q.Order("position").Find(&rows).Error; err != nil {
		return nil, wrap("read messages", err)
	}
	list := make([]Message, len(rows))
	for i, r := range rows {
		list[i] = r.message()
	}
	return list, nil
}

// Post is a user message on its way in.
type Post struct {
	ChatID, MessageID, Text, NewRunID, Model string
	Mode                                     planning.Mode
}

// PostResult is what a message came to.
type PostResult struct {
	MessageID, RunID string
	State            string // started, queued or answered
	Repeated         bool   // the id was known: this is the first result again
	// Run is the queued run that this made, to be launched. It is the message's
	// own where State is started; where older messages waited without a live run
	// it is theirs.
	Run *Run
}

// PostMessage stores a message and, where the chat has no live run, a queued
// run: for this message, or for the oldest one that waits already. An id that
// is known gives the first result again; ErrConflict where its text differs.
func (d *DB) PostMessage(ctx context.Context, p Post) (result PostResult, err error) {
	p.ChatID, p.MessageID, p.Text = text(p.ChatID), text(p.MessageID), text(p.Text)
	err = d.tx(ctx, func(tx *gorm.DB) error {
		chat, err := d.lockChat(tx, p.ChatID)
		if err != nil {
			return err
		}
		known, ok, err := findMessage(tx, "chat_id = ? AND id = ?", p.ChatID, p.MessageID)
		if ok && known.Text != p.Text {
			return ErrConflict
		}
		if err != nil || ok {
			result = repeated(known)
			return err
		}
		if chat.Title == "" {
			chat.Title = Title(p.Text)
		}
		if err := tx.Table("chats").Where("id = ?", chat.ID).Updates(map[string]any{"title": chat.Title, "updated_at": ms(d.now())}).Error; err != nil {
			return wrap("touch chat", err)
		}
		result, err = d.accept(tx, chat, p)
		return err
	})
	return result, err
}

// accept stores a new message.
func (d *DB) accept(tx *gorm.DB, chat chatRow, p Post) (PostResult, error) {
	result := PostResult{MessageID: p.MessageID, State: "queued"}
	m := messageRow{ID: p.MessageID, ChatID: p.ChatID, Text: p.Text, State: string(MessageQueued), CreatedAt: ms(d.now())}
	live, isLive, err := liveRun(tx, p.ChatID)
	if err != nil {
		return result, err
	}
	if isLive && asksQuestion(live) {
		m.State, m.RunID = string(MessageAnswer), live.ID
		result.State, result.RunID = "answered", live.ID
	}
	if err := tx.Create(&m).Error; err != nil {
		return result, wrap("store message", err)
	}
	if isLive {
		return result, nil
	}
	oldest, _, err := findMessage(tx, "chat_id = ? AND state = 'queued'", p.ChatID) // this one at least
	if err != nil {
		return result, err
	}
	result.Run, err = d.send(tx, chat, oldest, p.NewRunID, p.Model, p.Mode)
	if err == nil && oldest.ID == m.ID {
		result.State, result.RunID = "started", result.Run.ID
	}
	return result, err
}

// repeated is the result of a message that is known.
func repeated(m messageRow) PostResult {
	state := map[MessageState]string{MessageSent: "started", MessageAnswer: "answered"}[MessageState(m.State)]
	if state == "" {
		state = "queued"
	}
	return PostResult{MessageID: m.ID, RunID: m.RunID, State: state, Repeated: true}
}

// findMessage reads the first message in order.
func findMessage(tx *gorm.DB, where string, args ...any) (m messageRow, ok bool, err error) {
	err = tx.Where(where, args...).Order("position").Take(&m).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return m, false, nil
	}
	return m, err == nil, wrap("read message", err)
}

// liveRun reads the chat's live root run.
func liveRun(tx *gorm.DB, chatID string) (live runRow, ok bool, err error) {
	err = tx.Where("chat_id = ? AND parent_run_id = '' AND state IN ?", chatID, openStates).Take(&live).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return live, false, nil
	}
	return live, err == nil, wrap("read live run", err)
}

func asksQuestion(r runRow) bool {
	if part.State(r.State) != part.Waits {
		return false
	}
	for _, w := range decode[[]part.Waiting](r.Waiting) {
		if w.Kind == "question" {
			return true
		}
	}
	return false
}

// send makes a queued run of a message.
func (d *DB) send(tx *gorm.DB, chat chatRow, m messageRow, runID, model string, mode planning.Mode) (*Run, error) {
	run, err := d.newRun(tx, chat, Run{ID: runID, UserMessageID: m.ID, UserText: m.Text, Model: model, Mode: mode})
	if err != nil {
		return nil, err
	}
	return run, wrap("send message", tx.Model(&m).Updates(map[string]any{"state": string(MessageSent), "run_id": run.ID}).Error)
}

// newRun stores a queued root run; ErrBusy where the chat has a live one or the
// id is taken.
func (d *DB) newRun(tx *gorm.DB, chat chatRow, r Run) (*Run, error) {
	r.ChatID, r.CreatedAt = chat.ID, d.now()
	row := rowOfRun(r)
	err := tx.Omit("chat_title").Create(&row).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, wrap("store run", err)
	}
	row.ChatTitle = chat.Title
	run := row.run()
	return &run, d.index(tx, row.Position, chat.Title, row.UserText)
}
