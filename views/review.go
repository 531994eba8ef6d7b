package views

import (
	"fmt"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

const (
	// pageNodes bounds a review page, in elements.
	pageNodes = 3000
	// pageParts is how many parts of a stage a page shows once a run is too big
	// to stand in one.
	pageParts = 50
)

// rows are the run's rows as they stand in the page: whole as long as the page
// stays under pageNodes, else the first parts of each stage.
func (v RunView) rows() []RowView {
	out := make([]RowView, 0, v.Snap.Rows.Len())
	for _, row := range v.Snap.Rows.All() {
		out = append(out, RowView{Run: v, Row: row, Body: v.Review || v.Static || !row.Settled()})
	}
	return out
}

// reviewRows are rows with the stage of ?stage= open at its page.
func (p RunPageView) reviewRows() []RowView {
	rows := p.Run.rows()
	left := pageNodes - p.fixedNodes()
	whole := left
	for _, r := range rows {
		whole -= rowNodes(r.Row, 0, r.Row.Parts.Len())
	}
	chosen := -1
	for i := range rows {
		if rows[i].Key() == p.StageKey {
			rows[i].Open, chosen = true, i
		}
	}
	if whole >= 0 && p.PartPage <= 1 {
		return rows
	}
	if chosen >= 0 { // the chosen stage comes first in the budget
		r := &rows[chosen]
		r.Limit = pageParts
		r.First = min(max(p.PartPage-1, 0)*pageParts, r.Row.Parts.Len())
		left -= rowNodes(r.Row, r.First, r.First+r.Limit)
	}
	for i := range rows {
		if i == chosen {
			continue
		}
		share := max(left, 0) / max(len(rows)-i, 1)
		rows[i].Limit = fitting(rows[i].Row, share)
		left -= rowNodes(rows[i].Row, 0, rows[i].Limit)
		rows[i].Body = rows[i].Limit > 0
		rows[i].Limit = max(rows[i].Limit, 1)
		if !rows[i].Body {
			rows[i].Limit = 0
		}
	}
	return rows
}

// fitting is how many of a row's first parts stay under so many elements.
func fitting(r *fold.Row, nodes int) int {
	n := 0
	for _, p := range r.Parts.All() {
		if nodes -= partNodes(p); nodes < 0 || n == pageParts {
			break
		}
		n++
	}
	return n
}

func (p RunPageView) fixedNodes() int {
	n := 260 + 34*p.Run.Snap.Rows.Len() + 5*p.Run.Snap.Activity.Len()
	for _, region := range []fold.Vec[*fold.Part]{p.Run.Snap.Lead, p.Run.Snap.Sink, p.Run.Snap.Answer} {
		for _, part := range region.All() {
			n += partNodes(part)
		}
	}
	return n
}

func rowNodes(r *fold.Row, from, to int) int {
	n := 0
	for i, p := range r.Parts.From(from) {
		if i >= to {
			break
		}
		n += partNodes(p)
	}
	return n
}

// partNodes is about how many elements a part becomes.
func partNodes(p *fold.Part) int {
	switch p.Kind {
	case part.KindTool, part.KindChild:
		return 20
	case part.KindText, part.KindReasoning:
		n := 8
		for _, b := range p.Blocks.All() {
			n += 2 + len(b.Text)/40
		}
		return n
	}
	return 6
}

// pages is how many pages the row's parts fill.
func (v RowView) pages() int {
	if v.Limit == 0 {
		return 1
	}
	return (v.Row.Parts.Len() + pageParts - 1) / pageParts
}

func (v RowView) page() int { return v.First/pageParts + 1 }

// nextPage: a stage that shows fewer parts than a page holds begins its own page.
func (v RowView) nextPage() int {
	if v.Limit < pageParts {
		return 1
	}
	return v.page() + 1
}

func (v RowView) pageLabel() string {
	return fmt.Sprintf("Parts %d to %d of %d", v.First+1, min(v.First+v.Limit, v.Row.Parts.Len()), v.Row.Parts.Len())
}

func (v RowView) nextLabel() string {
	if v.Limit < pageParts {
		return "Show this stage"
	}
	return "Later parts"
}
