package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
)

// metadata is what reasoning carries for the next request; the names are the AI
// SDK's.
type metadata struct {
	Anthropic signed `json:"anthropic"`
}

type signed struct {
	Signature    string `json:"signature,omitempty"`
	RedactedData string `json:"redactedData,omitempty"`
}

// metadata is nil for thinking that nobody signed: it cannot go back.
func (b *block) metadata() json.RawMessage {
	if b.signature == "" && b.redacted == "" {
		return nil
	}
	raw, _ := json.Marshal(metadata{signed{b.signature, b.redacted}})
	return raw
}

// params builds the request: without marks and reminder, system, tools and
// messages are the same bytes in every step of a run.
func (m *model) params(req agent.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: req.ModelName, MaxTokens: m.maxTokens(req.ModelName)}
	if strings.TrimSpace(req.System) != "" {
		p.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: mark()}}
	}
	for _, t := range req.Tools {
		tool := &anthropic.ToolParam{Name: t.Name, InputSchema: schema(t.Schema)}
		if t.Description != "" {
			tool.Description = anthropic.String(t.Description)
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = mark()
	}
	messages := history(req.Messages)
	markHistory(messages)
	if req.Reminder != "" {
		messages = remind(messages, req.Reminder)
	}
	for _, msg := range messages {
		p.Messages = append(p.Messages, msg.param())
	}
	return p
}

func (m *model) maxTokens(name string) int64 {
	if m.outputLimit > 0 {
		return m.outputLimit
	}
	if info, ok := provider.Lookup("anthropic/" + name); ok && info.MaxOutput > 0 {
		return min(info.MaxOutput, largestOutput)
	}
	return defaultOutput
}

// schema keeps the bytes as the tool declares them.
func schema(raw json.RawMessage) anthropic.ToolInputSchemaParam {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || string(fields["type"]) != `"object"` {
		return anthropic.ToolInputSchemaParam{Properties: map[string]any{}}
	}
	return param.Override[anthropic.ToolInputSchemaParam](raw)
}

// message is one message before it takes the SDK's form.
type message struct {
	role    agent.Role // user or assistant
	content []anthropic.ContentBlockParamUnion
}

func (m message) param() anthropic.MessageParam {
	if m.role == agent.RoleAssistant {
		return anthropic.NewAssistantMessage(m.content...)
	}
	return anthropic.NewUserMessage(m.content...)
}

// history are the messages; the first is always the user's.
func history(messages []agent.Message) []message {
	var out []message
	for _, m := range provider.Pair(messages) {
		next := message{role: agent.RoleUser, content: blocks(m.Content)}
		if m.Role == agent.RoleAssistant {
			next.role = agent.RoleAssistant
			if len(out) == 0 {
				out = append(out, message{agent.RoleUser, texts("(The begin of the chat is missing.)")})
			}
		}
		out = append(out, next)
	}
	return out
}

func texts(text string) []anthropic.ContentBlockParamUnion {
	return []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(text)}
}

func blocks(content []agent.Content) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	for _, c := range content {
		switch c.Kind {
		case agent.ContentText:
			out = append(out, anthropic.NewTextBlock(c.Text))
		case agent.ContentReasoning:
			var meta metadata
			_ = json.Unmarshal(c.Metadata, &meta) // another provider's is not signed for this one
			switch s := meta.Anthropic; {
			case s.RedactedData != "":
				out = append(out, anthropic.NewRedactedThinkingBlock(s.RedactedData))
			case s.Signature != "":
				out = append(out, anthropic.NewThinkingBlock(s.Signature, c.Text))
			}
		case agent.ContentToolCall:
			out = append(out, anthropic.NewToolUseBlock(c.ToolCallID, c.Input, c.ToolName))
		case agent.ContentToolResult:
			out = append(out, anthropic.NewToolResultBlock(c.ToolCallID, c.Text, c.IsError))
		}
	}
	return out
}

// remind adds the reminder as the next block of the last user message.
func remind(messages []message, reminder string) []message {
	if n := len(messages); n > 0 && messages[n-1].role == agent.RoleUser {
		messages[n-1].content = append(messages[n-1].content, texts(reminder)...)
		return messages
	}
	return append(messages, message{agent.RoleUser, texts(reminder)})
}

// mark is a cache breakpoint. A request holds at most four: system, last tool,
// last block of the history, and the block that was last one step ago, so that
// the cache is found again after a step of more than 20 blocks.
func mark() anthropic.CacheControlEphemeralParam {
	return anthropic.NewCacheControlEphemeralParam()
}

func markHistory(messages []message) {
	last := len(messages) - 1
	if last < 0 {
		return
	}
	markLast(messages[last])
	for _, m := range slices.Backward(messages[:last]) {
		if m.role == agent.RoleUser {
			markLast(m)
			return
		}
	}
}

func markLast(m message) {
	if n := len(m.content); n > 0 {
		if c := m.content[n-1].GetCacheControl(); c != nil {
			*c = mark()
		}
	}
}
