package store

import (
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// maxRows bounds the bytes of entries that one statement carries.
const maxRows = 4 << 20

// commit writes the batches into the transaction: each log moves from the seq
// and under the epoch that its owner knows, or not at all. An outcome of one
// run is left in its batch; an error is the database's.
func (d *DB) commit(tx *gorm.DB, batches []*batch) error {
	moved, err := d.advance(tx, batches)
	if err != nil {
		return err
	}
	var stored []*batch
	for _, b := range batches {
		b.outcome = nil
		row, ok := moved[b.log.runID]
		if !ok {
			if b.outcome, err = d.unmoved(tx, b); err != nil {
				return err
			}
			continue
		}
		b.state, b.cancel = part.State(row.State), row.CancelRequested != 0
		stored = append(stored, b)
	}
	if err := d.insert(tx, stored); err != nil {
		return err
	}
	for _, b := range stored {
		if err := d.apply(tx, b); err != nil {
			return err
		}
	}
	return nil
}

// advance moves the logs' last seqs.
func (d *DB) advance(tx *gorm.DB, batches []*batch) (map[string]runRow, error) {
	type move struct {
		Run   string `json:"run"`
		Epoch int64  `json:"epoch"`
		Base  int64  `json:"base"`
		Upto  int64  `json:"upto"`
		Good  bool   `json:"good"`
		Late  bool   `json:"late"`
	}
	moves := make([]move, len(batches))
	for i, b := range batches {
		moves[i] = move{b.log.runID, b.log.epoch, b.base, b.upto(), b.good(), b.late()}
	}
	list, err := encode(moves)
	if err != nil {
		return nil, err
	}
	var rows []runRow
	err = tx.Raw(`UPDATE runs SET last_seq = b.upto FROM `+d.rowset("run text", "epoch bigint", "base bigint", "upto bigint", "good boolean", "late boolean")+`
		WHERE id = b.run AND runs.epoch = b.epoch AND last_seq = b.base AND (b.late OR state IN ('running', 'waiting')) AND NOT (b.good AND cancel_requested = 1)
		RETURNING id, state, cancel_requested`, list).Scan(&rows).Error
	if err != nil {
		return nil, wrap("append to log", err)
	}
	moved := make(map[string]runRow, len(rows))
	for _, r := range rows {
		moved[r.ID] = r
	}
	return moved, nil
}

// rowset is a parameter of JSON objects as a table b of the columns.
func (d *DB) rowset(columns ...string) string {
	if d.postgres {
		return "json_to_recordset(?::json) AS b(" + strings.Join(columns, ", ") + ")"
	}
	var b strings.Builder
	for i, c := range columns {
		name, _, _ := strings.Cut(c, " ")
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "value->>'%s' AS %s", name, name)
	}
	return "(SELECT " + b.String() + " FROM json_each(?)) AS b"
}

// unmoved says why a log did not move; nil where the batch is stored already
// and only the answer to an earlier try was lost.
func (d *DB) unmoved(tx *gorm.DB, b *batch) (outcome, err error) {
	row, err := d.owned(tx, b.log)
	if errors.Is(err, ErrFinished) || errors.Is(err, ErrFenced) {
		return err, nil
	}
	if err != nil {
		return nil, err
	}
	b.state, b.cancel = part.State(row.State), row.CancelRequested != 0
	switch {
	case b.unsure && row.LastSeq == b.base+int64(len(b.entries)):
		if b.dropped != nil { // the withdrawn op is stored too
			b.op, b.dropped = b.dropped, nil
			b.op.err = nil
		}
		return nil, nil
	case b.unsure && row.LastSeq == b.upto():
		return nil, nil
	case ended(row.State):
		return ErrFinished, nil
	case row.LastSeq == b.base && b.good() && b.cancel:
		return ErrStopRequested, nil
	}
	return nil, &permanentError{fmt.Errorf("the log of run %s is at %d, not at %d", b.log.runID, row.LastSeq, b.base)}
}

// insert stores the batches' entries.
func (d *DB) insert(tx *gorm.DB, batches []*batch) error {
	type entry struct {
		Run  string `json:"run"`
		Seq  int64  `json:"seq"`
		Step int64  `json:"step"`
		Time int64  `json:"time"`
		Type string `json:"type"`
		Body string `json:"body"`
	}
	var rows []entry
	size := 0
	flush := func() error {
		list, err := encode(rows)
		if err != nil || len(rows) == 0 {
			return err
		}
		rows, size = rows[:0], 0
		return wrap("append to log", tx.Exec(`INSERT INTO entries (run_id, seq, step, time, type, body)
			SELECT run, seq, step, time, type, body FROM `+d.rowset("run text", "seq bigint", "step bigint", "time bigint", "type text", "body text"), list).Error)
	}
	for _, b := range batches {
		for _, r := range b.rows[:len(b.current())] {
			rows = append(rows, entry{b.log.runID, r.Seq, r.Step, r.Time, r.Type, r.Body})
			if size += len(r.Body); size > maxRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// apply writes what a stored batch changes beside the log.
func (d *DB) apply(tx *gorm.DB, b *batch) error {
	l, o := b.log, b.op
	set := map[string]any{}
	if used := b.usage(); used != l.usage {
		usage, err := encode(used)
		if err != nil {
			return err
		}
		set["usage"] = usage
	}
	if o != nil {
		if err := d.applyOp(tx, b, set); err != nil {
			return err
		}
	}
	if len(set) > 0 {
		if err := tx.Table("runs").Where("id = ?", l.runID).Updates(set).Error; err != nil {
			return wrap("update run", err)
		}
	}
	if o == nil || !o.finish {
		return nil
	}
	end := b.entries[len(b.entries)-1]
	b.state = end.State
	return d.finishRun(tx, ending{runID: l.runID, entry: end, plan: o.state, digest: o.digest})
}

// applyOp stores the planner's state and the revision, and notes in set what
// changes in the run.
func (d *DB) applyOp(tx *gorm.DB, b *batch, set map[string]any) error {
	l, o := b.log, b.op
	if o.state != nil {
		plan, err := encode(*o.state)
		if err != nil {
			return err
		}
		if l.root {
			if err := tx.Table("chats").Where("id = ?", l.chatID).Update("plan", plan).Error; err != nil {
				return wrap("store plan", err)
			}
		}
		set["plan"] = plan
		set["stages_done"], set["stages"] = stagesOf(o.state.Plan)
	}
	if o.change != nil {
		plan, err := encode(o.change.Plan)
		if err != nil {
			return err
		}
		row := planRow{RunID: l.runID, Seq: b.upto(), Revision: int64(o.change.Plan.Revision), Time: ms(d.now()), Tool: text(o.change.Tool),
			Explanation: text(o.change.Explanation), Note: text(o.change.Note), Plan: plan}
		if err := tx.Create(&row).Error; err != nil {
			return wrap("store revision", err)
		}
	}
	if o.step > 0 {
		set["next_step"], set["attempts"] = o.step+1, 0
	}
	if o.setsWaiting {
		waiting, err := encode(validWaiting(o.waiting))
		if err != nil {
			return err
		}
		b.state = part.Running
		if len(o.waiting) > 0 {
			b.state = part.Waits
		}
		set["state"], set["waiting"] = string(b.state), waiting
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
