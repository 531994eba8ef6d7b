package views

import (
	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// partsOf are the parts of lead, sink or answer.
func (v RunView) partsOf(r fold.Region) fold.Vec[*fold.Part] {
	switch r {
	case fold.RegionSink:
		return v.Snap.Sink
	case fold.RegionAnswer:
		return v.Snap.Answer
	}
	return v.Snap.Lead
}

// region are the parts of a region that stand in the page.
func (v RunView) region(r fold.Region) []PartView {
	return partsIn(v, nil, v.partsOf(r), v.shown[r])
}

// live: the run goes on or waits.
func (v RunView) live() bool { return !v.Snap.Terminal() }

// planTitle is the plan's own title, else 'Plan'.
func (v RunView) planTitle() string {
	if v.Snap.Plan != nil && v.Snap.Plan.Title != "" {
		return Line(v.Snap.Plan.Title)
	}
	return "Plan"
}

// outcomeIcon and outcomeWord say how the run ended; open stages keep it from a
// bare check.
func (v RunView) outcomeIcon() string { return stateIcon(v.Snap.State, len(v.Snap.Debt)) }
func (v RunView) outcomeWord() string { return stateLabel(v.Snap.State, len(v.Snap.Debt)) }

// outcomeNote is the limit or reason of the end as a sentence.
func (v RunView) outcomeNote() string {
	if v.Snap.Note != "" {
		return Plain(v.Snap.Note)
	}
	if v.Snap.State == part.Finished {
		if w := reasonWord(v.Snap.FinishReason); w != "" {
			return "It ended because " + w + "."
		}
	}
	return ""
}

// silent: the run ended well and left no text to read as its answer.
func (v RunView) silent() bool {
	if v.Snap.State != part.Finished {
		return false
	}
	places := []fold.Vec[*fold.Part]{v.Snap.Answer}
	if !v.Snap.Planned {
		places = append(places, v.Snap.Lead)
	}
	for _, place := range places {
		for _, p := range place.All() {
			if p.Kind == part.KindText && p.Blocks.Len() > 0 {
				return false
			}
		}
	}
	if last, ok := v.Snap.Rows.Last(); ok && len(v.Snap.Debt) > 0 { // the text stands in the open stage
		if p, ok := last.Parts.Last(); ok && p.Kind == part.KindText {
			return false
		}
	}
	return true
}

func (v RunView) took() string { return between(v.Snap.Started, v.Snap.Finished) }

// current is the row that is being worked on, else nil.
func (v RunView) current() *fold.Row {
	var next *fold.Row
	for _, r := range v.Snap.Rows.All() {
		switch {
		case r.Live, r.Status == fold.RowInProgress, r.Status == fold.RowWaiting:
			if !r.Settled() {
				return r
			}
		case r.Status == fold.RowPending && next == nil:
			next = r
		}
	}
	return next
}

// planOpen: the run lives and its plan has a stage that is not over.
func (v RunView) planOpen() bool { return v.live() && v.Snap.Planned && v.current() != nil }
