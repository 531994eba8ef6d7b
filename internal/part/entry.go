// Package part holds the entries of a run's log and the parts they add up to.
// Names follow the AI SDK's chunks (docs/protocols.md); the package is pure.
package part

import (
	"encoding/json"
	"time"

	"stagefold/internal/planning"
)

// Type is an entry's type: an AI SDK chunk name, or one of the log's own.
type Type string

const (
	Start      Type = "start"       // first entry of a run; Data holds StartData
	StartStep  Type = "start-step"  // a model call begins; Entry.Step says which
	FinishStep Type = "finish-step" // usage and the provider's reason for the step
	StepReset  Type = "step-reset"  // the parts of Entry.Step so far are taken back
	Finish     Type = "finish"      // last entry of a run: reason, state, error, debt

	TextStart      Type = "text-start"
	TextDelta      Type = "text-delta"
	TextEnd        Type = "text-end"
	ReasoningStart Type = "reasoning-start"
	ReasoningDelta Type = "reasoning-delta"
	ReasoningEnd   Type = "reasoning-end" // ProviderMetadata may carry the signature

	ToolInputStart      Type = "tool-input-start"
	ToolInputDelta      Type = "tool-input-delta"
	ToolInputAvailable  Type = "tool-input-available"
	ToolInputError      Type = "tool-input-error"
	ToolStart           Type = "data-tool-start" // the tool begins to act; needed to judge a takeover
	ToolOutput          Type = "tool-output-available"
	ToolOutputError     Type = "tool-output-error"
	ToolOutputDenied    Type = "tool-output-denied"
	ToolApprovalRequest Type = "tool-approval-request"
	ToolApprovalAnswer  Type = "tool-approval-response"

	SourceURL      Type = "source-url"
	SourceDocument Type = "source-document"
	File           Type = "file"

	Wait   Type = "wait"   // the run waits for the user; Waiting says for what
	Resume Type = "resume" // the wait is over, or a taken-over run goes on
	Child  Type = "child"  // a child run was spawned or changed; Data holds ChildData

	DataPlan        Type = "data-plan"         // the plan snapshot, for wire clients; Data holds PlanData; not a part
	DataPlanCarried Type = "data-plan-carried" // the carried plan at the head of a run; Data holds a planning.Plan
	DataNotice      Type = "data-notice"       // run-level notice; Data holds NoticeData
	DataAnswer      Type = "data-answer"       // the user's answer to a question; Data holds AnswerData
	DataAsk         Type = "data-ask"          // hidden user message of a plan-debt ask; Data holds AskData; not a part
	DataActivity    Type = "data-activity"     // one activity line; Data holds ActivityData; not a part
)

// Entry is one addition to a run's log. Only the fields that its Type needs
// are set. An Entry is immutable once it has a Seq.
type Entry struct {
	Seq  int64     `json:"seq"`  // from 1, without gaps, given when the log commits it
	Step int       `json:"step"` // from 1; 0 before the first step
	Time time.Time `json:"time"` // UTC, millisecond precision
	Type Type      `json:"type"`

	ID             string          `json:"id,omitempty"`    // text, reasoning, data: the part's id, unique in the run
	Delta          string          `json:"delta,omitempty"` // text-delta, reasoning-delta
	ToolCallID     string          `json:"toolCallId,omitempty"`
	ToolName       string          `json:"toolName,omitempty"`       // on tool-input-start, -available, -error
	Dynamic        bool            `json:"dynamic,omitempty"`        // an MCP or unknown tool
	InputTextDelta string          `json:"inputTextDelta,omitempty"` // tool-input-delta
	Input          json.RawMessage `json:"input,omitempty"`          // valid JSON, as the model sent it
	RawInput       string          `json:"rawInput,omitempty"`       // what the model sent where it is not valid JSON
	Output         json.RawMessage `json:"output,omitempty"`
	ErrorText      string          `json:"errorText,omitempty"`
	Preliminary    bool            `json:"preliminary,omitempty"`
	Truncated      bool            `json:"truncated,omitempty"` // the whole output is at /api/tool-outputs/RUN/CALL
	Files          []FileChange    `json:"files,omitempty"`     // files that this tool call changed
	ApprovalID     string          `json:"approvalId,omitempty"`
	Approved       *bool           `json:"approved,omitempty"`
	Reason         string          `json:"reason,omitempty"`

	SourceID  string `json:"sourceId,omitempty"`
	URL       string `json:"url,omitempty"`
	Title     string `json:"title,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`

	ProviderMetadata json.RawMessage `json:"providerMetadata,omitempty"`
	Data             json.RawMessage `json:"data,omitempty"` // data-*, start, child

	FinishReason FinishReason `json:"finishReason,omitempty"` // finish-step (the provider's), finish (the run's)
	State        State        `json:"state,omitempty"`        // finish: the run's terminal state
	Usage        *Usage       `json:"usage,omitempty"`        // finish-step: this step's; finish: the run's
	Error        *RunError    `json:"error,omitempty"`        // finish
	Debt         []Debt       `json:"debt,omitempty"`         // finish: stages left open
	Note         string       `json:"note,omitempty"`         // finish: the limit or reason named, as a sentence
	Waiting      []Waiting    `json:"waiting,omitempty"`      // wait: everything the run waits for now
	Late         bool         `json:"late,omitempty"`         // came after the end; changes no row
}

// FinishReason is why a run (or a step) ended.
type FinishReason string

const (
	ReasonStop          FinishReason = "stop"
	ReasonToolCalls     FinishReason = "tool-calls"
	ReasonLength        FinishReason = "length"
	ReasonContentFilter FinishReason = "content-filter"
	ReasonAbort         FinishReason = "abort"
	ReasonError         FinishReason = "error"
)

// State is a run's state.
type State string

const (
	Queued      State = "queued"
	Running     State = "running"
	Waits       State = "waiting"
	Finished    State = "finished"
	FailedRun   State = "failed"
	Stopped     State = "stopped"
	Interrupted State = "interrupted"
)

// Terminal: finished, failed, stopped or interrupted.
func (s State) Terminal() bool {
	return s == Finished || s == FailedRun || s == Stopped || s == Interrupted
}

// Usage counts tokens. Input is without cache reads and writes.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Reasoning  int64 `json:"reasoning"` // a share of Output
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning}
}

// RunError is why a run failed, in a form to show.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Debt is a stage that the run left open.
type Debt struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

// FileChange is one file that a tool call changed, workspace-relative.
type FileChange struct {
	Path string `json:"path"`
	Op   string `json:"op"` // "created", "modified"
}

// Waiting is one thing that a run waits for.
type Waiting struct {
	Kind       string          `json:"kind"` // "approval" or "question"
	RunID      string          `json:"runId"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Question   string          `json:"question,omitempty"`
	Options    []string        `json:"options,omitempty"`
}

// StartData is the data of a start entry.
type StartData struct {
	RunID         string        `json:"runId"`
	ChatID        string        `json:"chatId"`
	ParentRunID   string        `json:"parentRunId,omitempty"`
	MessageID     string        `json:"messageId"`     // the assistant message's id
	UserMessageID string        `json:"userMessageId"` // the user message this run works on
	UserText      string        `json:"userText"`
	Model         string        `json:"model"`
	PlanningMode  planning.Mode `json:"planningMode"`
}

// PlanData is the data of a data-plan entry.
type PlanData struct {
	Plan        planning.Plan `json:"plan"`
	Tool        string        `json:"tool"`
	Explanation string        `json:"explanation,omitempty"`
	Note        string        `json:"note,omitempty"`
	Focus       string        `json:"focus,omitempty"`
}

// ChildData is the data of a child entry.
type ChildData struct {
	RunID      string          `json:"runId"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	StageID    string          `json:"stageId,omitempty"`
	StageLabel string          `json:"stageLabel,omitempty"`
	Goal       string          `json:"goal"`
	State      State           `json:"state"`
	Capsule    json.RawMessage `json:"capsule,omitempty"`
}

// NoticeData is the data of a data-notice entry.
type NoticeData struct {
	Kind string `json:"kind"` // "retry", "limit", "compact", "info"
	Text string `json:"text"`
}

// AnswerData is the data of a data-answer entry.
type AnswerData struct {
	MessageID  string `json:"messageId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	Text       string `json:"text"`
}

// AskData is the data of a data-ask entry.
type AskData struct {
	Text string `json:"text"`
}

// Phase tags an activity line.
type Phase string

const (
	PhasePlan    Phase = "plan"
	PhaseAct     Phase = "act"
	PhaseObs     Phase = "obs"
	PhaseReflect Phase = "reflect"
)

// ActivityData is the data of a data-activity entry.
type ActivityData struct {
	Phase   Phase  `json:"phase"`
	Summary string `json:"summary"` // one line
}
