package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Chat is a conversation and its settings. Plan is the open plan it owns.
type Chat struct {
	ID, Title            string
	PlanningMode         planning.Mode
	Model                string // "" = the standard model
	ApproveAll           bool
	Allowed              []string // tools that are always allowed here
	Plan                 planning.State
	CreatedAt, UpdatedAt time.Time
	// Of the newest root run.
	LastRunState part.State
	LastRunDebt  int
	LastRunID    string
}

const chatColumns = `chats.*,
  COALESCE((SELECT id FROM runs r WHERE r.chat_id = chats.id AND r.parent_run_id = '' ORDER BY r.created_at DESC, r.id DESC LIMIT 1), '') AS last_run_id,
  COALESCE((SELECT state FROM runs r WHERE r.chat_id = chats.id AND r.parent_run_id = '' ORDER BY r.created_at DESC, r.id DESC LIMIT 1), '') AS last_run_state,
  COALESCE((SELECT debt FROM runs r WHERE r.chat_id = chats.id AND r.parent_run_id = '' ORDER BY r.created_at DESC, r.id DESC LIMIT 1), '') AS last_run_debt`

// CreateChat stores a chat; an empty ID is filled. The error is ErrConflict
// where the id is taken.
func (d *DB) CreateChat(ctx context.Context, c Chat) (Chat, error) {
	if c.ID == "" {
		c.ID = d.o.NewID()
	}
	c.CreatedAt = d.o.Now()
	c.UpdatedAt = c.CreatedAt
	row := rowOfChat(c)
	err := d.write.WithContext(ctx).Omit("last_run_id", "last_run_state", "last_run_debt").Create(&row).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return c, ErrConflict
	}
	return c, wrap("create chat", err)
}

// Chat reads one chat.
func (d *DB) Chat(ctx context.Context, id string) (Chat, error) {
	var row chatRow
	err := d.read.WithContext(ctx).Table("chats").Select(chatColumns).Where("chats.id = ?", id).Take(&row).Error
	return row.chat(), wrap("read chat", err)
}

// Chats reads a page of chats, the last changed first, and the cursor of the
// next page ("" at the end).
func (d *DB) Chats(ctx context.Context, cursor string, limit int) ([]Chat, string, error) {
	q := d.read.WithContext(ctx).Table("chats").Select(chatColumns).Order("updated_at DESC, id DESC").Limit(limit + 1)
	if t, id, ok := splitCursor(cursor); ok {
		q = q.Where("(updated_at < ? OR (updated_at = ? AND id < ?))", t, t, id)
	}
	var rows []chatRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, "", wrap("read chats", err)
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		next = joinCursor(last.UpdatedAt, last.ID)
	}
	var list []Chat
	for _, r := range rows {
		list = append(list, r.chat())
	}
	return list, next, nil
}

// UpdateChat changes title, mode, model and permissions.
func (d *DB) UpdateChat(ctx context.Context, id string, change func(*Chat)) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		row, err := d.lockChat(tx, id)
		if err != nil {
			return err
		}
		c := row.chat()
		change(&c)
		set := rowOfChat(c)
		return wrap("update chat", tx.Table("chats").Where("id = ?", id).Updates(map[string]any{"title": set.Title, "planning_mode": set.PlanningMode,
			"model": set.Model, "approve_all": set.ApproveAll, "allowed": set.Allowed}).Error)
	})
}

// DeleteChat deletes the chat with all that belongs to it; ErrBusy while a run
// lives.
func (d *DB) DeleteChat(ctx context.Context, id string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockChat(tx, id); err != nil {
			return err
		}
		var live int64
		if err := tx.Table("runs").Where("chat_id = ? AND state IN ?", id, openStates).Count(&live).Error; err != nil {
			return wrap("count live runs", err)
		}
		if live > 0 {
			return ErrBusy
		}
		if !d.postgres {
			if err := tx.Exec("DELETE FROM search WHERE run_id IN (SELECT id FROM runs WHERE chat_id = ?)", id).Error; err != nil {
				return wrap("delete search rows", err)
			}
		}
		return wrap("delete chat", tx.Exec("DELETE FROM chats WHERE id = ?", id).Error)
	})
}

// lockChat reads a chat that the transaction is about to change. SQLite's write
// transactions are immediate, so that only Postgres needs a row lock.
func (d *DB) lockChat(tx *gorm.DB, id string) (chatRow, error) {
	q := tx.Table("chats")
	if d.postgres {
		q = q.Clauses(clause.Locking{Strength: "UPDATE"})
	}
	var row chatRow
	err := q.Select("chats.*").Where("id = ?", id).Take(&row).Error
	return row, wrap("read chat", err)
}

func (d *DB) touch(tx *gorm.DB, chatID string) error {
	return wrap("touch chat", tx.Table("chats").Where("id = ?", chatID).Update("updated_at", ms(d.o.Now())).Error)
}

// wrap says what was being done; a missing row is ErrNotFound.
func wrap(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound):
		return fmt.Errorf("%s: %w", doing, ErrNotFound)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func joinCursor(t int64, id string) string { return strconv.FormatInt(t, 10) + "." + id }

func splitCursor(cursor string) (t int64, id string, ok bool) {
	a, id, found := strings.Cut(cursor, ".")
	t, err := strconv.ParseInt(a, 10, 64)
	return t, id, found && err == nil
}
