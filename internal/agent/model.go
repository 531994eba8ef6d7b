// Package agent runs one run: the step loop, reminders, stop conditions, tools,
// approvals and children, and keeps the set of live runs. It knows no page and
// no database: what happens leaves it as entries on a Log.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"stagefold/internal/part"
)

// Model is one language model behind its provider. Stream sends one request and
// yields the answer piece by piece; it closes everything it opened when the
// loop over it ends or ctx is cancelled. A stream that reached its own proper
// end yields exactly one ChunkFinish as its last chunk. Anything else yields an
// error, a *ProviderError or ctx's error, as its last element: a stream that
// just stops is a *ProviderError too. Stream never retries.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Request is what one step sends. System, Tools and Messages of step N are a
// byte prefix of step N+1's; only Reminder changes freely.
type Request struct {
	ModelName string
	System    string
	Tools     []ToolSpec
	Messages  []Message
	Reminder  string // the whole <task_reminder> block; goes last into the last user-role content, after the cache breakpoint; "" for none
}

// ToolSpec declares a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the input, type object
}

// Role of a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // Content holds tool results only, in call order
)

// Message is one message of a request.
type Message struct {
	Role    Role
	Content []Content
}

// ContentKind says which fields of a Content are set.
type ContentKind string

const (
	ContentText       ContentKind = "text"
	ContentReasoning  ContentKind = "reasoning"
	ContentToolCall   ContentKind = "tool-call"
	ContentToolResult ContentKind = "tool-result"
)

// Content is one piece of a message.
type Content struct {
	Kind       ContentKind
	Text       string          // text, reasoning, and a tool result's text
	Metadata   json.RawMessage // reasoning: the provider's own (signature)
	ToolCallID string
	ToolName   string
	Input      json.RawMessage // tool-call: valid JSON object
	IsError    bool            // tool-result
}

// ChunkKind says what a Chunk is.
type ChunkKind int

const (
	ChunkText         ChunkKind = iota // Text
	ChunkReasoning                     // Text
	ChunkReasoningEnd                  // Metadata (may be nil); closes the open reasoning
	ChunkToolStart                     // ID, Name
	ChunkToolDelta                     // ID, Text: a fragment of the arguments
	ChunkToolEnd                       // ID, Text: the whole argument text, as sent; "" means {}
	ChunkToolBroken                    // a fragment could not be placed; Text says why. No tool of this answer may run
	ChunkSource                        // URL, Title
	ChunkUsage                         // Usage so far
	ChunkFinish                        // Reason, Usage
	ChunkAlive                         // bytes arrived that say nothing, for instance a ping; only resets the silence limit
)

// Chunk is one piece of a model's answer. Text of all kinds is valid UTF-8.
type Chunk struct {
	Kind     ChunkKind
	Text     string
	ID       string // tool call id; made unique by the provider's adapter
	Name     string
	Metadata json.RawMessage
	URL      string
	Title    string
	Usage    part.Usage
	Reason   part.FinishReason // stop, tool-calls, length, content-filter; never abort or error
	Pause    bool              // ChunkFinish: the provider paused its turn, ask again as is (pause_turn)
}

// ErrorKind sorts provider failures.
type ErrorKind string

const (
	KindOverloaded ErrorKind = "overloaded" // 429, 529, overloaded_error
	KindServer     ErrorKind = "server"     // 5xx, 408, 409
	KindBroken     ErrorKind = "broken"     // the stream was cut, or reset
	KindSilence    ErrorKind = "silence"    // no byte for the silence limit
	KindAuth       ErrorKind = "auth"       // 401, 403
	KindContext    ErrorKind = "context"    // the request is too long for the model
	KindRequest    ErrorKind = "request"    // other 4xx, and errors reported inside a 200
	KindConnect    ErrorKind = "connect"    // no connection
)

// ProviderError is a failed model call. Message is the provider's own, with
// every known secret masked.
type ProviderError struct {
	Kind       ErrorKind
	Code       string // the provider's code or type, else the HTTP status
	Message    string
	Status     int // HTTP status, 0 if none
	RetryAfter time.Duration
	Retryable  bool
}

func (e *ProviderError) Error() string {
	if e.Code != "" {
		return fmt.Sprintf("%s (%s)", e.Message, e.Code)
	}
	return e.Message
}

// AsProviderError finds a *ProviderError in err.
func AsProviderError(err error) (*ProviderError, bool) {
	var p *ProviderError
	return p, errors.As(err, &p)
}
