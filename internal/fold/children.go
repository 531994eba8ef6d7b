package fold

import (
	"reflect"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// child is a child run while its parent is folded.
type child struct {
	now  *Child // as the next snapshot holds it
	step int
}

// child takes an entry about a child run. A child has a number among the parts,
// but stands beside its stage's parts, not among them.
func (f *Folder) child(e *part.Entry) {
	data := part.ChildOf(e)
	if data.RunID == "" {
		return
	}
	for _, c := range f.children {
		if c.now.RunID != data.RunID {
			continue
		}
		if !c.now.State.Terminal() && !reflect.DeepEqual(c.now.ChildData, data) {
			f.anew = true
			now := *c.now
			now.ChildData = data
			if data.State.Terminal() {
				now.Ended = e.Time
			}
			c.now = &now
		}
		return
	}
	f.n++
	f.anew = true
	c := &child{now: &Child{ChildData: data, Seq: e.Seq, Started: e.Time}, step: e.Step}
	if data.State.Terminal() {
		c.now.Ended = e.Time
	}
	f.children = append(f.children, c)
}

// settle ends a child that still lives when its parent ends.
func (c *child) settle(state part.State, at time.Time) {
	if c.now.State.Terminal() {
		return
	}
	now := *c.now
	now.State, now.Ended = part.Stopped, at
	if state == part.Interrupted {
		now.State = part.Interrupted
	}
	c.now = &now
}

// attach gives each child to its stage: by id, else by its label, trimmed and
// whatever its case; the others are attached to none.
func (f *Folder) attach() {
	of := map[*stage][]*Child{}
	var unattached []*Child
	for _, c := range f.children {
		i := planning.JoinChild(f.list, c.now.StageID, c.now.StageLabel)
		if i < 0 {
			unattached = append(unattached, c.now)
			continue
		}
		of[f.rows[i]] = append(of[f.rows[i]], c.now)
	}
	for _, st := range f.rows {
		if !sameChildren(st.children, of[st]) {
			st.children = of[st]
		}
	}
	if !sameChildren(f.run.Unattached, unattached) {
		f.run.Unattached = unattached
	}
}

func sameChildren(a, b []*Child) bool {
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
