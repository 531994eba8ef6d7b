package openai

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
)

// metadata is what an answer's reasoning carries for the next request.
type metadata struct {
	OpenAI reasoningField `json:"openai"`
}

type reasoningField struct {
	Field string `json:"reasoningField"`
}

// reasoners are OpenAI's models that refuse max_tokens and a temperature.
var reasoners = regexp.MustCompile(`^(o\d|gpt-5|codex)`)

// params builds the request: everything before the reminder is the same bytes
// in every step of a run. No temperature is ever sent.
func (m *model) params(req agent.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:         req.ModelName,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if limit := m.outputLimit; limit > 0 {
		if m.official || reasoners.MatchString(strings.TrimPrefix(req.ModelName, "openai/")) {
			p.MaxCompletionTokens = openai.Int(limit)
		} else {
			p.MaxTokens = openai.Int(limit)
		}
	}
	for _, t := range req.Tools {
		def := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema(t.Schema)}
		if t.Description != "" {
			def.Description = openai.String(t.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(def))
	}
	if strings.TrimSpace(req.System) != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(req.System))
	}
	for _, msg := range provider.Pair(req.Messages) {
		p.Messages = append(p.Messages, messages(msg)...)
	}
	if req.Reminder != "" {
		p.Messages = append(p.Messages, openai.UserMessage(req.Reminder))
	}
	return p
}

// schema keeps the inner bytes as the tool declares them.
func schema(raw json.RawMessage) shared.FunctionParameters {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return shared.FunctionParameters{"type": "object", "properties": map[string]any{}}
	}
	params := shared.FunctionParameters{}
	for key, value := range fields {
		params[key] = value
	}
	return params
}

func messages(m agent.Message) []openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case agent.RoleAssistant:
		return []openai.ChatCompletionMessageParamUnion{assistant(m.Content)}
	case agent.RoleTool:
		var out []openai.ChatCompletionMessageParamUnion
		for _, c := range m.Content {
			out = append(out, openai.ToolMessage(resultText(c), c.ToolCallID))
		}
		return out
	}
	return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(texts(m.Content))}
}

// assistant is one answer. Its reasoning goes back only together with tool
// calls and only in the field it came in: there some servers insist on it.
func assistant(content []agent.Content) openai.ChatCompletionMessageParamUnion {
	var msg openai.ChatCompletionAssistantMessageParam
	reasoning := map[string]any{}
	for _, c := range content {
		switch c.Kind {
		case agent.ContentToolCall:
			msg.ToolCalls = append(msg.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: c.ToolCallID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: c.ToolName, Arguments: string(c.Input),
					},
				},
			})
		case agent.ContentReasoning:
			var meta metadata
			if json.Unmarshal(c.Metadata, &meta) != nil {
				continue
			}
			if f := meta.OpenAI.Field; f == "reasoning_content" || f == "reasoning" {
				before, _ := reasoning[f].(string)
				reasoning[f] = before + c.Text
			}
		}
	}
	if text := texts(content); text != "" {
		msg.Content.OfString = openai.String(text)
	}
	if len(msg.ToolCalls) > 0 && len(reasoning) > 0 {
		msg.SetExtraFields(reasoning)
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &msg}
}

// texts joins the texts of a message: many servers take only a string.
func texts(content []agent.Content) string {
	var list []string
	for _, c := range content {
		if c.Kind == agent.ContentText {
			list = append(list, c.Text)
		}
	}
	return strings.Join(list, "\n\n")
}

// resultText is a tool's result. This wire has no mark for a failed one, so the
// text says it.
func resultText(c agent.Content) string {
	if c.IsError && !strings.HasPrefix(c.Text, `{"error"`) {
		return "Error: " + c.Text
	}
	return c.Text
}
