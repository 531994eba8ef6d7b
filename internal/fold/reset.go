package fold

import "slices"

// reset takes the parts and planner calls of a step back. Numbers of parts are
// not given twice.
func (f *Folder) reset(step int) {
	gone := func(c *cell) bool { return c.p.Step == step }
	f.cells = slices.DeleteFunc(f.cells, func(c *cell) bool {
		if !gone(c) {
			return false
		}
		if c.home != nil {
			f.run.PartCount--
		}
		f.forget(c)
		return true
	})
	f.texts = slices.DeleteFunc(f.texts, gone)
	f.calls = slices.DeleteFunc(f.calls, gone)
	f.guessing = true
	var accepted []*Part
	for _, p := range f.accepted.All() {
		if p.Step != step {
			accepted = append(accepted, p)
		}
	}
	f.accepted = f.accepted.prefix(0).AppendAll(accepted)
	keep := func(c *cell) bool { return !gone(c) }
	for _, r := range []*region{&f.lead, &f.answer} {
		if r.filter(keep) {
			f.enqueue(r)
		}
	}
	for _, st := range f.stages {
		if st.filter(keep) {
			st.files = nil
			for _, c := range st.cells {
				if c.p.Tool != nil {
					st.addFiles(c.p.Tool.Files)
				}
			}
			f.enqueue(&st.region)
		}
	}
	f.resink()
	f.children = slices.DeleteFunc(f.children, func(c *child) bool { return c.step == step })
	f.anew = true
	f.guessLess()
	if !f.ledger.back(step) {
		return
	}
	n := len(f.ledger.plans)
	if n == 0 {
		f.unplan()
		return
	}
	f.run.Plan = f.ledger.plans[n-1].plan
	f.relist(f.run.Plan.Stages)
}

// forget takes a cell's name back.
func (f *Folder) forget(c *cell) {
	if c.p.Tool != nil && f.tools[c.p.Tool.CallID] == c {
		delete(f.tools, c.p.Tool.CallID)
	}
	if key := dataKey(c.p.DataType, c.p.ID); f.data[key] == c {
		delete(f.data, key)
	}
}
