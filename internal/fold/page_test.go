package fold

import (
	"fmt"
	"slices"
	"strings"
)

// page is a simple model of what a reader sees: every element by its place,
// changed only by what a Change carries and by whole regions of the snapshot.
type page struct {
	run    string
	lead   []*pagePart
	rows   []*pageRow
	sink   []*pagePart
	answer []*pagePart
}

type pageRow struct {
	head  string
	id    string
	parts []*pagePart
}

type pagePart struct {
	n      int
	head   string
	blocks []*pageBlock
}

type pageBlock struct {
	head   string
	pieces []string
}

func runHead(s *Snapshot) string {
	c := *s
	c.Seq, c.PartCount = 0, 0
	c.Lead, c.Sink, c.Answer, c.Calls = Vec[*Part]{}, Vec[*Part]{}, Vec[*Part]{}, Vec[*Part]{}
	c.Rows, c.Activity, c.Plan, c.PlanData, c.Unattached, c.Error = Vec[*Row]{}, Vec[*Activity]{}, nil, nil, nil, nil
	text := fmt.Sprintf("%+v calls=%d", c, s.Calls.Len())
	for _, a := range s.Activity.All() {
		text += fmt.Sprintf(" %+v", *a)
	}
	for _, c := range s.Unattached {
		text += fmt.Sprintf(" %+v", *c)
	}
	if s.Plan != nil {
		text += fmt.Sprintf(" plan %+v", *s.Plan)
	}
	if s.PlanData != nil {
		text += fmt.Sprintf(" data %+v", *s.PlanData)
	}
	if s.Error != nil {
		text += fmt.Sprintf(" error %+v", *s.Error)
	}
	return text
}

func rowHead(r *Row) string {
	c := *r
	c.Parts, c.Children = Vec[*Part]{}, nil
	text := fmt.Sprintf("%+v", c)
	for _, child := range r.Children {
		text += fmt.Sprintf(" %+v", *child)
	}
	return text
}

func partHead(p *Part) string {
	c := p.Part
	c.Tool = nil
	text := fmt.Sprintf("%+v", c)
	if p.Tool != nil {
		tool := *p.Tool
		tool.Approved = nil
		text += fmt.Sprintf(" %+v", tool)
		if p.Tool.Approved != nil {
			text += fmt.Sprint(*p.Tool.Approved)
		}
	}
	return text
}

func pageOfPart(p *Part) *pagePart {
	pp := &pagePart{n: p.N, head: partHead(p)}
	for _, b := range p.Blocks.All() {
		pp.blocks = append(pp.blocks, pageOfBlock(b))
	}
	return pp
}

func pageOfBlock(b *Block) *pageBlock {
	pb := &pageBlock{head: fmt.Sprintf("%d %s %v %q %q %q", b.N, b.Kind, b.Closed, b.Info, b.Text, b.Refs)}
	for _, p := range b.Pieces.All() {
		pb.pieces = append(pb.pieces, fmt.Sprintf("%+v", *p))
	}
	return pb
}

func pageOfRow(r *Row) *pageRow {
	return &pageRow{head: rowHead(r), id: r.StageID, parts: pageOfParts(r.Parts)}
}

func pageOfParts(v Vec[*Part]) []*pagePart {
	var parts []*pagePart
	for _, p := range v.All() {
		parts = append(parts, pageOfPart(p))
	}
	return parts
}

func pageOfRows(v Vec[*Row]) []*pageRow {
	var rows []*pageRow
	for _, r := range v.All() {
		rows = append(rows, pageOfRow(r))
	}
	return rows
}

func pageOf(s *Snapshot) *page {
	return &page{
		run: runHead(s), lead: pageOfParts(s.Lead), rows: pageOfRows(s.Rows),
		sink: pageOfParts(s.Sink), answer: pageOfParts(s.Answer),
	}
}

// show shows one change, the way a page does: a changed element is found by
// its place and its number and replaced, an added one is appended.
func (p *page) show(c Change, now *Snapshot) error {
	switch c.Kind {
	case RunChanged:
		p.run = runHead(now)
	case RowsReset:
		p.rows = pageOfRows(now.Rows)
	case RowAdded:
		if c.Row.Index != len(p.rows)+1 {
			return fmt.Errorf("row %s added at %d of %d", c.Row.StageID, c.Row.Index, len(p.rows))
		}
		p.rows = append(p.rows, pageOfRow(c.Row))
	case RowChanged:
		row := p.rows[c.Row.Index-1]
		if row.id != c.Row.StageID {
			return fmt.Errorf("row %s changed where %s stands", c.Row.StageID, row.id)
		}
		row.head = rowHead(c.Row)
	case RegionReset:
		parts, of := p.region(c, now)
		*parts = pageOfParts(of)
	default:
		parts, _ := p.region(c, now)
		if c.Kind == PartAdded {
			if p.holds(c.Part.N) {
				return fmt.Errorf("part %d stands there already", c.Part.N)
			}
			*parts = append(*parts, pageOfPart(c.Part))
			return nil
		}
		for _, pp := range *parts {
			if pp.n == c.Part.N {
				return pp.show(c)
			}
		}
		return fmt.Errorf("no part %d in %s", c.Part.N, c.Region)
	}
	return nil
}

// region is the region a change is in, on the page and in the snapshot.
func (p *page) region(c Change, now *Snapshot) (*[]*pagePart, Vec[*Part]) {
	switch c.Region {
	case RegionLead:
		return &p.lead, now.Lead
	case RegionSink:
		return &p.sink, now.Sink
	case RegionAnswer:
		return &p.answer, now.Answer
	}
	return &p.rows[c.Row.Index-1].parts, c.Row.Parts
}

// holds: the part stands somewhere on the page.
func (p *page) holds(n int) bool {
	for _, parts := range p.all() {
		if slices.ContainsFunc(parts, func(pp *pagePart) bool { return pp.n == n }) {
			return true
		}
	}
	return false
}

func (p *page) all() [][]*pagePart {
	all := [][]*pagePart{p.lead}
	for _, r := range p.rows {
		all = append(all, r.parts)
	}
	return append(all, p.sink, p.answer)
}

func (pp *pagePart) show(c Change) error {
	switch c.Kind {
	case PartChanged:
		pp.head = partHead(c.Part)
		return nil
	case BlockAdded:
		if c.Block.N != len(pp.blocks) {
			return fmt.Errorf("block %d added at %d", c.Block.N, len(pp.blocks))
		}
		pp.blocks = append(pp.blocks, pageOfBlock(c.Block))
		return nil
	}
	if c.Block.N >= len(pp.blocks) {
		return fmt.Errorf("no block %d", c.Block.N)
	}
	b := pp.blocks[c.Block.N]
	switch c.Kind {
	case BlockChanged:
		pp.blocks[c.Block.N] = pageOfBlock(c.Block)
	case PieceChanged:
		b.pieces[c.Piece.N] = fmt.Sprintf("%+v", *c.Piece)
	case PieceAdded:
		if c.Piece.N != len(b.pieces) {
			return fmt.Errorf("piece %d added at %d", c.Piece.N, len(b.pieces))
		}
		b.pieces = append(b.pieces, fmt.Sprintf("%+v", *c.Piece))
	}
	return nil
}

// String is the whole page, to compare.
func (p *page) String() string {
	var s strings.Builder
	fmt.Fprintln(&s, p.run)
	region := func(name string, parts []*pagePart) {
		fmt.Fprintln(&s, name)
		for _, pp := range parts {
			fmt.Fprintln(&s, "  part", pp.head)
			for _, b := range pp.blocks {
				fmt.Fprintf(&s, "    block %s %q\n", b.head, b.pieces)
			}
		}
	}
	region("lead", p.lead)
	for _, r := range p.rows {
		region("row "+r.head, r.parts)
	}
	region("sink", p.sink)
	region("answer", p.answer)
	return s.String()
}
