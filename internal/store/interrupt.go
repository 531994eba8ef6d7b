package store

import (
	"context"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// SettleInterrupted ends a run that no owner goes on with, in one transaction:
// open parts are closed, the state is interrupted, the chat keeps an open plan.
// A living owner is fenced; a run that has ended is left as it is.
func (d *DB) SettleInterrupted(ctx context.Context, runID, reason string) error {
	d.writer.order.Lock()
	defer d.writer.order.Unlock()
	var last []*part.Entry
	var row runRow
	err := d.tx(ctx, func(tx *gorm.DB) error {
		last = nil
		r := tx.Exec("UPDATE runs SET epoch = epoch + 1 WHERE id = ? AND state IN ?", text(runID), openStates)
		if r.Error != nil {
			return wrap("take run", r.Error)
		}
		if r.RowsAffected == 0 {
			return nil
		}
		if err := tx.Where("id = ?", text(runID)).Take(&row).Error; err != nil {
			return wrap("read run", err)
		}
		var rows []entryRow
		if err := tx.Table("entries").Select("seq, body").Where("run_id = ?", row.ID).Order("seq").Find(&rows).Error; err != nil {
			return wrap("read log", err)
		}
		log := make([]*part.Entry, len(rows))
		for i, r := range rows {
			var err error
			if log[i], err = r.entry(); err != nil {
				return err
			}
		}
		var err error
		last, err = d.interrupt(tx, row, log, reason)
		return err
	})
	if err == nil && len(last) > 0 {
		ring(d.packer.bell)
	}
	if err == nil && len(last) > 0 && d.o.Committed != nil {
		d.o.Committed(Committed{RunID: row.ID, ChatID: row.ChatID, Entries: last, State: part.Interrupted})
	}
	return err
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
