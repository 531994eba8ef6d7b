// Package planning holds the planners as pure functions over values: the
// classic pipeline, the metronome pointer, the checklist and the steps verb,
// with their directives and limits (docs/planning.md). Nothing in it has a
// clock, I/O, a goroutine or a log; nothing changes an argument.
package planning

import (
	"encoding/json"
	"time"
)

// Mode names a planner; it is chosen for each chat.
type Mode string

const (
	Metronome Mode = "metronome" // plan + advance, the default
	Classic   Mode = "classic"   // write_todos
	Checklist Mode = "checklist" // update_plan
	Steps     Mode = "steps"     // the plan verb
	None      Mode = "none"      // planning switched off
)

// Status is a stage's status in its planner's own words. Use the predicates
// (Active, Done, Terminal) instead of comparing words of one planner.
type Status string

const (
	Pending    Status = "pending"
	InProgress Status = "in_progress" // metronome, classic, checklist
	Done       Status = "done"        // metronome, classic, steps
	Completed  Status = "completed"   // checklist
	Cancelled  Status = "cancelled"   // checklist
	Running    Status = "running"     // steps
	Failed     Status = "failed"      // steps
	Skipped    Status = "skipped"     // steps
)

// IsActive: in_progress or running.
func (s Status) IsActive() bool { return s == InProgress || s == Running }

// IsDone: done or completed.
func (s Status) IsDone() bool { return s == Done || s == Completed }

// IsTerminal: done, completed, cancelled, skipped or failed.
func (s Status) IsTerminal() bool {
	return s.IsDone() || s == Cancelled || s == Skipped || s == Failed
}

// Stage is one item of a plan, whichever planner wrote it.
type Stage struct {
	ID          string
	Content     string // todo content, step text or step label
	Deliverable string // metronome only
	Evidence    string // metronome only, set by advance
	AdvancedAt  time.Time
	Status      Status
	Unverified  bool   // metronome: closed without work after a refusal
	ResolvedBy  string // "runtime" where the runtime closed it (steps only)
}

// Plan is the ordered list of stages as the server settled it. A Plan is
// immutable: every accepted call returns a new one.
type Plan struct {
	Mode      Mode
	Title     string // steps only
	Revision  int    // raised by one for each accepted call that changed the list
	Pointer   int    // metronome only: 0 <= Pointer <= len(Stages); it never moves back
	SettledAt time.Time
	Stages    []Stage
}

// State is all that a planner remembers between two calls. It is stored with
// the chat as JSON, apart from messages. The zero State has no plan.
type State struct {
	Plan    Plan  `json:"plan"`
	HasPlan bool  `json:"hasPlan"` // an accepted call (or a carried plan) exists
	Carried bool  `json:"carried"` // the plan came from an earlier run and no accepted call of this run touched it
	Guard   Guard `json:"guard,omitzero"`
}

// Guard is the metronome's memory of work (docs/planning.md, 'Empty tick').
type Guard struct {
	Calls     int      `json:"calls,omitempty"`     // working calls that ended with output since the last accepted advance
	TextChars int      `json:"textChars,omitempty"` // characters of text parts since then
	Refused   []string `json:"refused,omitempty"`   // ids of the stages whose advance was refused once
}

// ToolError is the model's mistake as a tool result: {error:{code,message,path?}}.
type ToolError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"` // JSON path of the bad field, for instance todos[2].status
}

func (e *ToolError) Error() string { return e.Code + ": " + e.Message }

// JSON is the error's wire form, {"error":{...}}.
func (e *ToolError) JSON() json.RawMessage {
	b, _ := json.Marshal(struct {
		Error *ToolError `json:"error"`
	}{e})
	return b
}

// Call is one call of a planner's tool.
type Call struct {
	Tool  string // write_todos, plan, advance, update_plan
	Input json.RawMessage
	Time  time.Time
}

// Result is what a planner call came to.
type Result struct {
	State   State           // the new state; the old one where nothing was accepted
	Output  json.RawMessage // the tool's output, a frozen copy; nil where Err is set
	Err     *ToolError      // nothing changed
	Refused bool            // an empty tick or an advance without an active stage: nothing changed
	Changed bool            // the list differs: the revision rose, work_plan_changed is due
	Once    string          // one-shot reminder for the next request, under the key once:plan
	// What the call said about itself, kept with the revision.
	Explanation, Note, Focus string
}
