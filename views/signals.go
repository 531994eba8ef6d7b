package views

import (
	"github.com/a-h/templ"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// The elements that hold a reader's state (a run, a row, a tool card) are never
// patched. Their attributes follow signals instead:
//
//	run:  {KEY: {state, reason}}                    KEY from RunSignal
//	row:  {KEY: {status, unverified, closed}}       KEY from RowSignal
//	tool: {KEY: {state}}                            KEY from ToolSignal
//
// The signals hold words of this program only, never text of a user or model.

// Signals are the page's signals that one element follows, ready to be sent.
type Signals map[string]map[string]any

// RunState is what a run's article follows.
type RunState struct {
	State  part.State        `json:"state"`
	Reason part.FinishReason `json:"reason"`
}

// RowState is what a row follows.
type RowState struct {
	Status     fold.Status `json:"status"`
	Unverified bool        `json:"unverified"`
	Closed     bool        `json:"closed"`
}

// ToolState is what a tool card follows.
type ToolState struct {
	State part.PartState `json:"state"`
}

// Signals of the run's article.
func (v RunView) Signals() Signals {
	return Signals{"run": {RunSignal(v.Snap.Start.RunID): RunState{v.Snap.State, v.Snap.FinishReason}}}
}

// Signals of the row.
func (v RowView) Signals() Signals {
	return Signals{"row": {v.signal(): RowState{v.Row.Status, v.Row.Unverified, v.Row.ClosedByRunEnd}}}
}

// Signals of the part; nil where it is not a tool.
func (v PartView) Signals() Signals {
	if v.Part.Tool == nil {
		return nil
	}
	return Signals{"tool": {v.signal(): ToolState{v.Part.State}}}
}

func (v RowView) signal() string  { return RowSignal(v.Run.Snap.Start.RunID, v.Row.StageID) }
func (v PartView) signal() string { return ToolSignal(v.Run.Snap.Start.RunID, &v.Part.Part) }

// follows makes an attribute follow a signal; until the signal is there it
// stays as the server wrote it.
func follows(attribute, root, key, field string) templ.KeyValue[string, any] {
	return templ.KV[string, any]("data-attr:"+attribute, "$"+root+"?."+key+"?."+field+" ?? el.getAttribute('"+attribute+"')")
}

func (v RunView) follow() templ.OrderedAttributes {
	if v.Review {
		return nil
	}
	key := RunSignal(v.Snap.Start.RunID)
	return templ.OrderedAttributes{follows("data-run-state", "run", key, "state"), follows("data-finish-reason", "run", key, "reason")}
}

func (v RowView) follow() templ.OrderedAttributes {
	if v.Run.Review {
		return nil
	}
	return templ.OrderedAttributes{follows("data-status", "row", v.signal(), "status"),
		follows("data-unverified", "row", v.signal(), "unverified"),
		follows("data-closed-by-run-end", "row", v.signal(), "closed")}
}

func (v PartView) follow() templ.OrderedAttributes {
	if v.Run.Review {
		return nil
	}
	return templ.OrderedAttributes{follows("data-state", "tool", v.signal(), "state")}
}
