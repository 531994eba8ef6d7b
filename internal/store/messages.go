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
	MessageAnswer MessageState = "answer" // it answered a question of RunID
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
	var rows []messageRow
	if err := d.read.WithContext(ctx).Where("chat_id = ?", chatID).Order("position").Find(&rows).Error; err != nil {
		return nil, wrap("read messages", err)
	}
	var list []Message
	for _, r := range rows {
		list = append(list, r.message())
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
	Run              *Run   // where it started one
}

// PostMessage stores a message and, where the chat has no live run, a queued
// run for it. An id that is known gives the first result again; ErrConflict
// where its text differs.
func (d *DB) PostMessage(ctx context.Context, p Post) (result PostResult, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		chat, err := d.lockChat(tx, p.ChatID)
		if err != nil {
			return err
		}
		var known messageRow
		err = tx.Where("chat_id = ? AND id = ?", p.ChatID, p.MessageID).Take(&known).Error
		if err == nil {
			result, err = repeated(known, text(p.Text))
			return err
		}
		if !errors.Is(err, gorm.ErrRecordNotFound) {
			return wrap("read message", err)
		}
		result = PostResult{MessageID: p.MessageID}
		m := messageRow{ID: p.MessageID, ChatID: p.ChatID, Text: text(p.Text), CreatedAt: ms(d.o.Now())}
		live, isLive, err := liveRun(tx, p.ChatID)
		switch {
		case err != nil:
			return err
		case isLive && asksQuestion(live):
			m.State, m.RunID = string(MessageAnswer), live.ID
			result.State, result.RunID = "answered", live.ID
		case isLive:
			m.State = string(MessageQueued)
			result.State = "queued"
		default:
			run, err := d.newRun(tx, p.NewRunID, m, p.Model, p.Mode)
			if err != nil {
				return err
			}
			m.State, m.RunID = string(MessageSent), run.ID
			result.State, result.RunID, result.Run = "started", run.ID, &run
		}
		if err := tx.Create(&m).Error; err != nil {
			return wrap("store message", err)
		}
		if chat.Title == "" {
			if err := tx.Table("chats").Where("id = ?", p.ChatID).Update("title", Title(m.Text)).Error; err != nil {
				return wrap("title chat", err)
			}
		}
		return d.touch(tx, p.ChatID)
	})
	return result, err
}

func repeated(m messageRow, text string) (PostResult, error) {
	if m.Text != text {
		return PostResult{}, ErrConflict
	}
	state := map[MessageState]string{MessageSent: "started", MessageAnswer: "answered"}[MessageState(m.State)]
	if state == "" {
		state = "queued"
	}
	return PostResult{MessageID: m.ID, RunID: m.RunID, State: state, Repeated: true}, nil
}

func liveRun(tx *gorm.DB, chatID string) (runRow, bool, error) {
	var live runRow
	err := tx.Where("chat_id = ? AND parent_run_id = '' AND state IN ?", chatID, openStates).Take(&live).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return live, false, nil
	}
	return live, err == nil, wrap("read live run", err)
}

func asksQuestion(r runRow) bool {
	if part.State(r.State) != part.Waits {
		return false
	}
	for _, w := range fromJSON[[]part.Waiting](r.Waiting) {
		if w.Kind == "question" {
			return true
		}
	}
	return false
}

func (d *DB) newRun(tx *gorm.DB, id string, m messageRow, model string, mode planning.Mode) (Run, error) {
	run := Run{ID: id, ChatID: m.ChatID, UserMessageID: m.ID, UserText: m.Text, Model: model, Mode: mode, State: part.Queued, NextStep: 1, CreatedAt: d.o.Now()}
	row := rowOfRun(run)
	err := tx.Omit("chat_title").Create(&row).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return run, ErrBusy
	}
	if err != nil {
		return run, wrap("store run", err)
	}
	return run, d.indexRun(tx, run.ID, run.UserText)
}

// EditQueued changes the text of a message that waits.
func (d *DB) EditQueued(ctx context.Context, chatID, messageID, newText string) error {
	return d.queued(ctx, chatID, messageID, func(tx *gorm.DB, m messageRow) error {
		return wrap("edit message", tx.Model(&m).Update("text", text(newText)).Error)
	})
}

// DeleteQueued takes back a message that waits.
func (d *DB) DeleteQueued(ctx context.Context, chatID, messageID string) error {
	return d.queued(ctx, chatID, messageID, func(tx *gorm.DB, m messageRow) error {
		return wrap("delete message", tx.Delete(&m).Error)
	})
}

// queued runs f on a message that waits; ErrConflict where it was sent.
func (d *DB) queued(ctx context.Context, chatID, messageID string, f func(*gorm.DB, messageRow) error) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockChat(tx, chatID); err != nil {
			return err
		}
		var m messageRow
		if err := tx.Where("chat_id = ? AND id = ?", chatID, messageID).Take(&m).Error; err != nil {
			return wrap("read message", err)
		}
		if s := MessageState(m.State); s != MessageQueued && s != MessageHeld {
			return ErrConflict
		}
		return f(tx, m)
	})
}

// SendQueued sends a message that waits: it becomes a run, or queues behind a
// live one. A message that was sent gives its run again.
func (d *DB) SendQueued(ctx context.Context, chatID, messageID, newRunID, model string) (result PostResult, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		chat, err := d.lockChat(tx, chatID)
		if err != nil {
			return err
		}
		var m messageRow
		if err := tx.Where("chat_id = ? AND id = ?", chatID, messageID).Take(&m).Error; err != nil {
			return wrap("read message", err)
		}
		if s := MessageState(m.State); s != MessageQueued && s != MessageHeld {
			result, err = repeated(m, m.Text)
			return err
		}
		result = PostResult{MessageID: m.ID, State: "queued"}
		_, isLive, err := liveRun(tx, chatID)
		if err != nil {
			return err
		}
		if isLive {
			return wrap("queue message", tx.Model(&m).Update("state", string(MessageQueued)).Error)
		}
		run, err := d.newRun(tx, newRunID, m, model, planning.Mode(chat.PlanningMode))
		if err != nil {
			return err
		}
		result.State, result.RunID, result.Run = "started", run.ID, &run
		return wrap("send message", tx.Model(&m).Updates(map[string]any{"state": string(MessageSent), "run_id": run.ID}).Error)
	})
	return result, err
}

// NextQueued makes a run of the oldest queued message, if the chat has one and
// no live run.
func (d *DB) NextQueued(ctx context.Context, chatID, newRunID string) (next *Run, ok bool, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		chat, err := d.lockChat(tx, chatID)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, isLive, err := liveRun(tx, chatID); err != nil || isLive {
			return err
		}
		var m messageRow
		err = tx.Where("chat_id = ? AND state = ?", chatID, string(MessageQueued)).Order("position").Take(&m).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil
		}
		if err != nil {
			return wrap("read queued message", err)
		}
		model := chat.Model
		if model == "" {
			var last runRow
			if err := tx.Where("chat_id = ? AND parent_run_id = ''", chatID).Order("created_at DESC, id DESC").Take(&last).Error; err != nil {
				return wrap("read last run", err)
			}
			model = last.Model
		}
		run, err := d.newRun(tx, newRunID, m, model, planning.Mode(chat.PlanningMode))
		if err != nil {
			return err
		}
		next, ok = &run, true
		return wrap("send message", tx.Model(&m).Updates(map[string]any{"state": string(MessageSent), "run_id": run.ID}).Error)
	})
	return next, ok, err
}

// HoldQueued holds the chat's queued messages until the user sends them.
func (d *DB) HoldQueued(ctx context.Context, chatID string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		return wrap("hold queue", tx.Table("messages").Where("chat_id = ? AND state = ?", chatID, string(MessageQueued)).Update("state", string(MessageHeld)).Error)
	})
}
