package rehearsal

import (
	"encoding/json"

	"stagefold/internal/planning"
)

// item is one entry of a planner call, in the words of any planner.
type item struct {
	ID          string `json:"id,omitempty"`
	Content     string `json:"content,omitempty"`     // metronome, classic
	Deliverable string `json:"deliverable,omitempty"` // metronome
	Text        string `json:"text,omitempty"`        // checklist
	Label       string `json:"label,omitempty"`       // steps
	Status      string `json:"status,omitempty"`      // all but metronome
}

func (it item) text() string { return it.Content + it.Text + it.Label }

func (it item) writtenOff() bool {
	s := planning.Status(it.Status)
	return s.IsTerminal() && !s.IsDone()
}

// itemsOf reads the list of a planner call, whichever planner's it is.
func itemsOf(input json.RawMessage) []item {
	var call struct {
		Stages, Todos, Steps []item
	}
	if json.Unmarshal(input, &call) != nil {
		return nil
	}
	return append(append(call.Stages, call.Todos...), call.Steps...)
}

// listing is the stages to send where closed of them are done: those to do and,
// once the report could not be written, those that were written off.
func (p *script) listing(closed int) []stage {
	if !p.noReport() || !p.scene.tools["write_file"] {
		return p.stages
	}
	last := len(p.stages) - 1
	write, check := p.writing(), p.checking()
	write.dropped, check.dropped = true, true
	return append(append([]stage{}, p.stages[:last]...), write, check, p.stages[last])
}

// planOrder is the call that says: closed of the stages are done, the next is
// being worked on.
func planOrder(mode planning.Mode, topic string, stages []stage, closed int) order {
	switch mode {
	case planning.Metronome:
		return order{"plan", object(struct {
			Stages []item `json:"stages"`
		}{items(stages, closed, metronomeItem)})}
	case planning.Classic:
		return order{"write_todos", object(struct {
			Todos []item `json:"todos"`
			Focus string `json:"focus,omitempty"`
		}{items(stages, closed, classicItem), focus(stages, closed)})}
	case planning.Checklist:
		return order{"update_plan", object(struct {
			Steps []item `json:"steps"`
		}{items(stages, closed, checklistItem)})}
	}
	return order{"plan", object(struct {
		Title string `json:"title"`
		Steps []item `json:"steps"`
	}{topic, items(stages, closed, stepsItem)})}
}

// position is where a stage stands.
type position int

const (
	after position = iota // not begun
	now
	over
)

func items(stages []stage, closed int, as func(stage, position) (item, bool)) []item {
	list := []item{}
	n := 0
	for _, st := range stages {
		at := after
		if !st.dropped {
			if n < closed {
				at = over
			} else if n == closed {
				at = now
			}
			n++
		}
		if it, keep := as(st, at); keep {
			list = append(list, it)
		}
	}
	return list
}

func metronomeItem(st stage, _ position) (item, bool) {
	return item{ID: st.id, Content: st.content, Deliverable: st.deliverable}, !st.dropped
}

func classicItem(st stage, at position) (item, bool) {
	status := [...]planning.Status{planning.Pending, planning.InProgress, planning.Done}[at]
	return item{ID: st.id, Content: st.content, Status: string(status)}, !st.dropped
}

func checklistItem(st stage, at position) (item, bool) {
	status := [...]planning.Status{planning.Pending, planning.InProgress, planning.Completed}[at]
	if st.dropped {
		status = planning.Cancelled
	}
	return item{Text: st.content, Status: string(status)}, true
}

func stepsItem(st stage, at position) (item, bool) {
	status := [...]planning.Status{planning.Pending, planning.Running, planning.Done}[at]
	if st.dropped {
		status = planning.Skipped
	}
	return item{ID: st.id, Label: st.content, Status: string(status)}, true
}

// focus is the id of the stage that is being worked on.
func focus(stages []stage, closed int) string {
	if closed < len(stages) {
		return stages[closed].id
	}
	return ""
}
