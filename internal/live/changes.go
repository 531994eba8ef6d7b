package live

import (
	"slices"

	"stagefold/internal/fold"
	"stagefold/views"
)

// changes adds what differs between two snapshots of one run. The elements that
// hold the reader's state (article, row, card) are not patched: their
// attributes follow signals.
func (p *patches) changes(last, now views.RunView) {
	last.Now = now.Now // so that a running clock is no difference
	d := difference{p: p, last: last, now: now}
	changes := fold.Changes(last.Snap, now.Snap)
	for _, c := range changes {
		d.show(c)
	}
	for _, c := range changes {
		if c.Row != nil && (c.Kind == fold.PartAdded || c.Kind == fold.RegionReset) {
			d.factsChanged(c.Row) // they say whether the row has parts
		}
	}
}

type difference struct {
	p         *patches
	last, now views.RunView
	facts     map[string]bool // stages whose facts were compared
}

func (d *difference) show(c fold.Change) {
	switch c.Kind {
	case fold.RunChanged:
		d.run()
	case fold.RowsReset:
		d.rows()
	case fold.RowAdded:
		d.rowAdded(c.Row)
	case fold.RowChanged:
		d.rowChanged(c.Row)
	case fold.RegionReset:
		d.regionReset(c.Region, c.Row)
	case fold.PartAdded:
		v := d.part(c)
		d.p.elements(appends, d.place(c), views.PartItem(v))
		d.p.set(v.Signals())
	case fold.PartChanged:
		d.partChanged(d.part(c))
	case fold.BlockAdded:
		d.p.elements(appends, "#"+d.part(c).BodyID(), views.BlockItem(d.block(c)))
	case fold.BlockChanged:
		d.p.elements(outer, "", views.BlockItem(d.block(c)))
	case fold.PieceAdded:
		d.piece(c, appends, "#"+d.block(c).PiecesID())
	case fold.PieceChanged:
		d.piece(c, outer, "")
	}
}

func (d *difference) row(r *fold.Row) views.RowView {
	return views.RowView{Run: d.now, Row: r, Body: !r.Settled() || r.Live}
}

func (d *difference) part(c fold.Change) views.PartView {
	return views.PartView{Run: d.now, Row: c.Row, Part: c.Part}
}

func (d *difference) block(c fold.Change) views.BlockView {
	return views.BlockView{Part: d.part(c), Block: c.Block}
}

// place is the element that holds the parts of a region.
func (d *difference) place(c fold.Change) string {
	if c.Row != nil {
		return "#" + d.row(c.Row).BodyID()
	}
	return "#" + d.now.RegionID(c.Region)
}

// run patches what the run says beside its rows and parts.
func (d *difference) run() {
	d.p.changed(views.PlanHead(d.last), views.PlanHead(d.now))
	d.p.changed(views.RunChildren(d.last), views.RunChildren(d.now))
	d.p.changed(views.RunDebt(d.last), views.RunDebt(d.now))
	d.p.changed(views.RunOutcome(d.last), views.RunOutcome(d.now))
	if d.last.Snap.State != d.now.Snap.State || d.last.Snap.FinishReason != d.now.Snap.FinishReason {
		d.p.set(d.now.Signals())
	}
}

// rowAdded puts the row behind the one before it.
func (d *difference) rowAdded(r *fold.Row) {
	v := d.row(r)
	d.p.set(v.Signals())
	if r.Index <= 1 {
		d.p.elements(prepend, "#"+d.now.RowsID(), views.RowItem(v))
		return
	}
	before := d.row(d.now.Snap.Rows.At(r.Index - 2))
	d.p.elements(after, "#"+before.ID(), views.RowItem(v))
}

// rowChanged patches the row's head and facts beside its parts.
func (d *difference) rowChanged(r *fold.Row) {
	v := d.row(r)
	old := rowOf(d.last.Snap, r)
	if old == nil {
		d.p.elements(outer, "", views.RowHead(v), views.RowFacts(v))
		d.p.set(v.Signals())
		return
	}
	was := views.RowView{Run: d.last, Row: old}
	d.p.changed(views.RowHead(was), views.RowHead(v))
	d.factsChanged(r)
	if old.Status != r.Status || old.Unverified != r.Unverified || old.ClosedByRunEnd != r.ClosedByRunEnd {
		d.p.set(v.Signals())
	}
}

// factsChanged patches the row's facts where they differ.
func (d *difference) factsChanged(r *fold.Row) {
	old := rowOf(d.last.Snap, r)
	if old == nil || d.facts[r.StageID] {
		return
	}
	if d.facts == nil {
		d.facts = map[string]bool{}
	}
	d.facts[r.StageID] = true
	d.p.changed(views.RowFacts(views.RowView{Run: d.last, Row: old}), views.RowFacts(d.row(r)))
}

func (d *difference) partChanged(v views.PartView) {
	if v.PatchesHead() {
		d.p.elements(outer, "", views.PartHead(v))
	}
	if v.PatchesBody() {
		d.p.elements(outer, "", views.PartBody(v))
	}
	d.p.set(v.Signals())
}

// piece patches a piece of a long block. Rows of a table are parsed alone.
func (d *difference) piece(c fold.Change, mode, selector string) {
	item := views.PieceItem(views.PieceView{Block: d.block(c), Piece: c.Piece})
	if c.Block.Kind == fold.BlockTable {
		d.p.single(mode, selector, item)
		return
	}
	d.p.elements(mode, selector, item)
}

// regionReset shows the parts of a region anew.
func (d *difference) regionReset(region fold.Region, r *fold.Row) {
	if r == nil {
		d.p.elements(inner, "#"+d.now.RegionID(region), views.RegionParts(d.now, region))
		d.tools(d.regionParts(region), nil)
		return
	}
	v := d.row(r)
	v.Body = true
	d.p.elements(inner, "#"+v.BodyID(), views.RowBody(v))
	d.tools(r.Parts, r)
}

func (d *difference) regionParts(region fold.Region) fold.Vec[*fold.Part] {
	switch region {
	case fold.RegionSink:
		return d.now.Snap.Sink
	case fold.RegionAnswer:
		return d.now.Snap.Answer
	}
	return d.now.Snap.Lead
}

// tools sets the signals of the tool cards that were rendered anew, which an
// older signal would overrule.
func (d *difference) tools(parts fold.Vec[*fold.Part], r *fold.Row) {
	for _, p := range parts.All() {
		if p.Tool != nil {
			d.p.set(views.PartView{Run: d.now, Row: r, Part: p}.Signals())
		}
	}
}

// rows shows a list whose rows went or moved. Rows that keep their order stay
// with what the reader has opened in them; the others go and come back in their
// new place.
func (d *difference) rows() {
	olds, news := d.last.Snap.Rows.Slice(), d.now.Snap.Rows.Slice()
	stay := staying(olds, news)
	var gone []string
	for _, r := range olds {
		if !stay[r.StageID] {
			gone = append(gone, "#"+views.RowView{Run: d.last, Row: r}.ID())
		}
	}
	for _, id := range gone {
		d.p.elements(remove, id)
	}
	for _, r := range news {
		if !stay[r.StageID] {
			d.rowAdded(r)
			d.tools(r.Parts, r)
			continue
		}
		old := rowOf(d.last.Snap, r)
		if old == r {
			continue
		}
		d.rowChanged(r)
		if !sameParts(old.Parts, r.Parts) {
			d.regionReset(fold.RegionRows, r)
			d.factsChanged(r)
		}
	}
}

// staying are the stages whose rows need not move: the longest sequence of rows
// that both lists have in the same order.
func staying(olds, news []*fold.Row) map[string]bool {
	place := map[string]int{}
	for i, r := range olds {
		place[r.StageID] = i
	}
	var at []int // the old places of the rows that both have, in the new order
	var ids []string
	for _, r := range news {
		if i, ok := place[r.StageID]; ok {
			at, ids = append(at, i), append(ids, r.StageID)
		}
	}
	stay := map[string]bool{}
	for _, i := range longestRise(at) {
		stay[ids[i]] = true
	}
	return stay
}

// longestRise are the indices of a longest rising subsequence of list.
func longestRise(list []int) []int {
	var ends []int // ends[k]: index of the smallest end of a rise of length k+1
	before := make([]int, len(list))
	for i, n := range list {
		k, _ := slices.BinarySearchFunc(ends, n, func(e, n int) int { return list[e] - n })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	var rise []int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			rise = append(rise, i)
		}
	}
	slices.Reverse(rise)
	return rise
}

func sameParts(a, b fold.Vec[*fold.Part]) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if a.At(i) != b.At(i) {
			return false
		}
	}
	return true
}
