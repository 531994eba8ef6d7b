package fold

// Changes says what differs between two snapshots of one run, in an order in
// which showing them one by one on the page of last gives the page of now:
// first what takes parts away, so that a part that moved stands nowhere twice.
// Where last is nil, everything is shown anew. What the snapshots share is
// skipped by reference.
func Changes(last, now *Snapshot) []Change {
	if last == now {
		return nil
	}
	if last == nil {
		return []Change{
			{Kind: RunChanged},
			{Kind: RegionReset, Region: RegionLead},
			{Kind: RowsReset, Region: RegionRows},
			{Kind: RegionReset, Region: RegionSink},
			{Kind: RegionReset, Region: RegionAnswer},
		}
	}
	var d diff
	if !last.sameRun(now) {
		d.add(Change{Kind: RunChanged})
	}
	lead := d.region(RegionLead, nil, last.Lead, now.Lead)
	rows := d.rows(last, now)
	sink := d.region(RegionSink, nil, last.Sink, now.Sink)
	answer := d.region(RegionAnswer, nil, last.Answer, now.Answer)
	resets := [][]Change{rows, sink, answer, lead}
	if now.Sink.Len() < last.Sink.Len() {
		resets = [][]Change{sink, rows, answer, lead}
	}
	d.addIf(true, resets)
	d.addIf(false, [][]Change{lead, rows, sink, answer})
	return d.changes
}

// diff collects changes.
type diff struct{ changes []Change }

func (d *diff) add(c Change) { d.changes = append(d.changes, c) }

// addIf adds the changes that are resets, or those that are not.
func (d *diff) addIf(resets bool, groups [][]Change) {
	for _, group := range groups {
		for _, c := range group {
			if (c.Kind == RegionReset || c.Kind == RowsReset) == resets {
				d.add(c)
			}
		}
	}
}

// sameRun compares what RunChanged stands for.
func (s *Snapshot) sameRun(t *Snapshot) bool {
	return s.State == t.State && s.FinishReason == t.FinishReason && s.Error == t.Error && s.Note == t.Note &&
		s.Done == t.Done && s.Total == t.Total && s.Step == t.Step && s.Usage == t.Usage &&
		s.Planned == t.Planned && s.Plan == t.Plan && s.PlanData == t.PlanData && s.Start == t.Start &&
		s.Started.Equal(t.Started) && s.Finished.Equal(t.Finished) &&
		sameItems(s.Debt, t.Debt) && sameItems(s.Waiting, t.Waiting) &&
		sameChildren(s.Unattached, t.Unattached) && s.Activity.same(t.Activity) && s.Calls.same(t.Calls)
}

// rows is the changes of the rows: all anew where one went or moved.
func (d *diff) rows(last, now *Snapshot) []Change {
	if last.Rows.same(now.Rows) {
		return nil
	}
	stays := now.Rows.Len() >= last.Rows.Len() && last.Rows.differ(now.Rows, func(_ int, old, row *Row) bool {
		return old.StageID == row.StageID
	})
	if !stays {
		return []Change{{Kind: RowsReset, Region: RegionRows}}
	}
	var changes []Change
	last.Rows.differ(now.Rows, func(_ int, old, row *Row) bool {
		if old == row {
			return true
		}
		if !old.sameHead(row) {
			changes = append(changes, Change{Kind: RowChanged, Region: RegionRows, Row: row})
		}
		changes = append(changes, d.region(RegionRows, row, old.Parts, row.Parts)...)
		return true
	})
	for _, row := range now.Rows.From(last.Rows.Len()) {
		changes = append(changes, Change{Kind: RowAdded, Region: RegionRows, Row: row})
	}
	return changes
}

// region is the changes of the parts in one place.
func (d *diff) region(region Region, row *Row, last, now Vec[*Part]) []Change {
	if last.same(now) {
		return nil
	}
	at := Change{Region: region, Row: row}
	var changes []Change
	stays := now.Len() >= last.Len() && last.differ(now, func(_ int, old, p *Part) bool {
		if old == p {
			return true
		}
		if old.N != p.N {
			return false
		}
		part := at
		part.Part = p
		changes = append(changes, part.part(old)...)
		return true
	})
	if !stays {
		at.Kind = RegionReset
		return []Change{at}
	}
	at.Kind = PartAdded
	for _, p := range now.From(last.Len()) {
		at.Part = p
		changes = append(changes, at)
	}
	return changes
}

// part is the changes from an older version of a part to c.Part.
func (c Change) part(old *Part) []Change {
	var changes []Change
	if !old.sameHead(c.Part) {
		c.Kind = PartChanged
		changes = append(changes, c)
	}
	if old.Blocks.same(c.Part.Blocks) {
		return changes
	}
	old.Blocks.differ(c.Part.Blocks, func(_ int, was, b *Block) bool {
		if was != b {
			c.Block = b
			changes = append(changes, c.block(was)...)
		}
		return true
	})
	c.Kind = BlockAdded
	for _, b := range c.Part.Blocks.From(old.Blocks.Len()) {
		c.Block = b
		changes = append(changes, c)
	}
	return changes
}

// block is the changes from an older version of a block to c.Block. Where both
// are in pieces, only pieces changed.
func (c Change) block(was *Block) []Change {
	if was.Pieces.Len() == 0 || c.Block.Pieces.Len() < was.Pieces.Len() || was.Kind != c.Block.Kind ||
		was.Info != c.Block.Info || was.Refs != c.Block.Refs || was.Closed != c.Block.Closed {
		c.Kind = BlockChanged
		return []Change{c}
	}
	var changes []Change
	c.Kind = PieceChanged
	was.Pieces.differ(c.Block.Pieces, func(_ int, old, p *Piece) bool {
		if old != p {
			c.Piece = p
			changes = append(changes, c)
		}
		return true
	})
	c.Kind = PieceAdded
	for _, p := range c.Block.Pieces.From(was.Pieces.Len()) {
		c.Piece = p
		changes = append(changes, c)
	}
	return changes
}

// sameHead compares a part but for its text.
func (p *Part) sameHead(q *Part) bool {
	return p.N == q.N && p.Kind == q.Kind && p.ID == q.ID && p.Step == q.Step && p.Seq == q.Seq &&
		p.State == q.State && p.Tool == q.Tool && p.Started.Equal(q.Started) && p.Ended.Equal(q.Ended) &&
		sameItems(p.ProviderMetadata, q.ProviderMetadata) && sameItems(p.Data, q.Data) &&
		p.SourceID == q.SourceID && p.URL == q.URL && p.Title == q.Title &&
		p.MediaType == q.MediaType && p.Filename == q.Filename && p.DataType == q.DataType
}
