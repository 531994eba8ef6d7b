package store

import (
	"context"

	"gorm.io/gorm"

	"stagefold/internal/planning"
)

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
		_, m, err := d.messageOf(tx, chatID, messageID)
		if err != nil {
			return err
		}
		if !m.waits() {
			return ErrConflict
		}
		return f(tx, m)
	})
}

func (d *DB) messageOf(tx *gorm.DB, chatID, messageID string) (chat chatRow, m messageRow, err error) {
	if chat, err = d.lockChat(tx, chatID); err != nil {
		return chat, m, err
	}
	m, ok, err := findMessage(tx, "chat_id = ? AND id = ?", chat.ID, text(messageID))
	if err == nil && !ok {
		err = wrap("read message", ErrNotFound)
	}
	return chat, m, err
}

func (m messageRow) waits() bool {
	return MessageState(m.State) == MessageQueued || MessageState(m.State) == MessageHeld
}

// SendQueued sends a message that waits: it becomes a run, or queues behind a
// live one. A message that was sent gives its run again.
func (d *DB) SendQueued(ctx context.Context, chatID, messageID, newRunID, model string) (result PostResult, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		chat, m, err := d.messageOf(tx, chatID, messageID)
		if err != nil {
			return err
		}
		if !m.waits() {
			result = repeated(m)
			return nil
		}
		result = PostResult{MessageID: m.ID, State: "queued"}
		_, isLive, err := liveRun(tx, chat.ID)
		if err != nil {
			return err
		}
		if isLive {
			return wrap("queue message", tx.Model(&m).Update("state", string(MessageQueued)).Error)
		}
		run, err := d.send(tx, chat, m, newRunID, model, planning.Mode(chat.PlanningMode))
		if err != nil {
			return err
		}
		result.State, result.RunID, result.Run = "started", run.ID, run
		return d.touch(tx, chat.ID)
	})
	return result, err
}

// NextQueued makes a run of the chat's oldest queued message, if it has one and
// no live run, on the chat's model or else that of its last run.
func (d *DB) NextQueued(ctx context.Context, chatID, newRunID string) (next *Run, ok bool, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		next, ok = nil, false
		chat, err := d.lockChat(tx, chatID)
		if err != nil {
			return missing(err)
		}
		if _, isLive, err := liveRun(tx, chat.ID); err != nil || isLive {
			return err
		}
		m, found, err := findMessage(tx, "chat_id = ? AND state = 'queued'", chat.ID)
		if err != nil || !found {
			return err
		}
		model := chat.Model
		if model == "" {
			var last runRow
			if err := tx.Where("chat_id = ? AND parent_run_id = ''", chat.ID).Order("position DESC").Limit(1).Find(&last).Error; err != nil {
				return wrap("read last run", err)
			}
			model = last.Model
		}
		next, err = d.send(tx, chat, m, newRunID, model, planning.Mode(chat.PlanningMode))
		ok = err == nil
		return err
	})
	return next, ok && err == nil, err
}

// HoldQueued holds the chat's queued messages until the user sends them. A run
// that ends in another state than finished does it in its last transaction.
func (d *DB) HoldQueued(ctx context.Context, chatID string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockChat(tx, chatID); err != nil {
			return missing(err)
		}
		return hold(tx, text(chatID))
	})
}

func hold(tx *gorm.DB, chatID string) error {
	return wrap("hold queue", tx.Table("messages").Where("chat_id = ? AND state = 'queued'", chatID).Update("state", string(MessageHeld)).Error)
}

// QueuedChats reads the chats whose queued messages no live run will send: the
// process ended between a run's end and NextQueued.
func (d *DB) QueuedChats(ctx context.Context) ([]string, error) {
	var ids []string
	err := d.read.WithContext(ctx).Table("messages").Where("state = 'queued' AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.chat_id = messages.chat_id AND parent_run_id = '' AND runs.state IN ?)", openStates).
		Distinct("chat_id").Order("chat_id").Pluck("chat_id", &ids).Error
	return ids, wrap("read queued chats", err)
}
