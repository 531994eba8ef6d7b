package openai

import (
	"encoding/json"
	"strings"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
	"stagefold/internal/part"
)

// frame is one chunk of a chat completion. Every field is raw, because servers
// of this kind disagree about most types.
type frame struct {
	Choices   json.RawMessage `json:"choices"`
	Usage     json.RawMessage `json:"usage"`
	Citations json.RawMessage `json:"citations"`
	Groq      struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        json.RawMessage `json:"index"`
	Delta        json.RawMessage `json:"delta"`
	FinishReason json.RawMessage `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
	Usage        json.RawMessage `json:"usage"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage `json:"function_call"`
	Annotations      json.RawMessage `json:"annotations"`
}

// decoder turns the chunks of one answer into the agent's.
type decoder struct {
	content   provider.Joiner
	refusal   provider.Joiner
	reasoning [2]provider.Joiner // of reasoning_content and reasoning
	think     thinkFilter
	calls     provider.Calls
	cited     []agent.Chunk

	open    bool   // reasoning was told and not closed
	field   string // the field that the open reasoning came in
	refused bool
	finish  string // the finish reason, once it came
	usage   part.Usage
	out     []agent.Chunk
}

// take decodes one chunk.
func (d *decoder) take(raw string) ([]agent.Chunk, error) {
	var f frame
	_ = json.Unmarshal([]byte(raw), &f) // what does not decode says nothing
	var choices []json.RawMessage
	_ = json.Unmarshal(f.Choices, &choices)
	for _, c := range choices {
		var ch choice
		if json.Unmarshal(c, &ch) != nil {
			continue
		}
		if n, ok := provider.Index(ch.Index); ok && n > 0 {
			continue // only one answer was asked for
		}
		if err := d.choice(ch); err != nil {
			return d.flush(), err
		}
	}
	d.countUsage(f.Usage)
	d.countUsage(f.Groq.Usage)
	d.cite(f.Citations)
	return d.flush(), nil
}

// flush is what was told since the last flush; at least a sign of life.
func (d *decoder) flush() []agent.Chunk {
	out := d.out
	d.out = nil
	if len(out) == 0 {
		out = []agent.Chunk{{Kind: agent.ChunkAlive}}
	}
	return out
}

func (d *decoder) choice(ch choice) error {
	var delta delta
	_ = json.Unmarshal(ch.Delta, &delta)

	d.reasoned(delta)
	d.text(delta.Content)
	if b, ok := provider.Bytes(delta.Refusal); ok && len(b) > 0 {
		d.refused = true
		d.say(d.refusal.Add(b))
	}
	d.call(delta.ToolCalls, false)
	d.call(delta.FunctionCall, true)
	d.annotate(delta.Annotations)
	d.countUsage(ch.Usage)

	reason := provider.Word(ch.FinishReason)
	if len(ch.Error) > 0 && string(ch.Error) != "null" {
		return provider.StreamError(ch.Error)
	}
	switch strings.ToLower(reason) {
	case "", "null":
	case "error", "network_error", "abort", "cancelled", "insufficient_system_resource":
		return provider.Broken("the provider gave up: finish reason " + reason)
	default:
		d.finish = reason
	}
	return nil
}

// reasoned tells reasoning, which comes in one of two fields or equal in both.
func (d *decoder) reasoned(delta delta) {
	first, _ := provider.Bytes(delta.ReasoningContent)
	second, _ := provider.Bytes(delta.Reasoning)
	if len(first) > 0 {
		d.tellReasoning("reasoning_content", d.reasoning[0].Add(first))
	}
	if len(second) > 0 && string(first) != string(second) {
		d.tellReasoning("reasoning", d.reasoning[1].Add(second))
	}
}

// tellReasoning tells reasoning text; field is "" for text between think tags.
func (d *decoder) tellReasoning(field, text string) {
	if text == "" {
		return
	}
	d.open, d.field = true, field
	d.out = append(d.out, agent.Chunk{Kind: agent.ChunkReasoning, Text: text})
}

// endReasoning closes the open reasoning. Its metadata names the field, so that
// the next request can give it back in the same one.
func (d *decoder) endReasoning() {
	if !d.open {
		return
	}
	d.open = false
	end := agent.Chunk{Kind: agent.ChunkReasoningEnd}
	if d.field != "" {
		end.Metadata, _ = json.Marshal(metadata{reasoningField{d.field}})
	}
	d.out = append(d.out, end)
}

// text tells content: a string, or a list of parts as some servers send it.
func (d *decoder) text(raw json.RawMessage) {
	if b, ok := provider.Bytes(raw); ok {
		d.sort(d.think.add(d.content.Add(b)))
		return
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		if b, ok := provider.Bytes(p.Text); ok {
			d.sort(d.think.add(d.content.Add(b)))
		}
		var inner []struct {
			Text json.RawMessage `json:"text"`
		}
		if b, ok := provider.Bytes(p.Thinking); ok {
			d.tellReasoning("", d.reasoning[0].Add(b))
		} else if json.Unmarshal(p.Thinking, &inner) == nil {
			for _, in := range inner {
				b, _ := provider.Bytes(in.Text)
				d.tellReasoning("", d.reasoning[0].Add(b))
			}
		}
	}
}

func (d *decoder) sort(pieces []piece) {
	for _, p := range pieces {
		if p.reasoning {
			d.tellReasoning("", string(p.text))
		} else {
			d.say(string(p.text))
		}
	}
}

func (d *decoder) say(text string) {
	if text == "" {
		return
	}
	d.endReasoning()
	d.out = append(d.out, agent.Chunk{Kind: agent.ChunkText, Text: text})
}

// call places fragments of tool calls: a list, one alone, or the older single
// function_call.
func (d *decoder) call(raw json.RawMessage, legacy bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	type function struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	type fragment struct {
		Index    json.RawMessage `json:"index"`
		ID       json.RawMessage `json:"id"`
		Function *function       `json:"function"`
		function                 // some servers leave the wrapper out
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		var f fragment
		if json.Unmarshal(item, &f) != nil {
			continue
		}
		if f.Function == nil {
			f.Function = &f.function
		}
		out := provider.Fragment{
			ID: provider.Word(f.ID), Name: provider.Word(f.Function.Name), Args: provider.Arguments(f.Function.Arguments),
		}
		out.Index, out.HasIndex = provider.Index(f.Index)
		if legacy {
			out.Index, out.HasIndex = 0, true
		}
		if told := d.calls.Add(out); len(told) > 0 {
			d.endReasoning()
			d.out = append(d.out, told...)
		}
	}
}

// end closes the answer. Only a finish reason is its proper end: err, or the
// plain end of the stream, before one came is a failure. After it the stream
// may break, but not report an error.
func (d *decoder) end(err error) ([]agent.Chunk, error) {
	d.sort(d.think.add(d.content.Flush()))
	d.sort(d.think.flush())
	d.say(d.refusal.Flush())
	for i := range d.reasoning {
		d.tellReasoning(d.field, d.reasoning[i].Flush())
	}
	d.endReasoning()
	if d.finish == "" && err == nil {
		err = provider.Broken("the provider's stream ended before the answer did: no finish reason came")
	}
	if d.finish != "" && cut(err) {
		err = nil
	}
	if err != nil {
		out := d.out
		d.out = nil
		return out, err
	}
	reason := finishReason(d.finish)
	if d.refused && reason == part.ReasonStop {
		reason = part.ReasonContentFilter
	}
	d.out = append(d.out, d.cited...)
	d.out = append(d.out, d.calls.End(reason)...)
	d.out = append(d.out, agent.Chunk{Kind: agent.ChunkFinish, Reason: reason, Usage: d.usage})
	return d.flush(), nil
}

// cut: the stream broke or fell silent, but reported no error.
func cut(err error) bool {
	p, ok := agent.AsProviderError(err)
	return ok && (p.Kind == agent.KindBroken || p.Kind == agent.KindSilence)
}

// finished: the provider named a finish reason; only usage can still come.
func (d *decoder) finished() bool { return d.finish != "" }

// finishReason maps the provider's word. One that is not known is a stop.
func finishReason(word string) part.FinishReason {
	switch strings.ToLower(word) {
	case "tool_calls", "tool_call", "function_call", "tool_use":
		return part.ReasonToolCalls
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return part.ReasonLength
	case "content_filter", "safety", "refusal", "sensitive", "recitation", "blocklist", "prohibited_content":
		return part.ReasonContentFilter
	}
	return part.ReasonStop
}
