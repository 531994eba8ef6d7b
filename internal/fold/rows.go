package fold

import (
	"stagefold/internal/part"
)

// Snapshot is the folded state. While nothing changed it is the same pointer;
// in a new one, every row, part and block that did not change is the same
// pointer as before.
func (f *Folder) Snapshot() *Snapshot {
	if !f.stale {
		return f.snap
	}
	f.guess()
	f.readTold()
	f.showLines()
	for i := 0; i < len(f.queue); i++ {
		r := f.queue[i]
		r.queued = false
		if r.of != nil && !r.of.listed {
			continue
		}
		if r.publish(f.epoch) && r.of != nil {
			r.of.stale = true
		}
	}
	rows := f.makeRows()
	s := new(Snapshot)
	*s = f.run
	s.Planned, s.Total = f.planned(), len(f.rows)
	s.Lead, s.Rows, s.Sink, s.Answer = f.lead.vec, rows, f.sink.vec, f.answer.vec
	s.Calls = f.accepted
	f.run.Rows = rows
	f.snap, f.stale = s, false
	f.queue = f.queue[:0]
	f.anew, f.relisted = false, false
	f.epoch++
	return s
}

// makeRows is the rows of the list; only those that changed are made anew.
func (f *Folder) makeRows() Vec[*Row] {
	rows := f.run.Rows
	if !f.anew {
		for _, r := range f.queue {
			f.refresh(&rows, r.of)
		}
		f.refresh(&rows, f.current)
		f.refresh(&rows, f.owner)
		return rows
	}
	f.attach()
	f.run.Done = 0
	made := make([]*Row, len(f.rows))
	changed := f.relisted || rows.Len() != len(f.rows)
	for i, st := range f.rows {
		made[i] = f.makeRow(st)
		changed = changed || made[i] != rows.At(i)
		if made[i].Status == RowDone && !made[i].ClosedByRunEnd {
			f.run.Done++
		}
	}
	if !changed {
		return rows
	}
	if f.relisted || rows.Len() != len(made) {
		return VecOf(made...)
	}
	for i, row := range made {
		if rows.At(i) != row {
			rows = rows.Set(i, row)
		}
	}
	return rows
}

func (f *Folder) refresh(rows *Vec[*Row], st *stage) {
	if st == nil || !st.stale || !st.listed {
		return
	}
	last := st.row
	if row := f.makeRow(st); row != last {
		*rows = rows.Set(st.index, row)
	}
}

// makeRow is the stage's row; the one before where nothing in it changed.
func (f *Folder) makeRow(st *stage) *Row {
	st.stale = false
	s := &f.list[st.index]
	run := &f.run
	row := &Row{
		StageID: s.ID, Index: st.index + 1, Total: len(f.list),
		Content: s.Content, Deliverable: s.Deliverable, Evidence: s.Evidence,
		Unverified: s.Unverified, ResolvedBy: s.ResolvedBy,
		HasNext: st.index+1 < len(f.list),
		Live:    st == f.current && !run.Terminal(),
		Started: st.span.started, Ended: st.span.ended, Elapsed: st.span.elapsed, Since: st.span.since,
		Usage: st.usage, Tools: st.tools, Files: st.files, Children: st.children,
		Parts: st.vec,
	}
	row.Status, row.ClosedByRunEnd = RowStatus(s.Status, run.State, run.FinishReason)
	if row.Live {
		row.Activity = activityOf(st.cells)
	}
	if st.row != nil && st.row.same(row) {
		return st.row
	}
	st.row = row
	return row
}

// same compares all fields, parts by reference.
func (r *Row) same(q *Row) bool {
	return r.sameHead(q) && r.Parts.same(q.Parts)
}

// sameHead compares all fields but the parts.
func (r *Row) sameHead(q *Row) bool {
	return r.StageID == q.StageID && r.Index == q.Index && r.Total == q.Total &&
		r.Content == q.Content && r.Deliverable == q.Deliverable && r.Evidence == q.Evidence &&
		r.Status == q.Status && r.Unverified == q.Unverified && r.ClosedByRunEnd == q.ClosedByRunEnd &&
		r.ResolvedBy == q.ResolvedBy && r.Live == q.Live && r.HasNext == q.HasNext &&
		r.Started.Equal(q.Started) && r.Ended.Equal(q.Ended) && r.Elapsed == q.Elapsed && r.Since.Equal(q.Since) &&
		r.Usage == q.Usage && r.Tools == q.Tools && r.Activity == q.Activity &&
		sameFiles(r.Files, q.Files) && sameChildren(r.Children, q.Children)
}

func sameFiles(a, b []part.FileChange) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
