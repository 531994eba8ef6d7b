package agent

import (
	"context"
	"encoding/json"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Job is everything that one run works from.
type Job struct {
	RunID         string
	ChatID        string
	ParentRunID   string
	UserMessageID string
	UserText      string
	Model         Model
	ModelName     string // as shown and stored, for instance anthropic/NAME
	Mode          planning.Mode
	Prior         []Turn // earlier turns of the chat, oldest first
	// Plan is the chat's plan. A new run carries only its open stages; a run that
	// is taken over goes on with the newest state that CommitPlan or CommitStep stored.
	Plan      planning.State
	Tools     []Tool // working tools; the loop adds the planner's and complete
	Limits    Limits
	Workspace string // its name, for the system prompt
	// Approve reports that the chat allows the tool without asking; nil allows
	// every tool. It is asked for tools with Approval only.
	Approve func(tool string) bool
	// Done holds this run's log so far where it is taken over, the broken step's
	// entries included; empty for a new run. The loop finds out itself what of
	// the broken step can be kept.
	Done []*part.Entry

	Now   func() time.Time
	NewID func() string
}

// Turn is one earlier run of the chat, as the next request tells it.
type Turn struct {
	UserText string
	Entries  []*part.Entry
}

// Limits bound a run.
type Limits struct {
	Steps      int           // 100
	Run        time.Duration // 2 h
	Silence    time.Duration // 120 s without a byte from the provider
	Tool       time.Duration // 120 s a tool call
	Grace      time.Duration // 500 ms that a cancelled tool may take to hand in what it has
	ToolOutput int           // 32 KiB shown to the model
	Plan       planning.Limits
	// Backoff before retry n (from 1) of a model call; tests set it to zero.
	Backoff func(n int) time.Duration
}

// Tool is one working tool.
type Tool struct {
	Spec       ToolSpec
	Dynamic    bool // MCP
	Approval   bool // asks unless the chat allows it
	Idempotent bool // may be run again blindly after a takeover
	// Timeout replaces Limits.Tool; negative for none.
	Timeout time.Duration
	// Run does the call. It ends when ctx ends, in bounded time and memory, and
	// leaves nothing running. A failed call is a ToolResult with Err, never a panic.
	Run func(ctx context.Context, call ToolCall) ToolResult
}

// ToolCall is one call of a working tool.
type ToolCall struct {
	RunID  string
	CallID string
	Name   string
	Input  json.RawMessage // a JSON object
	// Progress shows a preliminary output; nil where nobody listens.
	Progress func(output json.RawMessage)
}

// ToolResult is what a call came to.
type ToolResult struct {
	// Output is stored and shown: a JSON string for plain text, else an object.
	// It is bounded by the tool (head and tail); the model gets the same.
	Output json.RawMessage
	Err    *planning.ToolError // the call failed; Output is ignored
	Files  []part.FileChange
	// Full is the whole output where Output was cut; MediaType says what it is.
	Full      []byte
	MediaType string
	Summary   string // one line for the activity view, for instance "214 lines"
}

// Outcome is how a run ended.
type Outcome struct {
	State  part.State
	Reason part.FinishReason
	Err    error // ErrFenced or a log failure: nothing was settled by this owner
}
