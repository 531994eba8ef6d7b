package views

import (
	"github.com/a-h/templ"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// The elements that hold a reader's state (a run, a row, a tool card) are never
// patched. Their attributes follow signals instead, named by the element's id:
//
//	run:  {ID: {state, reason}}
//	row:  {ID: {status, unverified, closed}}
//	tool: {ID: {state}}
//
// The signals hold words of this program only, never text of a user or model.
// The expressions read el.id, so that all elements of a kind share them and the
// browser compiles each once.

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
	return Signals{"run": {v.ID(): RunState{v.Snap.State, v.Snap.FinishReason}}}
}

// Signals of the row.
func (v RowView) Signals() Signals {
	return Signals{"row": {v.ID(): RowState{v.Row.Status, v.Row.Unverified, v.Row.ClosedByRunEnd}}}
}

// Signals of the part; nil where it is not a tool.
func (v PartView) Signals() Signals {
	if v.Part.Tool == nil {
		return nil
	}
	return Signals{"tool": {v.ID(): ToolState{v.Part.State}}}
}

// follows makes an attribute follow a signal; until the signal is there it
// stays as the server wrote it.
func follows(attribute, root, field string) templ.KeyValue[string, any] {
	return templ.KV[string, any]("data-attr:"+attribute, "$"+root+"?.[el.id]?."+field+" ?? el.getAttribute('"+attribute+"')")
}

var (
	runFollows  = templ.OrderedAttributes{follows("data-run-state", "run", "state"), follows("data-finish-reason", "run", "reason")}
	rowFollows  = templ.OrderedAttributes{follows("data-status", "row", "status"), follows("data-unverified", "row", "unverified"), follows("data-closed-by-run-end", "row", "closed")}
	toolFollows = templ.OrderedAttributes{follows("data-state", "tool", "state")}
)

// follow is nothing on a review page, which does not change.
func (v RunView) follow(list templ.OrderedAttributes) templ.OrderedAttributes {
	if v.Review || v.Static {
		return nil
	}
	return list
}
