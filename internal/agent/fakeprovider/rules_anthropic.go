package fakeprovider

import (
	"encoding/json"
	"fmt"
	"strings"
)

func refuseAnthropic(format string, args ...any) refusal {
	message := fmt.Sprintf(format, args...)
	return refusal{message, func() string {
		return `{"type":"error","error":{"type":"invalid_request_error","message":` + toJSON(message) + `}}`
	}}
}

type anthropicBlock struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	Thinking     string          `json:"thinking"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	CacheControl json.RawMessage `json:"cache_control"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	blocks  []anthropicBlock
}

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	System    json.RawMessage    `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []struct {
		Name         string          `json:"name"`
		InputSchema  json.RawMessage `json:"input_schema"`
		CacheControl json.RawMessage `json:"cache_control"`
	} `json:"tools"`
}

// checkAnthropic applies the rules of Messages: the first message is the
// user's, every tool_use has its tool_result in the next message, results come
// first, no text is blank, at most four blocks are marked, and thinking comes
// back as it was signed.
func (s *Server) checkAnthropic(body []byte) refusal {
	var r anthropicRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return refuseAnthropic("The request body is not valid JSON: %s", err)
	}
	switch {
	case r.Model == "":
		return refuseAnthropic("model: Field required")
	case r.MaxTokens < 1:
		return refuseAnthropic("max_tokens: Field required")
	case len(r.Messages) == 0:
		return refuseAnthropic("messages: at least one message is required")
	case r.Messages[0].Role != "user":
		return refuseAnthropic(`messages: first message must use the "user" role`)
	}
	marks := countMarks(body)
	if marks > 4 {
		return refuseAnthropic("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	for i, t := range r.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !wordPattern.MatchString(t.Name) || json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return refuseAnthropic("tools.%d.custom: Input should be a valid tool", i)
		}
	}
	turns, refused := turns(r.Messages)
	if refused.message != "" {
		return refused
	}
	ids := map[string]bool{}
	var before map[string]bool // tool_use ids of the turn before
	for i, t := range turns {
		if refused := s.checkTurn(i, t, before, ids); refused.message != "" {
			return refused
		}
		before = map[string]bool{}
		for _, b := range t.blocks {
			if b.Type == "tool_use" {
				before[b.ID] = true
			}
		}
	}
	if len(before) > 0 {
		return refuseAnthropic("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", len(turns)-1, keys(before))
	}
	return refusal{}
}

// turns joins messages of one role that follow each other, as the API does.
func turns(messages []anthropicMessage) ([]anthropicMessage, refusal) {
	var out []anthropicMessage
	for i, m := range messages {
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			m.blocks = []anthropicBlock{{Type: "text", Text: text}}
		} else if err := json.Unmarshal(m.Content, &m.blocks); err != nil {
			return nil, refuseAnthropic("messages.%d.content: Input should be a valid list", i)
		}
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return nil, refuseAnthropic("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case len(m.blocks) == 0:
			return nil, refuseAnthropic("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		case len(out) > 0 && out[len(out)-1].Role == m.Role:
			out[len(out)-1].blocks = append(out[len(out)-1].blocks, m.blocks...)
		default:
			out = append(out, m)
		}
	}
	return out, refusal{}
}

func (s *Server) checkTurn(i int, t anthropicMessage, before, ids map[string]bool) refusal {
	waiting := map[string]bool{}
	for id := range before {
		waiting[id] = true
	}
	others := false
	for j, b := range t.blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, j)
		switch b.Type {
		case "text":
			others = true
			if strings.TrimSpace(b.Text) == "" {
				return refuseAnthropic("messages: text content blocks must contain non-whitespace text")
			}
		case "thinking":
			s.mu.Lock()
			text, known := s.signed[b.Signature]
			s.mu.Unlock()
			if t.Role != "assistant" || b.Signature == "" || known && text != b.Thinking {
				return refuseAnthropic("%s: Invalid `signature` in `thinking` block", at)
			}
			if len(b.CacheControl) > 0 {
				return refuseAnthropic("%s.thinking.cache_control: Extra inputs are not permitted", at)
			}
		case "redacted_thinking":
			if t.Role != "assistant" || b.Data == "" {
				return refuseAnthropic("%s: Invalid `data` in `redacted_thinking` block", at)
			}
		case "tool_use":
			switch {
			case t.Role != "assistant":
				return refuseAnthropic("%s: `tool_use` blocks can only be in `assistant` messages", at)
			case !wordPattern.MatchString(b.ID):
				return refuseAnthropic("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
			case ids[b.ID]:
				return refuseAnthropic("messages.%d.content: `tool_use` ids must be unique", i)
			case !isObject(b.Input):
				return refuseAnthropic("%s.tool_use.input: Input should be a valid dictionary", at)
			}
			ids[b.ID] = true
		case "tool_result":
			switch {
			case t.Role != "user":
				return refuseAnthropic("%s: `tool_result` blocks can only be in `user` messages", at)
			case !waiting[b.ToolUseID]:
				return refuseAnthropic("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", at, b.ToolUseID)
			case others:
				return refuseAnthropic("messages.%d: `tool_result` blocks must come before other content", i)
			case blankText(b.Content):
				return refuseAnthropic("messages: text content blocks must be non-empty")
			}
			delete(waiting, b.ToolUseID)
		default:
			return refuseAnthropic("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, b.Type)
		}
	}
	if len(waiting) > 0 {
		return refuseAnthropic("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, keys(waiting))
	}
	if last := t.blocks[len(t.blocks)-1]; t.Role == "assistant" && strings.HasSuffix(last.Type, "thinking") {
		return refuseAnthropic("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
	}
	return refusal{}
}

// blankText: a text block of a tool result has nothing to read.
func blankText(content json.RawMessage) bool {
	var blocks []anthropicBlock
	if json.Unmarshal(content, &blocks) != nil {
		return false
	}
	for _, b := range blocks {
		if b.Type == "text" && b.Text == "" {
			return true
		}
	}
	return false
}

// countMarks counts cache_control fields that hold something, wherever they
// stand, but not inside schemas, inputs and texts.
func countMarks(body []byte) int {
	var doc any
	if json.Unmarshal(body, &doc) != nil {
		return 0
	}
	var count func(v any) int
	count = func(v any) int {
		n := 0
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				n += count(item)
			}
		case map[string]any:
			for key, item := range v {
				switch key {
				case "input", "input_schema":
				case "cache_control":
					if item != nil {
						n++
					}
				default:
					n += count(item)
				}
			}
		}
		return n
	}
	return count(doc)
}
