package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// pageSize is a page of a list where the caller names none.
const pageSize = 50

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

// chatsQuery reads chats with their newest root run.
func (d *DB) chatsQuery(ctx context.Context) *gorm.DB {
	return d.read.WithContext(ctx).Table("chats").Select("chats.*, last.id AS last_run_id, last.state AS last_run_state, last.debt AS last_run_debt").
		Joins("LEFT JOIN runs last ON last.position = (SELECT MAX(position) FROM runs WHERE chat_id = chats.id AND parent_run_id = '')")
}

// CreateChat stores a chat; an empty ID is filled. The error is ErrConflict
// where the id is taken.
func (d *DB) CreateChat(ctx context.Context, c Chat) (Chat, error) {
	if c.ID == "" {
		c.ID = d.o.NewID()
	}
	c.CreatedAt = d.now()
	c.UpdatedAt = c.CreatedAt
	row, err := rowOfChat(c)
	if err != nil {
		return c, err
	}
	err = d.tx(ctx, func(tx *gorm.DB) error {
		return tx.Omit("last_run_id", "last_run_state", "last_run_debt").Create(&row).Error
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return c, ErrConflict
	}
	return c, wrap("create chat", err)
}

// Chat reads one chat.
func (d *DB) Chat(ctx context.Context, id string) (Chat, error) {
	var row chatRow
	err := d.chatsQuery(ctx).Where("chats.id = ?", text(id)).Take(&row).Error
	return row.chat(), wrap("read chat", err)
}

// Chats reads a page of chats, the last changed first, and the cursor of the
// next page ("" at the end).
func (d *DB) Chats(ctx context.Context, cursor string, limit int) ([]Chat, string, error) {
	if limit <= 0 {
		limit = pageSize
	}
	q := d.chatsQuery(ctx).Order("chats.updated_at DESC, chats.id DESC").Limit(limit + 1)
	if at, id, ok := splitCursor(cursor); ok {
		q = q.Where("(chats.updated_at, chats.id) < (?, ?)", at, text(id))
	}
	var rows []chatRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, "", wrap("read chats", err)
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = joinCursor(rows[limit-1].UpdatedAt, rows[limit-1].ID)
	}
	list := make([]Chat, len(rows))
	for i, r := range rows {
		list[i] = r.chat()
	}
	return list, next, nil
}

// A cursor is the place of a page's last chat.
func joinCursor(at int64, id string) string { return strconv.FormatInt(at, 10) + "." + id }

func splitCursor(cursor string) (at int64, id string, ok bool) {
	a, id, found := strings.Cut(cursor, ".")
	at, err := strconv.ParseInt(a, 10, 64)
	return at, id, found && err == nil
}

// UpdateChat changes title, mode, model and permissions; other changes are not
// stored. Change may be called twice.
func (d *DB) UpdateChat(ctx context.Context, id string, change func(*Chat)) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		row, err := d.lockChat(tx, id)
		if err != nil {
			return err
		}
		c := row.chat()
		change(&c)
		set, err := rowOfChat(c)
		if err != nil {
			return err
		}
		if set.Title != row.Title {
			if err := d.retitle(tx, row.ID, set.Title); err != nil {
				return err
			}
		}
		return wrap("update chat", tx.Table("chats").Where("id = ?", row.ID).Updates(map[string]any{"title": set.Title, "planning_mode": set.PlanningMode,
			"model": set.Model, "approve_all": set.ApproveAll, "allowed": set.Allowed}).Error)
	})
}

// DeleteChat deletes the chat with all that belongs to it; ErrBusy while a run
// lives.
func (d *DB) DeleteChat(ctx context.Context, id string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		row, err := d.lockChat(tx, id)
		if err != nil {
			return err
		}
		var live int64
		if err := tx.Table("runs").Where("chat_id = ? AND state IN ?", row.ID, openStates).Count(&live).Error; err != nil {
			return wrap("count live runs", err)
		}
		if live > 0 {
			return ErrBusy
		}
		if !d.postgres { // a virtual table has no foreign keys
			if err := tx.Exec("DELETE FROM search WHERE docid IN (SELECT position FROM runs WHERE chat_id = ?)", row.ID).Error; err != nil {
				return wrap("delete from index", err)
			}
		}
		return wrap("delete chat", tx.Exec("DELETE FROM chats WHERE id = ?", row.ID).Error)
	})
}

// lockChat reads a chat that the transaction is about to change.
func (d *DB) lockChat(tx *gorm.DB, id string) (chatRow, error) {
	var row chatRow
	err := d.forUpdate(tx).Table("chats").Select("chats.*").Where("id = ?", text(id)).Take(&row).Error
	return row, wrap("read chat", err)
}

// forUpdate locks the rows that a transaction reads. SQLite's write transactions
// are immediate, so that only Postgres needs it.
func (d *DB) forUpdate(tx *gorm.DB) *gorm.DB {
	if d.postgres {
		return tx.Clauses(clause.Locking{Strength: "UPDATE"})
	}
	return tx
}

// touch makes the chat the last changed one.
func (d *DB) touch(tx *gorm.DB, chatID string) error {
	return wrap("touch chat", tx.Table("chats").Where("id = ?", chatID).Update("updated_at", ms(d.now())).Error)
}
