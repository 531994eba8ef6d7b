package fold

import (
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Folder folds a log entry by entry. It is used by one goroutine; the
// snapshots it gives are immutable and free for all.
type Folder struct {
	snap  *Snapshot // the newest one
	run   Snapshot  // the run's own fields as they stand; Snapshot adds regions and rows
	stale bool      // snap is not up to date
	epoch int       // number of snapshots made: what was made since belongs to no snapshot

	n     int // parts begun
	cells []*cell
	slab  slab
	tools map[string]*cell // by call id
	texts []*cell          // open texts and reasonings
	data  map[string]*cell // data parts with an id

	lead, sink, answer region
	queue              []*region // to publish

	ledger   ledger
	calls    []*cell // planner and complete calls that did not come to an end yet
	accepted Vec[*Part]
	told     []*part.Entry // data-plan entries that are not read yet
	lines    []*Activity   // of activity, not shown yet
	partial  bool          // the list is what a first call that still streams holds so far
	guessing bool          // that call grew

	stages   map[string]*stage
	list     []planning.Stage // the authoritative list, or the partial one
	rows     []*stage         // the stages of the list
	lists    int              // how many lists there were
	current  *stage           // the stage that new parts join; nil without one
	anew     bool             // all rows are to be made anew
	relisted bool             // the list of rows is another one
	owner    *stage           // the stage that was current when the step began
	children []*child
}

// New is a Folder of an empty log.
func New() *Folder {
	f := &Folder{tools: map[string]*cell{}, stale: true}
	f.run.State = part.Running
	return f
}

// Fold folds a whole log at once.
func Fold(entries []*part.Entry) *Snapshot {
	f := New()
	f.slab.size = slabSize(len(entries))
	f.cells = make([]*cell, 0, len(entries)/3)
	f.tools = make(map[string]*cell, len(entries)/5)
	for _, e := range entries {
		f.Apply(e)
	}
	return f.Snapshot()
}

// Apply folds one entry; its cost is that of what changed. Entries after the
// finish are late and change nothing, nor does an entry that is there already.
func (f *Folder) Apply(e *part.Entry) {
	if e.Late || f.run.Terminal() || e.Seq != 0 && e.Seq <= f.run.Seq {
		return
	}
	f.stale = true
	f.run.Seq = max(f.run.Seq, e.Seq)
	f.apply(e)
}

func (f *Folder) apply(e *part.Entry) {
	switch e.Type {
	case part.TextDelta, part.ReasoningDelta, part.TextEnd, part.ReasoningEnd:
		f.goOn(f.openText(e), e)
	case part.TextStart, part.ReasoningStart:
		if f.openText(e) == nil {
			if c := f.begin(e); c != nil {
				f.texts = append(f.texts, c)
			}
		}
	case part.ToolInputStart, part.ToolInputAvailable, part.ToolInputError:
		c := f.tools[e.ToolCallID]
		if c != nil && !e.Again(&c.p.Part) {
			f.goOn(c, e)
		} else if c := f.begin(e); c != nil {
			f.tools[e.ToolCallID] = c
		}
	case part.ToolInputDelta, part.ToolStart, part.ToolOutput, part.ToolOutputError, part.ToolOutputDenied,
		part.ToolApprovalRequest, part.ToolApprovalAnswer:
		f.goOn(f.call(e), e)
	case part.StartStep:
		f.run.Step = max(f.run.Step, e.Step)
		f.guess()
		f.owner = f.current
	case part.FinishStep:
		f.finishStep(e)
	case part.StepReset:
		f.reset(e.Step)
	case part.Child:
		f.child(e)
	case part.DataPlanCarried:
		f.carry(e)
	default:
		if !f.note(e) {
			f.other(e)
		}
	}
}

// begin begins a part in its region.
func (f *Folder) begin(e *part.Entry) *cell {
	c := f.slab.cell()
	if e.ToolName != "" {
		c.p.Tool = f.slab.tool()
	}
	if !c.p.Begin(f.n+1, e) {
		return nil
	}
	if c.p.Kind != part.KindTool {
		c.p.Tool = nil
	}
	f.n++
	head := &c.p.Part
	c.epoch = f.epoch
	f.cells = append(f.cells, c)
	f.assign(c)
	if head.Kind == part.KindTool {
		switch {
		case planning.IsPlannerTool(head.Tool.Name):
			c.role = rolePlanner
		case head.Tool.Name == completeTool && f.planned():
			c.role = roleComplete
		}
	}
	if c.role == rolePart {
		f.run.PartCount++
		f.place(c)
		return c
	}
	f.calls = append(f.calls, c)
	f.guessing = true
	f.judge(c, e)
	return c
}

// goOn gives a part the entry that concerns it.
func (f *Folder) goOn(c *cell, e *part.Entry) {
	if c == nil {
		return
	}
	open := c.open()
	if delta := e.Delta + e.InputTextDelta; delta != "" && open {
		c.write(delta)
		f.touch(c)
		f.guessing = f.guessing || c.role == rolePlanner
	}
	files := c.files()
	if c.epoch == f.epoch { // no snapshot holds the part
		if !c.p.Take(e) {
			return
		}
	} else {
		next, ok := part.Next(c.p.Part, e)
		if !ok {
			return
		}
		c.own(f.epoch).Part = next
	}
	f.touch(c)
	if open && !c.open() {
		c.closeText(f.slab.lazy(c.p.Tool == nil))
	}
	if c.p.State == part.StateDone {
		f.dropText(c)
	}
	if c.files() > files && c.stage != nil {
		c.stage.addFiles(c.p.Tool.Files[files:])
	}
	f.judge(c, e)
}

func (c *cell) files() int {
	if c.p.Tool == nil {
		return 0
	}
	return len(c.p.Tool.Files)
}

// openText is the open text or reasoning that an entry names.
func (f *Folder) openText(e *part.Entry) *cell {
	kind := part.KindText
	switch e.Type {
	case part.ReasoningStart, part.ReasoningDelta, part.ReasoningEnd:
		kind = part.KindReasoning
	}
	for i := len(f.texts) - 1; i >= 0; i-- {
		if c := f.texts[i]; c.p.ID == e.ID && c.p.Kind == kind {
			return c
		}
	}
	return nil
}

func (f *Folder) dropText(c *cell) {
	for i, t := range f.texts {
		if t == c {
			f.texts = append(f.texts[:i], f.texts[i+1:]...)
			return
		}
	}
}

// call is the tool call that an entry names, by its approval where it has no
// call id.
func (f *Folder) call(e *part.Entry) *cell {
	if e.ToolCallID == "" && e.ApprovalID != "" {
		for i := len(f.cells) - 1; i >= 0; i-- {
			if t := f.cells[i].p.Tool; t != nil && t.ApprovalID == e.ApprovalID {
				return f.cells[i]
			}
		}
	}
	return f.tools[e.ToolCallID]
}

// other begins or replaces a source, a file or a data part.
func (f *Folder) other(e *part.Entry) {
	if c := f.data[dataKey(e.Type, e.ID)]; c != nil && e.ID != "" {
		f.goOn(c, e)
		return
	}
	if c := f.begin(e); c != nil && c.p.Kind == part.KindData {
		f.name(c)
	}
}

// name makes a data part known by its id.
func (f *Folder) name(c *cell) {
	if c.p.ID == "" {
		return
	}
	if f.data == nil {
		f.data = map[string]*cell{}
	}
	f.data[dataKey(c.p.DataType, c.p.ID)] = c
}

func dataKey(t part.Type, id string) string { return string(t) + " " + id }

// touch notes that a cell's part has to be shown anew.
func (f *Folder) touch(c *cell) {
	if c.home == nil || c.dirty {
		return
	}
	c.dirty = true
	if c.index < c.home.shown {
		c.home.dirty = append(c.home.dirty, c)
	}
	f.enqueue(c.home)
}

func (f *Folder) enqueue(r *region) {
	if !r.queued {
		r.queued = true
		f.queue = append(f.queue, r)
	}
}
