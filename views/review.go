package views

import (
	"bytes"
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
	// activityLines is how many of the newest activity lines a page shows.
	activityLines = 100
)

// Span says which parts of a row or region stand in the page: those from index
// From up to before To. The zero Span is all.
type Span struct{ From, To int }

// within is the span of n parts.
func (s Span) within(n int) Span {
	if s == (Span{}) {
		return Span{0, n}
	}
	return Span{min(s.From, n), min(max(s.To, s.From), n)}
}

// pageOf is the span of a page, from 1.
func pageOf(page int) Span {
	from := (max(page, 1) - 1) * pageParts
	return Span{from, from + pageParts}
}

// rows are the run's rows with their parts: on the chat page without those of
// settled stages.
func (v RunView) rows() []RowView {
	out := make([]RowView, 0, v.Snap.Rows.Len())
	for _, row := range v.Snap.Rows.All() {
		out = append(out, RowView{Run: v, Row: row, Body: v.Review || v.Static || !row.Settled()})
	}
	return out
}

// review is a review page's run and rows, cut so that the page stays under
// pageNodes: whole where everything fits, else the chosen stage's page first,
// then the first parts of each region and stage.
func (p RunPageView) review() (RunView, []RowView) {
	run := p.Run
	rows := run.rows()
	chosen := -1
	for i := range rows {
		if rows[i].Key() == p.StageKey {
			rows[i].Open, chosen = true, i
		}
	}
	b := budget{left: pageNodes - 200 - 33*len(rows) - 5*min(run.Snap.Activity.Len(), activityLines)}
	if p.PartPage <= 1 && b.holds(run, rows) {
		return run, rows
	}
	if chosen >= 0 {
		rows[chosen].Shown = pageOf(p.PartPage)
		b.take(rows[chosen].Row.Parts, rows[chosen].Shown)
	}
	run.shown = map[fold.Region]Span{}
	for _, r := range []fold.Region{fold.RegionAnswer, fold.RegionLead, fold.RegionSink} {
		s := Span{0, b.fitting(run.partsOf(r), 2)}
		if string(r) == p.StageKey {
			s = pageOf(p.PartPage)
		}
		run.shown[r] = s
		b.take(run.partsOf(r), s)
	}
	for i := range rows {
		rows[i].Run = run
		if i == chosen {
			continue
		}
		n := b.fitting(rows[i].Row.Parts, len(rows)-i)
		rows[i].Body, rows[i].Shown = n > 0, Span{0, n}
		b.take(rows[i].Row.Parts, rows[i].Shown)
	}
	return run, rows
}

// budget is how many elements a page may still get.
type budget struct{ left int }

// holds: all parts of the run fit. It looks no further than the budget reaches.
func (b budget) holds(run RunView, rows []RowView) bool {
	places := []fold.Vec[*fold.Part]{run.Snap.Lead, run.Snap.Sink, run.Snap.Answer}
	for _, r := range rows {
		places = append(places, r.Row.Parts)
	}
	for _, place := range places {
		for _, p := range place.All() {
			if b.left -= partNodes(p); b.left < 0 {
				return false
			}
		}
	}
	return true
}

// fitting is how many of a place's first parts fit into its share of the
// budget, at most a page of them.
func (b budget) fitting(parts fold.Vec[*fold.Part], shares int) int {
	left, n := max(b.left, 0)/max(shares, 1), 0
	for _, p := range parts.All() {
		if left -= partNodes(p); left < 0 || n == pageParts {
			break
		}
		n++
	}
	return n
}

func (b *budget) take(parts fold.Vec[*fold.Part], s Span) {
	s = s.within(parts.Len())
	for i, p := range parts.From(s.From) {
		if i >= s.To {
			break
		}
		b.left -= partNodes(p)
	}
}

// partNodes is about how many elements a part becomes, rather too many than
// too few.
func partNodes(p *fold.Part) int {
	switch p.Kind {
	case part.KindTool:
		names := bytes.Count(p.Tool.Input[:min(len(p.Tool.Input), 2048)], []byte(`":`)) + bytes.Count(p.Tool.Output[:min(len(p.Tool.Output), 2048)], []byte(`":`))
		return 18 + 3*min(names, 2*shownFields) + 3*len(p.Tool.Files)
	case part.KindText, part.KindReasoning:
		n := 9
		for _, b := range p.Blocks.All() {
			n += 2 + len(b.Source())/30
		}
		return n
	case part.KindChild:
		return 24
	}
	return 8
}

// pager is the links to the parts of a place that are not in the page.
type pager struct {
	Label, Earlier, Later, LaterText string
}

// pagesOf is nil where all n parts are in the page. link gives a page's address.
func pagesOf(s Span, n int, link func(page int) string) *pager {
	s = s.within(n)
	if s.To-s.From == n {
		return nil
	}
	p := &pager{Label: fmt.Sprintf("Parts %d to %d of %d", s.From+1, s.To, n)}
	if s.To == s.From {
		p.Label = plural(n, "part")
	}
	if s.From > 0 {
		p.Earlier = link(s.From / pageParts)
	}
	switch {
	case s.To == n:
	case s.To-s.From < pageParts:
		p.Later, p.LaterText = link(1), "Show them"
	default:
		p.Later, p.LaterText = link(s.To/pageParts+1), "Later parts"
	}
	return p
}

func (v RowView) pages() *pager {
	s := v.Shown
	if !v.Body {
		s = Span{0, -1}
	}
	return pagesOf(s, v.Row.Parts.Len(), func(page int) string { return StagePagePath(v.Run.Snap.Start.RunID, v.Key(), page) })
}

func (v RunView) pages(r fold.Region) *pager {
	return pagesOf(v.shown[r], v.partsOf(r).Len(), func(page int) string { return RegionPagePath(v.Snap.Start.RunID, string(r), v.RegionID(r), page) })
}

// newestActivity are the activity lines that a page shows.
func (v RunView) newestActivity() []*fold.Activity {
	var out []*fold.Activity
	for _, a := range v.Snap.Activity.From(v.Snap.Activity.Len() - activityLines) {
		out = append(out, a)
	}
	return out
}
