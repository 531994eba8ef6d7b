package fold

import (
	"encoding/json"
	"slices"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// planned: there are rows.
func (f *Folder) planned() bool { return len(f.ledger.plans) > 0 || f.partial }

// assign says where a part belongs that begins now.
func (f *Folder) assign(c *cell) {
	f.guess()
	switch {
	case !f.planned():
	case f.current == nil:
		c.answer = true
	default:
		c.stage = f.current
	}
}

// place shows a part at the end of its region.
func (f *Folder) place(c *cell) {
	r := f.regionOf(c)
	r.add(c)
	f.enqueue(r)
}

func (f *Folder) regionOf(c *cell) *region {
	switch {
	case c.answer:
		return &f.answer
	case c.stage != nil:
		return &c.stage.region
	}
	return &f.lead
}

// judge settles a planner's call, or complete, that came to its end.
func (f *Folder) judge(c *cell, e *part.Entry) {
	if c.role == rolePart || c.home != nil {
		return
	}
	f.guessing = true
	if !c.p.Terminal() {
		f.guessLess()
		return
	}
	at := slices.Index(f.calls, c)
	if at < 0 {
		return
	}
	f.calls = slices.Delete(f.calls, at, at+1)
	if c.p.State == part.StateOutputAvailable {
		if c.role == roleComplete && !refused(c.p.Tool.Output) {
			f.accepted = f.accepted.Append(c.p)
			return
		}
		if plan, ok := planning.ParseOutput(c.p.Tool.Name, c.p.Tool.Output); ok && c.role == rolePlanner {
			f.accept(c, plan, e.Time)
			return
		}
	}
	f.card(c)
	f.guessLess()
}

// refused: complete was called while stages were open.
func refused(output json.RawMessage) bool {
	var answer struct {
		Refused bool            `json:"refused"`
		Error   json.RawMessage `json:"error"`
	}
	return json.Unmarshal(output, &answer) == nil && (answer.Refused || len(answer.Error) > 0)
}

// card shows a failed or refused call in the region it began in.
func (f *Folder) card(c *cell) {
	f.run.PartCount++
	r := f.regionOf(c)
	r.insert(c)
	if c.stage != nil && !c.answer && !c.stage.listed {
		f.resink()
		return
	}
	f.enqueue(r)
}

// carry takes the plan that an earlier run left open.
func (f *Folder) carry(e *part.Entry) {
	var plan planning.Plan
	if f.data[dataKey(e.Type, e.ID)] != nil && e.ID != "" {
		return // never replaced
	}
	if json.Unmarshal(e.Data, &plan) != nil {
		f.other(e)
		return
	}
	f.n++
	c := &cell{p: new(Part), epoch: f.epoch, role: rolePlanner}
	c.p.Begin(f.n, e)
	f.cells = append(f.cells, c)
	f.name(c)
	f.accept(c, plan, e.Time)
}

// accept makes a planner's output the authoritative list.
func (f *Folder) accept(c *cell, plan planning.Plan, at time.Time) {
	open := len(f.ledger.plans) > 0 && f.current != nil
	f.accepted = f.accepted.Append(c.p)
	f.settle(&plan, at, c.p.Step)
	if open && f.current == nil {
		f.toAnswer(c.p.Step)
	}
}

// settle makes a plan the authoritative list.
func (f *Folder) settle(plan *planning.Plan, at time.Time, step int) {
	f.ledger.plans = append(f.ledger.plans, settledPlan{plan, step})
	f.partial = false
	f.run.Plan = plan
	f.relist(plan.Stages)
	f.ledger.turn(at, f.current, step)
}

// guess follows the complete items of a first planner call that still streams.
func (f *Folder) guess() {
	if !f.guessing {
		return
	}
	f.guessing = false
	if len(f.ledger.plans) > 0 {
		return
	}
	for _, c := range f.calls {
		if c.role != rolePlanner {
			continue
		}
		text := c.whole
		if !c.open() {
			text = string(c.p.Tool.Input)
		}
		if stages := planning.PartialStages(c.p.Tool.Name, text); len(stages) > 0 {
			f.partial = true
			if !slices.Equal(stages, f.list) {
				f.relist(stages)
			}
			return
		}
	}
	if f.partial {
		f.unplan()
	}
}

// guessLess is guess where the partial list may have become shorter, or may be
// gone: what follows must not depend on whether somebody looked in between.
func (f *Folder) guessLess() {
	if f.partial {
		f.guess()
	}
}

// relist makes rows of these stages, and sends the parts of stages that are not
// among them to the sink.
func (f *Folder) relist(list []planning.Stage) {
	rows := make([]*stage, len(list))
	sink := false
	f.lists++
	for i, s := range list {
		st := f.stage(s.ID)
		if st.list == f.lists { // an id that is there twice
			st = &stage{id: s.ID}
			st.of = st
		}
		st.list = f.lists
		if !st.listed && len(st.cells) > 0 {
			sink = true
			st.set(st.cells)
			f.enqueue(&st.region)
		}
		st.listed, st.index = true, i
		rows[i] = st
	}
	for _, st := range f.rows {
		if st.list != f.lists {
			st.listed = false
			sink = sink || len(st.cells) > 0
		}
	}
	f.relisted = f.relisted || !slices.Equal(rows, f.rows)
	f.list, f.rows, f.anew = list, rows, true
	f.current = nil
	if i := currentOf(list); i >= 0 {
		f.current = rows[i]
	}
	if sink {
		f.resink()
	}
}

func (f *Folder) stage(id string) *stage {
	st := f.stages[id]
	if st == nil {
		st = &stage{id: id}
		st.of = st
		if f.stages == nil {
			f.stages = map[string]*stage{}
		}
		f.stages[id] = st
	}
	return st
}

// resink gathers the parts of the stages that are in no row.
func (f *Folder) resink() {
	var cells []*cell
	for _, st := range f.stages {
		if !st.listed {
			cells = append(cells, st.cells...)
		}
	}
	slices.SortFunc(cells, byN)
	f.sink.set(cells)
	f.enqueue(&f.sink)
}

// toAnswer moves the texts of a step behind its last working call to the
// answer: the step's planner call closed the last open stage.
func (f *Folder) toAnswer(step int) {
	var moved []*cell
	for i := len(f.cells) - 1; i >= 0 && f.cells[i].p.Step >= step; i-- {
		c := f.cells[i]
		if c.p.Step > step {
			continue
		}
		if c.working() {
			break
		}
		if c.p.Kind == part.KindText && c.stage != nil && !c.answer {
			moved = append(moved, c)
		}
	}
	if len(moved) == 0 {
		return
	}
	for _, c := range moved {
		st := c.stage
		c.answer, c.stage = true, nil
		st.filter(func(c *cell) bool { return !c.answer })
		f.enqueue(&st.region)
		if !st.listed {
			f.resink()
		}
	}
	f.answer.insert(moved...)
	f.enqueue(&f.answer)
}

// unplan makes a run without rows of it: everything is lead.
func (f *Folder) unplan() {
	var cells []*cell
	for _, c := range f.cells {
		if c.stage != nil || c.answer {
			c.stage, c.answer = nil, false
			if c.home != nil {
				cells = append(cells, c)
			}
		}
	}
	f.lead.insert(cells...)
	f.answer.set(nil)
	f.sink.set(nil)
	f.enqueue(&f.lead)
	f.enqueue(&f.answer)
	f.enqueue(&f.sink)
	for _, st := range f.stages {
		*st = stage{id: st.id, row: st.row}
		st.of = st
	}
	f.rows, f.list, f.current, f.owner = nil, nil, nil, nil
	f.run.Plan, f.partial = nil, false
	f.anew, f.relisted = true, true
}

func byN(a, b *cell) int { return a.p.N - b.p.N }
