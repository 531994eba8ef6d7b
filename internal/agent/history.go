package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// goOn is the hidden user message between two assistant messages that nothing
// else stands between.
const goOn = "Go on."

// history is the messages of a request: the chat's earlier turns and this
// run's own entries so far. It is valid for any prefix of any log: each call
// has exactly one result in the message right after it, and no two assistant
// messages follow each other.
func history(prior []Turn, userText, model string, entries []*part.Entry) []Message {
	return priorHistory(prior, model).with(userText, entries)
}

// priorHistory is the messages of the earlier turns, the same in every step.
func priorHistory(prior []Turn, model string) *historian {
	h := &historian{model: model, ids: map[string]bool{}}
	for _, t := range prior {
		h.turn(t.UserText, t.Entries)
	}
	return h
}

// with is the messages with one more turn; h stays as it is.
func (h *historian) with(userText string, entries []*part.Entry) []Message {
	h = &historian{model: h.model, ids: maps.Clone(h.ids), out: slices.Clip(h.out)}
	h.turn(userText, entries)
	if h.lastRole() == RoleAssistant {
		h.user(goOn)
	}
	return h.out
}

// historian builds the messages of one request.
type historian struct {
	model string // reasoning is signed by one provider and told to no other
	ids   map[string]bool
	out   []Message
}

// turn adds one run: the user's message and, step by step, the model's answer,
// the results of its calls and what the user was asked or answered.
func (h *historian) turn(userText string, entries []*part.Entry) {
	if strings.TrimSpace(userText) == "" {
		userText = "(empty message)"
	}
	h.user(planning.EscapeTags(userText))

	keepReasoning := modelOf(entries, h.model) == h.model
	parts := part.Build(entries)
	h.notes(entries, 0, nextStep(parts))
	for len(parts) > 0 {
		step := parts[0].Step
		n := slices.IndexFunc(parts, func(p *part.Part) bool { return p.Step != step })
		if n < 0 {
			n = len(parts)
		}
		h.step(parts[:n], keepReasoning)
		h.notes(entries, step, nextStep(parts[n:]))
		parts = parts[n:]
	}
}

// nextStep is the step of the first part; past all steps without one.
func nextStep(parts []*part.Part) int {
	if len(parts) == 0 {
		return int(^uint(0) >> 1)
	}
	return parts[0].Step
}

// step adds the answer of one step: reasoning and text first, then the calls,
// then one message with their results.
func (h *historian) step(parts []*part.Part, keepReasoning bool) {
	var said, calls, results []Content
	speaks := false
	for _, p := range parts {
		switch p.Kind {
		case part.KindReasoning:
			if keepReasoning && signed(p) {
				said = append(said, Content{Kind: ContentReasoning, Text: p.Text, Metadata: p.ProviderMetadata})
			}
		case part.KindText:
			if strings.TrimSpace(p.Text) != "" {
				said = append(said, Content{Kind: ContentText, Text: planning.EscapeTags(p.Text)})
				speaks = true
			}
		case part.KindTool:
			call := Content{
				Kind: ContentToolCall, ToolCallID: h.callID(p.Tool.CallID),
				ToolName: toolName(p.Tool.Name), Input: replayInput(p.Tool.Input),
			}
			text, failed := resultText(p)
			calls = append(calls, call)
			results = append(results, Content{
				Kind: ContentToolResult, ToolCallID: call.ToolCallID, ToolName: call.ToolName,
				Text: planning.EscapeTags(text), IsError: failed,
			})
		}
	}
	if !speaks && len(calls) == 0 {
		return // nothing was said
	}
	if h.lastRole() == RoleAssistant {
		h.user(goOn)
	}
	h.out = append(h.out, Message{Role: RoleAssistant, Content: append(said, calls...)})
	if len(results) > 0 {
		h.out = append(h.out, Message{Role: RoleTool, Content: results})
	}
}

// notes adds the hidden user messages and answers that were logged in the
// steps from from to before to.
func (h *historian) notes(entries []*part.Entry, from, to int) {
	for _, e := range entries {
		if e.Step < from || e.Step >= to {
			continue
		}
		switch e.Type {
		case part.DataAsk:
			var ask part.AskData
			if json.Unmarshal(e.Data, &ask) == nil && ask.Text != "" {
				h.user(planning.EscapeTags(ask.Text))
			}
		case part.DataAnswer:
			var a part.AnswerData
			if json.Unmarshal(e.Data, &a) == nil && a.ToolCallID == "" {
				h.user(planning.EscapeTags(a.Text))
			}
		}
	}
}

func (h *historian) user(text string) {
	if strings.TrimSpace(text) == "" {
		text = "(empty message)"
	}
	h.out = append(h.out, Message{Role: RoleUser, Content: []Content{{Kind: ContentText, Text: text}}})
}

func (h *historian) lastRole() Role {
	if len(h.out) == 0 {
		return ""
	}
	return h.out[len(h.out)-1].Role
}

// callID makes an id that every provider takes and that is unique among all
// turns: letters, digits, _ and -, at most 40.
func (h *historian) callID(id string) string {
	clean := strings.Map(wordRune, id)
	if len(clean) > 40 {
		sum := sha256.Sum256([]byte(id))
		clean = clean[:29] + "-" + hex.EncodeToString(sum[:5])
	}
	if clean == "" {
		clean = "call"
	}
	unique := clean
	for n := 2; h.ids[unique]; n++ {
		suffix := "-" + strconv.Itoa(n)
		unique = clean[:min(len(clean), 40-len(suffix))] + suffix
	}
	h.ids[unique] = true
	return unique
}

// toolName is a name that every provider takes.
func toolName(name string) string {
	name = strings.Map(wordRune, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}

func wordRune(c rune) rune {
	if c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
		return c
	}
	return '_'
}

// signed: the provider can check the reasoning; anything else it refuses.
func signed(p *part.Part) bool {
	m := bytes.TrimSpace(p.ProviderMetadata)
	return p.State == part.StateDone && len(m) > 0 && !bytes.Equal(m, []byte("null")) && !bytes.Equal(m, []byte("{}"))
}

// modelOf is the model that wrote the entries; fallback where they do not say.
func modelOf(entries []*part.Entry, fallback string) string {
	for _, e := range entries {
		if e.Type == part.Start {
			var d part.StartData
			if json.Unmarshal(e.Data, &d) == nil && d.Model != "" {
				return d.Model
			}
			break
		}
	}
	return fallback
}

// replayInput is a call's input as the next request tells it: {} where the
// model sent no JSON object, and no live frame tag in any string.
func replayInput(input json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil || fields == nil {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(planning.EscapeTags(string(input)))
}

// resultText is what a call came to, as the model is told.
func resultText(p *part.Part) (text string, failed bool) {
	t := p.Tool
	switch p.State {
	case part.StateOutputAvailable:
		if t.Preliminary {
			return interrupted("The run was interrupted while this tool ran; its outcome is unknown."), true
		}
		return outputText(t.Name, t.Output), false
	case part.StateOutputError, part.StateCancelled:
		return string(parseError(t.ErrorText).JSON()), true
	case part.StateOutputDenied:
		code, message := codeDenied, "The user denied this call; it did not run."
		if t.Approved == nil || *t.Approved { // the run ended first
			code, message = codeInterrupted, "This call was not decided and did not run."
		}
		if t.Reason != "" {
			message += " Reason: " + t.Reason
		}
		return string((&planning.ToolError{Code: code, Message: message}).JSON()), true
	case part.StateInputStreaming:
		return interrupted("The run was interrupted before this call was complete; it did not run."), true
	}
	if t.ActedAt.IsZero() {
		return interrupted("The run was interrupted before this tool started."), true
	}
	return interrupted("The run was interrupted while this tool ran; its outcome is unknown."), true
}

func interrupted(message string) string {
	return string((&planning.ToolError{Code: codeInterrupted, Message: message}).JSON())
}

// outputText is an output as text: a JSON string's content, the message of a
// checklist call, else the JSON itself.
func outputText(tool string, output json.RawMessage) string {
	var s string
	if json.Unmarshal(output, &s) == nil {
		return s
	}
	if planning.IsPlannerTool(tool) {
		var reply struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(output, &reply) == nil && reply.Message != "" {
			return reply.Message
		}
	}
	return string(output)
}
