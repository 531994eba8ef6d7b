package store

import (
	"context"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// writeOp writes what a commit does beside its entries.
func (d *DB) writeOp(tx *gorm.DB, b *batch) error {
	l, o, now := b.log, b.op, ms(d.o.Now())
	set := map[string]any{}
	if o.state != nil {
		if err := tx.Table("chats").Where("id = ?", l.chatID).Update("plan", toJSON(*o.state)).Error; err != nil {
			return wrap("store plan", err)
		}
		set["stages_done"], set["stages"] = stagesOf(o.state.Plan)
	}
	if o.change != nil {
		row := planRow{RunID: l.runID, Revision: int64(o.change.Plan.Revision), Time: now, Tool: o.change.Tool,
			Explanation: text(o.change.Explanation), Note: text(o.change.Note), Plan: toJSON(o.change.Plan)}
		if err := tx.Create(&row).Error; err != nil {
			return wrap("store revision", err)
		}
	}
	if o.step > 0 {
		row := stepRow{RunID: l.runID, Step: int64(o.step), Plan: toJSON(o.state), FinishedAt: now}
		if err := tx.Exec("INSERT INTO steps (run_id, step, plan, finished_at) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, step) DO UPDATE SET plan = excluded.plan, finished_at = excluded.finished_at", row.RunID, row.Step, row.Plan, row.FinishedAt).Error; err != nil {
			return wrap("complete step", err)
		}
		set["next_step"], set["attempts"] = o.step+1, 0
	}
	if o.waiting != nil {
		set["state"], set["waiting"] = string(part.Running), ""
		if len(*o.waiting) > 0 {
			set["state"], set["waiting"] = string(part.Waits), toJSON(*o.waiting)
		}
	}
	if len(set) > 0 {
		if err := tx.Table("runs").Where("id = ?", l.runID).Updates(set).Error; err != nil {
			return wrap("update run", err)
		}
	}
	if o.finish {
		return d.finishRun(tx, l.runID, l.chatID, b.entries[len(b.entries)-1], o.state)
	}
	return nil
}

func stagesOf(p planning.Plan) (done, total int) {
	for _, s := range p.Stages {
		if s.Status.IsDone() {
			done++
		}
	}
	return done, len(p.Stages)
}

// finishRun settles the run's row, retires the chat's plan where plan is nil,
// packs the log and indexes the answer.
func (d *DB) finishRun(tx *gorm.DB, runID, chatID string, end *part.Entry, plan *planning.State) error {
	set := map[string]any{"state": string(end.State), "finish_reason": string(end.FinishReason), "error": toJSON(end.Error), "note": text(end.Note),
		"debt": toJSON(end.Debt), "waiting": "", "finished_at": ms(end.Time)}
	if end.Usage != nil {
		set["usage"] = toJSON(*end.Usage)
	}
	if err := tx.Table("runs").Where("id = ?", runID).Updates(set).Error; err != nil {
		return wrap("settle run", err)
	}
	if plan == nil {
		if err := tx.Table("chats").Where("id = ?", chatID).Update("plan", "").Error; err != nil {
			return wrap("retire plan", err)
		}
	}
	if err := d.touch(tx, chatID); err != nil {
		return err
	}
	var rows []entryRow
	if err := tx.Where("run_id = ?", runID).Order("seq").Find(&rows).Error; err != nil {
		return wrap("read log", err)
	}
	var entries []*part.Entry
	for _, r := range rows {
		e, err := r.entry()
		if err != nil {
			return wrap("read entry", err)
		}
		entries = append(entries, e)
	}
	packed := pack(entries)
	if err := rewrite(tx, runID, entries, packed); err != nil {
		return err
	}
	var run runRow
	if err := tx.Select("user_text").Where("id = ?", runID).Take(&run).Error; err != nil {
		return wrap("read run", err)
	}
	return d.indexRun(tx, runID, run.UserText, answerText(part.Build(packed)))
}

// rewrite stores the packed log in place of the entries: joined deltas are
// changed, the ones that went into them deleted.
func rewrite(tx *gorm.DB, runID string, entries, packed []*part.Entry) error {
	if len(packed) == len(entries) {
		return nil
	}
	kept := map[int64]*part.Entry{}
	for _, e := range packed {
		kept[e.Seq] = e
	}
	var gone []int64
	for _, e := range entries {
		switch p := kept[e.Seq]; {
		case p == nil:
			gone = append(gone, e.Seq)
		case p != e:
			if err := tx.Table("entries").Where("run_id = ? AND seq = ?", runID, e.Seq).Update("body", body(p)).Error; err != nil {
				return wrap("pack log", err)
			}
		}
	}
	for len(gone) > 0 {
		n := min(len(gone), 500)
		if err := tx.Exec("DELETE FROM entries WHERE run_id = ? AND seq IN ?", runID, gone[:n]).Error; err != nil {
			return wrap("pack log", err)
		}
		gone = gone[n:]
	}
	return nil
}

// SettleInterrupted ends a run that no owner goes on with, in one transaction:
// open parts are closed, the state is interrupted, the chat keeps its plan. A
// run that has ended is left as it is.
func (d *DB) SettleInterrupted(ctx context.Context, runID, reason string) error {
	var ended []*part.Entry
	var row runRow
	err := d.tx(ctx, func(tx *gorm.DB) error {
		r := tx.Exec("UPDATE runs SET epoch = epoch + 1 WHERE id = ? AND state IN ('queued', 'running', 'waiting')", runID)
		if r.Error != nil {
			return wrap("take run", r.Error)
		}
		if r.RowsAffected == 0 {
			return nil
		}
		if err := tx.Where("id = ?", runID).Take(&row).Error; err != nil {
			return wrap("read run", err)
		}
		var rows []entryRow
		if err := tx.Where("run_id = ?", runID).Order("seq").Find(&rows).Error; err != nil {
			return wrap("read log", err)
		}
		var log []*part.Entry
		for _, r := range rows {
			e, err := r.entry()
			if err != nil {
				return wrap("read entry", err)
			}
			log = append(log, e)
		}
		chat, err := d.lockChat(tx, row.ChatID)
		if err != nil {
			return err
		}
		state := fromJSON[planning.State](chat.Plan)
		ended = d.ending(row, log, state, reason)
		var added []entryRow
		for _, e := range ended {
			added = append(added, rowOfEntry(runID, e))
		}
		if err := tx.Create(&added).Error; err != nil {
			return wrap("append to log", err)
		}
		if err := tx.Exec("UPDATE runs SET last_seq = ? WHERE id = ?", ended[len(ended)-1].Seq, runID).Error; err != nil {
			return wrap("append to log", err)
		}
		var keep *planning.State
		if !state.Complete() {
			keep = &state
		}
		return d.finishRun(tx, runID, row.ChatID, ended[len(ended)-1], keep)
	})
	if err == nil && len(ended) > 0 && d.o.Committed != nil {
		d.o.Committed(Committed{RunID: runID, ChatID: row.ChatID, Entries: ended, State: part.Interrupted})
	}
	return err
}

// ending is what closes a log: a start if it has none, everything open, the
// finish entry.
func (d *DB) ending(row runRow, log []*part.Entry, state planning.State, reason string) []*part.Entry {
	now := d.o.Now()
	var entries []*part.Entry
	if len(log) == 0 {
		entries = append(entries, &part.Entry{Time: now, Type: part.Start, Data: []byte(toJSON(part.StartData{RunID: row.ID, ChatID: row.ChatID,
			ParentRunID: row.ParentRunID, MessageID: row.ID, UserMessageID: row.UserMessageID, UserText: row.UserText, Model: row.Model, PlanningMode: planning.Mode(row.Mode)}))})
	}
	entries = append(entries, part.Settle(part.Build(log), part.Interrupted, part.ReasonAbort, now)...)
	usage := part.Usage{}
	step := 0
	for _, e := range log {
		step = max(step, e.Step)
		if e.Type == part.FinishStep && e.Usage != nil {
			usage = usage.Plus(*e.Usage)
		}
	}
	end := &part.Entry{Time: now, Type: part.Finish, State: part.Interrupted, FinishReason: part.ReasonAbort, Note: reason, Usage: &usage}
	for _, s := range state.Owes() {
		end.Debt = append(end.Debt, part.Debt{ID: s.ID, Content: s.Content})
	}
	entries = append(entries, end)
	for i, e := range entries {
		e.Seq = row.LastSeq + int64(i) + 1
		if e.Step == 0 {
			e.Step = step
		}
	}
	return entries
}
