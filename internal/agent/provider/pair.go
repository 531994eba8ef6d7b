package provider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"stagefold/internal/agent"
)

// NoOutput is told where a tool returned nothing: providers refuse empty texts.
const NoOutput = "(no output)"

// Pair makes a message list that every provider takes: each tool call has
// exactly one result, in the message right after it and in call order; calls
// without a result and results without a call are left out, and so are blank
// texts and messages that nothing is left of. A valid list stays as it is.
func Pair(messages []agent.Message) []agent.Message {
	var out []agent.Message
	for i, m := range messages {
		switch m.Role {
		case agent.RoleTool:
			continue // told behind its call
		case agent.RoleAssistant:
			results := resultsAfter(messages[i+1:])
			said, told := keepPaired(m.Content, results)
			if speaks(said) {
				out = append(out, agent.Message{Role: m.Role, Content: said})
			}
			if len(told) > 0 {
				out = append(out, agent.Message{Role: agent.RoleTool, Content: told})
			}
		default:
			if texts := keepTexts(m.Content); len(texts) > 0 {
				out = append(out, agent.Message{Role: agent.RoleUser, Content: texts})
			}
		}
	}
	return out
}

// resultsAfter are the results up to the next assistant message, the first of
// each id.
func resultsAfter(messages []agent.Message) map[string]agent.Content {
	results := map[string]agent.Content{}
	for _, m := range messages {
		if m.Role == agent.RoleAssistant {
			break
		}
		if m.Role != agent.RoleTool {
			continue
		}
		for _, c := range m.Content {
			if _, known := results[c.ToolCallID]; c.Kind == agent.ContentToolResult && !known {
				results[c.ToolCallID] = c
			}
		}
	}
	return results
}

// keepPaired splits an answer into what may be said again and the results. Text
// never stands behind a call.
func keepPaired(content []agent.Content, results map[string]agent.Content) (said, told []agent.Content) {
	calls := -1 // where the first call stands
	for _, c := range content {
		switch c.Kind {
		case agent.ContentText:
			if strings.TrimSpace(c.Text) == "" {
				continue
			}
			if calls < 0 {
				said = append(said, c)
			} else {
				said = slices.Insert(said, calls, c)
				calls++
			}
		case agent.ContentReasoning:
			said = append(said, c)
		case agent.ContentToolCall:
			result, ok := results[c.ToolCallID]
			if !ok {
				continue
			}
			delete(results, c.ToolCallID)
			c.Input = objectOf(c.Input)
			if strings.TrimSpace(result.Text) == "" {
				result.Text = NoOutput
			}
			if calls < 0 {
				calls = len(said)
			}
			said, told = append(said, c), append(told, result)
		}
	}
	return said, told
}

func keepTexts(content []agent.Content) []agent.Content {
	var texts []agent.Content
	for _, c := range content {
		if c.Kind == agent.ContentText && strings.TrimSpace(c.Text) != "" {
			texts = append(texts, c)
		}
	}
	return texts
}

// speaks: there is more than reasoning, which alone is no message.
func speaks(content []agent.Content) bool {
	for _, c := range content {
		if c.Kind != agent.ContentReasoning {
			return true
		}
	}
	return false
}

// objectOf is input where it is a JSON object, else {}.
func objectOf(input json.RawMessage) json.RawMessage {
	input = bytes.TrimSpace(input)
	if len(input) == 0 || input[0] != '{' || !json.Valid(input) {
		return json.RawMessage(`{}`)
	}
	return input
}
