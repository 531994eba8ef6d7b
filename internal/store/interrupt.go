package store

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// settledAtOnce is how many runs one transaction of a recovery settles.
const settledAtOnce = 50

// SettleInterrupted ends a run that no owner goes on with, in one transaction:
// open parts are closed, the state is interrupted, the chat keeps an open plan.
// A living owner is fenced; a run that has ended is left as it is.
func (d *DB) SettleInterrupted(ctx context.Context, runID, reason string) error {
	return d.settle(ctx, []string{runID}, reason)
}

// SettleAllInterrupted is SettleInterrupted of many runs, some in one
// transaction. What hinders one run hinders no other.
func (d *DB) SettleAllInterrupted(ctx context.Context, runIDs []string, reason string) error {
	var errs []error
	for some := range slices.Chunk(runIDs, settledAtOnce) {
		if d.settle(ctx, some, reason) == nil {
			continue
		}
		for _, id := range some {
			errs = append(errs, d.SettleInterrupted(ctx, id, reason))
		}
	}
	return errors.Join(errs...)
}

// settle settles runs in one transaction and tells of them.
func (d *DB) settle(ctx context.Context, runIDs []string, reason string) error {
	d.writer.order.Lock()
	defer d.writer.order.Unlock()
	var told []Committed
	err := d.tx(ctx, func(tx *gorm.DB) error {
		told = told[:0]
		for _, id := range runIDs {
			c, err := d.take(tx, text(id), reason)
			if err != nil {
				return err
			}
			if len(c.Entries) > 0 {
				told = append(told, c)
			}
		}
		return nil
	})
	if err != nil || len(told) == 0 {
		return err
	}
	ring(d.packer.bell)
	if d.o.Committed != nil {
		for _, c := range told {
			d.o.Committed(c)
		}
	}
	return nil
}

// take takes an open run from its owner and settles it; nothing where it has
// ended.
func (d *DB) take(tx *gorm.DB, runID, reason string) (Committed, error) {
	r := tx.Exec("UPDATE runs SET epoch = epoch + 1 WHERE id = ? AND state IN ?", runID, openStates)
	if r.Error != nil || r.RowsAffected == 0 {
		return Committed{}, wrap("take run", r.Error)
	}
	var row runRow
	if err := tx.Where("id = ?", runID).Take(&row).Error; err != nil {
		return Committed{}, wrap("read run", err)
	}
	var rows []entryRow
	if err := tx.Table("entries").Select("seq, body").Where("run_id = ?", runID).Order("seq").Find(&rows).Error; err != nil {
		return Committed{}, wrap("read log", err)
	}
	log := make([]*part.Entry, 0, len(rows))
	for _, r := range rows {
		if e, ok := d.readable(runID, r); ok {
			log = append(log, e)
		}
	}
	last, err := d.interrupt(tx, row, log, reason)
	return Committed{RunID: row.ID, ChatID: row.ChatID, Entries: last, State: part.Interrupted}, err
}

// readable reads an entry for the end of its run, which must not hang on one
// that is damaged.
func (d *DB) readable(runID string, r entryRow) (*part.Entry, bool) {
	e, err := r.entry()
	if err != nil {
		d.o.Logger.Error("an entry could not be read", slog.String("run", runID), slog.Int64("seq", r.Seq))
	}
	return e, err == nil
}

// interrupt writes the last entries of a run and settles it.
func (d *DB) interrupt(tx *gorm.DB, row runRow, log []*part.Entry, reason string) ([]*part.Entry, error) {
	run := row.run()
	last := d.lastEntries(run, log, reason)
	b := &batch{log: &RunLog{runID: row.ID}}
	for i, e := range last {
		r, stored := rowOfEntry(e)
		last[i] = stored
		b.entries, b.rows = append(b.entries, stored), append(b.rows, r)
	}
	if err := d.insert(tx, []*batch{b}); err != nil {
		return nil, err
	}
	end := last[len(last)-1]
	if err := tx.Exec("UPDATE runs SET last_seq = ? WHERE id = ?", end.Seq, row.ID).Error; err != nil {
		return nil, wrap("append to log", err)
	}
	g, err := d.digest(tx, row.ID)
	if err != nil {
		return nil, err
	}
	var keep *planning.State
	if run.Plan.HasPlan && !run.Plan.Complete() || !run.Plan.HasPlan && row.ParentRunID == "" {
		keep = &run.Plan // the run's own, or the chat's, which it had not touched
	}
	return last, d.finishRun(tx, ending{runID: row.ID, entry: end, plan: keep, digest: g})
}

// lastEntries is what closes a log: a start if it has none, everything open, the
// finish entry.
func (d *DB) lastEntries(run Run, log []*part.Entry, reason string) []*part.Entry {
	now := d.now()
	step, usage := 0, part.Usage{}
	for _, e := range log {
		step = max(step, e.Step)
		if e.Type == part.FinishStep && e.Usage != nil {
			usage = usage.Plus(*e.Usage)
		}
	}
	var last []*part.Entry
	if len(log) == 0 {
		start, _ := encode(part.StartData{RunID: run.ID, ChatID: run.ChatID, ParentRunID: run.ParentRunID, MessageID: run.ID,
			UserMessageID: run.UserMessageID, UserText: run.UserText, Model: run.Model, PlanningMode: run.Mode}) // plain strings
		last = append(last, &part.Entry{Time: now, Type: part.Start, Data: []byte(start)})
	}
	last = append(last, part.Settle(part.Build(log), part.Interrupted, part.ReasonAbort, now)...)
	end := &part.Entry{Time: now, Step: step, Type: part.Finish, State: part.Interrupted, FinishReason: part.ReasonAbort, Note: reason, Usage: &usage}
	for _, s := range run.Plan.Owes() {
		end.Debt = append(end.Debt, part.Debt{ID: s.ID, Content: s.Content})
	}
	last = append(last, end)
	for i, e := range last {
		e.Seq = run.LastSeq + int64(i) + 1
	}
	return last
}
