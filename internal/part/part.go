package part

import (
	"encoding/json"
	"time"
)

// Kind says what a part is; it is the page's data-part-kind.
type Kind string

const (
	KindText      Kind = "text"
	KindReasoning Kind = "reasoning"
	KindTool      Kind = "tool"
	KindSource    Kind = "source"
	KindFile      Kind = "file"
	KindData      Kind = "data"
	KindChild     Kind = "child"
)

// PartState is a part's state in the AI SDK's words. Tools also know
// StateCancelled: open when the run ended, which the wire tells as an error.
type PartState string

const (
	StateStreaming         PartState = "streaming" // text, reasoning
	StateDone              PartState = "done"      // text, reasoning
	StateInputStreaming    PartState = "input-streaming"
	StateInputAvailable    PartState = "input-available" // the tool runs or is about to
	StateApprovalRequested PartState = "approval-requested"
	StateApprovalResponded PartState = "approval-responded"
	StateOutputAvailable   PartState = "output-available"
	StateOutputError       PartState = "output-error"
	StateOutputDenied      PartState = "output-denied"
	StateCancelled         PartState = "cancelled"
)

// Part is one piece of a run's message. It is an immutable value: a later
// entry makes a new one (see Next).
type Part struct {
	N       int // position among all parts of the run, from 1; kept through resets
	Kind    Kind
	ID      string // the entry's id, or the tool call id
	Step    int
	Seq     int64 // of the entry that began it
	Started time.Time
	Ended   time.Time // zero while open
	State   PartState

	// Text of a text or reasoning part. Empty in the fold, which keeps blocks.
	Text             string
	ProviderMetadata json.RawMessage

	Tool *Tool // KindTool

	// KindSource, KindFile, KindData, KindChild.
	SourceID, URL, Title, MediaType, Filename string
	DataType                                  Type
	Data                                      json.RawMessage
}

// Tool is the tool side of a part, immutable like the part.
type Tool struct {
	CallID      string
	Name        string
	Dynamic     bool
	InputText   string          // as streamed so far; dropped once Input or RawInput is there
	Input       json.RawMessage // valid JSON, byte for byte what the model sent
	RawInput    string
	Output      json.RawMessage
	ErrorText   string
	Preliminary bool
	Truncated   bool
	ActedAt     time.Time // the tool began to act (data-tool-start)
	Files       []FileChange
	ApprovalID  string
	Approved    *bool
	Reason      string // of an approval's answer
}

// Terminal: no later entry of a living run can change the part.
func (p *Part) Terminal() bool {
	switch p.State {
	case StateDone, StateOutputAvailable, StateOutputError, StateOutputDenied, StateCancelled:
		return p.Tool == nil || !p.Tool.Preliminary
	}
	return p.Kind == KindSource || p.Kind == KindFile || p.Kind == KindData
}
