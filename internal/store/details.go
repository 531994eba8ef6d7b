package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/planning"
)

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
	if err := d.read.WithContext(ctx).Where("run_id = ?", text(runID)).Order("seq, revision").Find(&rows).Error; err != nil {
		return nil, wrap("read revisions", err)
	}
	list := make([]Revision, len(rows))
	for i, r := range rows {
		list[i] = Revision{int(r.Revision), at(r.Time), r.Tool, r.Explanation, r.Note, decode[planning.Plan](r.Plan)}
	}
	return list, nil
}

// ToolOutput reads the whole output of a tool call whose entry is truncated.
func (d *DB) ToolOutput(ctx context.Context, runID, callID string) (mediaType string, output []byte, err error) {
	var row outputRow
	err = d.read.WithContext(ctx).Where("run_id = ? AND call_id = ?", text(runID), text(callID)).Take(&row).Error
	return row.MediaType, row.Body, wrap("read tool output", err)
}

// Setting reads a stored setting; false where there is none.
func (d *DB) Setting(ctx context.Context, key string) (value string, ok bool, err error) {
	var row settingRow
	err = d.read.WithContext(ctx).Where("key = ?", text(key)).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return "", false, nil
	}
	return row.Value, err == nil, wrap("read setting", err)
}

// SetSetting stores a setting.
func (d *DB) SetSetting(ctx context.Context, key, value string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		return wrap("store setting", tx.Exec("INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", text(key), text(value)).Error)
	})
}
