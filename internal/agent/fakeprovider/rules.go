package fakeprovider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// refusal is why a request is answered 400; message is empty where it is not.
type refusal struct {
	message string
	body    func() string
}

var wordPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func refuseOpenAI(format string, args ...any) refusal {
	message := fmt.Sprintf(format, args...)
	return refusal{message, func() string {
		return `{"error":{"message":` + toJSON(message) + `,"type":"invalid_request_error","param":"messages","code":null}}`
	}}
}

type openAIRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

var reasonerPattern = regexp.MustCompile(`^(o\d|gpt-5)`)

// checkOpenAI applies the rules of chat completions: every tool call has
// exactly one result in the messages right after it, and every result its call.
func (s *Server) checkOpenAI(body []byte) refusal {
	var r openAIRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return refuseOpenAI("We could not parse the JSON body of your request: %s", err)
	}
	switch {
	case r.Model == "":
		return refuseOpenAI("you must provide a model parameter")
	case len(r.Messages) == 0:
		return refuseOpenAI("Invalid 'messages': empty array.")
	case reasonerPattern.MatchString(r.Model) && r.Temperature != nil:
		return refuseOpenAI("Unsupported value: 'temperature' does not support this value with this model.")
	case reasonerPattern.MatchString(r.Model) && r.MaxTokens != nil:
		return refuseOpenAI("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	}
	for i, t := range r.Tools {
		if t.Type != "function" || !wordPattern.MatchString(t.Function.Name) {
			return refuseOpenAI("Invalid 'tools[%d].function.name': string does not match pattern.", i)
		}
		if !isObject(t.Function.Parameters) {
			return refuseOpenAI("Invalid schema for function '%s'.", t.Function.Name)
		}
	}
	waiting := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != "tool" && len(waiting) > 0 {
			return refuseOpenAI("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", keys(waiting))
		}
		empty := len(m.Content) == 0 || string(m.Content) == "null"
		switch m.Role {
		case "system", "developer", "user":
			if empty {
				return refuseOpenAI("Invalid value for 'content': expected a string, got null.")
			}
		case "assistant":
			if empty && len(m.ToolCalls) == 0 {
				return refuseOpenAI("Invalid value for 'content': expected a string, got null.")
			}
			for _, c := range m.ToolCalls {
				var args string
				switch {
				case c.ID == "" || len(c.ID) > 40:
					return refuseOpenAI("Invalid 'messages[%d].tool_calls[].id': string too long or missing.", i)
				case waiting[c.ID]:
					return refuseOpenAI("Duplicate value for 'tool_call_id' of '%s' in message[%d].", c.ID, i)
				case c.Type != "function" || !wordPattern.MatchString(c.Function.Name):
					return refuseOpenAI("Invalid 'messages[%d].tool_calls[].function.name': string does not match pattern.", i)
				case json.Unmarshal(c.Function.Arguments, &args) != nil || !isObject([]byte(args)):
					return refuseOpenAI("Invalid 'messages[%d].tool_calls[].function.arguments': not a JSON object.", i)
				}
				waiting[c.ID] = true
			}
		case "tool":
			if !waiting[m.ToolCallID] {
				return refuseOpenAI("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			delete(waiting, m.ToolCallID)
		default:
			return refuseOpenAI("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
		}
	}
	if len(waiting) > 0 {
		return refuseOpenAI("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", keys(waiting))
	}
	return refusal{}
}

func isObject(raw []byte) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(raw, &fields) == nil && fields != nil
}

func keys(set map[string]bool) string {
	var list []string
	for k := range set {
		list = append(list, k)
	}
	return strings.Join(list, ", ")
}
