package store

import (
	"context"

	"gorm.io/gorm"
)

// Claim makes this process the run's owner: running, epoch and attempts one
// higher; an older owner is fenced. A run that waits still does, so that a
// message that comes now is its answer; its owner ends the wait. The error is
// ErrFinished where the run has ended or is gone.
func (d *DB) Claim(ctx context.Context, runID string) (*RunLog, Run, error) {
	var row runRow
	err := d.tx(ctx, func(tx *gorm.DB) error {
		r := tx.Exec("UPDATE runs SET state = CASE state WHEN 'waiting' THEN state ELSE 'running' END, epoch = epoch + 1, attempts = attempts + 1, started_at = CASE started_at WHEN 0 THEN ? ELSE started_at END WHERE id = ? AND state IN ?",
			ms(d.now()), text(runID), openStates)
		if r.Error != nil {
			return wrap("claim run", r.Error)
		}
		if r.RowsAffected == 0 {
			return ErrFinished
		}
		return wrap("read run", tx.Table("runs").Select(runColumns).Where("id = ?", text(runID)).Take(&row).Error)
	})
	if err != nil {
		return nil, Run{}, err
	}
	run := row.run()
	return newRunLog(d, run), run, nil
}

// owned is a run's row as its owner knows it.
func (d *DB) owned(tx *gorm.DB, l *RunLog) (row runRow, err error) {
	err = tx.Select("epoch", "last_seq", "state", "cancel_requested").Where("id = ?", l.runID).Limit(1).Find(&row).Error
	switch {
	case err != nil:
		return row, wrap("read run", err)
	case row.State == "":
		return row, ErrFinished // deleted with its chat
	case row.Epoch != l.epoch:
		return row, ErrFenced
	}
	return row, nil
}
