package anthropic

import (
	"encoding/json"
	"slices"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
	"stagefold/internal/part"
)

// event is one event of a message stream, with raw fields where compatible
// servers differ.
type event struct {
	Type    string          `json:"type"`
	Index   json.RawMessage `json:"index"`
	Message struct {
		Usage *tokens `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		ID        json.RawMessage `json:"id"`
		Name      json.RawMessage `json:"name"`
		Input     json.RawMessage `json:"input"`
		Text      json.RawMessage `json:"text"`
		Thinking  json.RawMessage `json:"thinking"`
		Signature json.RawMessage `json:"signature"`
		Data      json.RawMessage `json:"data"`
	} `json:"content_block"`
	Delta struct {
		Type       string          `json:"type"`
		Text       json.RawMessage `json:"text"`
		Thinking   json.RawMessage `json:"thinking"`
		Signature  json.RawMessage `json:"signature"`
		JSON       json.RawMessage `json:"partial_json"`
		StopReason json.RawMessage `json:"stop_reason"`
		Citation   struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"citation"`
	} `json:"delta"`
	Usage *tokens `json:"usage"`
}

// block is one content block of the answer.
type block struct {
	index     int
	number    int // its place in the answer, never reused
	kind      string
	join      provider.Joiner
	signature string
	redacted  string
	input     []byte // of a call that came whole in its start
	grown     bool   // a delta with arguments came
	queue     []agent.Chunk
	stopped   bool
}

// decoder turns the events of one answer into the agent's chunks. Blocks are
// told one after the other, in the order of their starts, also where the
// provider interleaves them: a signature must stay with its own thinking.
type decoder struct {
	blocks []*block
	head   int // blocks[:head] are told
	calls  provider.Calls
	cited  []agent.Chunk

	reason  string // the stop reason, once it came
	stopped bool   // message_stop came
	usage   part.Usage
	out     []agent.Chunk
}

// finished: the message reached its own end.
func (d *decoder) finished() bool { return d.stopped }

// take decodes one event.
func (d *decoder) take(raw string) []agent.Chunk {
	var e event
	_ = json.Unmarshal([]byte(raw), &e) // what does not decode says nothing
	switch e.Type {
	case "message_start":
		d.countUsage(e.Message.Usage)
	case "content_block_start":
		d.start(e)
	case "content_block_delta":
		d.delta(e)
	case "content_block_stop":
		index, _ := provider.Index(e.Index)
		if b := d.find(index); b != nil {
			d.stop(b)
		}
	case "message_delta":
		if reason := provider.Word(e.Delta.StopReason); reason != "" {
			d.reason = reason
		}
		d.countUsage(e.Usage)
	case "message_stop":
		d.stopped = true
	}
	out := d.out
	d.out = nil
	if len(out) == 0 {
		out = []agent.Chunk{{Kind: agent.ChunkAlive}}
	}
	return out
}

// find is the newest block of the index that is not stopped.
func (d *decoder) find(index int) *block {
	for _, b := range slices.Backward(d.blocks) {
		if b.index == index && !b.stopped {
			return b
		}
	}
	return nil
}

func (d *decoder) open(index int, kind string) *block {
	if b := d.find(index); b != nil {
		d.stop(b)
	}
	b := &block{index: index, number: len(d.blocks), kind: kind}
	d.blocks = append(d.blocks, b)
	return b
}

func (d *decoder) start(e event) {
	index, _ := provider.Index(e.Index)
	b := d.open(index, e.Block.Type)
	switch b.kind {
	case "text":
		d.grow(b, agent.ChunkText, e.Block.Text)
	case "thinking":
		d.grow(b, agent.ChunkReasoning, e.Block.Thinking)
		b.signature = provider.Word(e.Block.Signature)
	case "redacted_thinking":
		b.redacted = provider.Word(e.Block.Data)
	case "tool_use":
		if input := provider.Arguments(e.Block.Input); string(input) != "{}" {
			b.input = input
		}
		d.tell(b, d.calls.Add(provider.Fragment{
			Index: b.number, HasIndex: true, ID: provider.Word(e.Block.ID), Name: provider.Word(e.Block.Name),
		})...)
	}
}

func (d *decoder) delta(e event) {
	index, _ := provider.Index(e.Index)
	b := d.find(index)
	if b == nil && e.Delta.Type == "text_delta" {
		b = d.open(index, "text")
	}
	switch {
	case e.Delta.Type == "input_json_delta" && (b == nil || b.kind != "tool_use" && b.kind != "server_tool_use"):
		d.out = append(d.out, agent.Chunk{
			Kind: agent.ChunkToolBroken, Text: "a fragment of arguments belongs to no open tool call",
		})
	case b == nil:
	case e.Delta.Type == "text_delta" && b.kind == "text":
		d.grow(b, agent.ChunkText, e.Delta.Text)
	case e.Delta.Type == "thinking_delta" && b.kind == "thinking":
		d.grow(b, agent.ChunkReasoning, e.Delta.Thinking)
	case e.Delta.Type == "signature_delta" && b.kind == "thinking":
		b.signature += provider.Word(e.Delta.Signature)
	case e.Delta.Type == "input_json_delta" && b.kind == "tool_use":
		if args := provider.Arguments(e.Delta.JSON); len(args) > 0 {
			b.grown = true
			d.tell(b, d.calls.Add(provider.Fragment{Index: b.number, HasIndex: true, Args: args})...)
		}
	case e.Delta.Type == "citations_delta":
		d.cite(e.Delta.Citation.URL, e.Delta.Citation.Title)
	}
}

// stop ends a block; what waited behind it is told.
func (d *decoder) stop(b *block) {
	b.stopped = true
	d.tell(b, d.last(b)...)
	for d.head < len(d.blocks) && d.blocks[d.head].stopped {
		d.head++
		if d.head < len(d.blocks) {
			next := d.blocks[d.head]
			d.out = append(d.out, next.queue...)
			next.queue = nil
		}
	}
}

// last is what the end of a block says.
func (d *decoder) last(b *block) []agent.Chunk {
	var out []agent.Chunk
	switch b.kind {
	case "text":
		if text := b.join.Flush(); text != "" {
			out = append(out, agent.Chunk{Kind: agent.ChunkText, Text: text})
		}
	case "thinking", "redacted_thinking":
		if text := b.join.Flush(); text != "" {
			out = append(out, agent.Chunk{Kind: agent.ChunkReasoning, Text: text})
		}
		out = append(out, agent.Chunk{Kind: agent.ChunkReasoningEnd, Metadata: b.metadata()})
	case "tool_use":
		if !b.grown && len(b.input) > 0 {
			out = d.calls.Add(provider.Fragment{Index: b.number, HasIndex: true, Args: b.input})
		}
	}
	return out
}

func (d *decoder) grow(b *block, kind agent.ChunkKind, raw json.RawMessage) {
	bytes, _ := provider.Bytes(raw)
	if text := b.join.Add(bytes); text != "" {
		d.tell(b, agent.Chunk{Kind: kind, Text: text})
	}
}

// tell says it at once where it is the block's turn.
func (d *decoder) tell(b *block, chunks ...agent.Chunk) {
	if d.head < len(d.blocks) && d.blocks[d.head] == b {
		d.out = append(d.out, chunks...)
		return
	}
	b.queue = append(b.queue, chunks...)
}

// cite keeps a source for the end of the answer: told at once it would cut the
// text in two.
func (d *decoder) cite(url, title string) {
	known := slices.ContainsFunc(d.cited, func(c agent.Chunk) bool { return c.URL == url })
	if url != "" && !known {
		d.cited = append(d.cited, agent.Chunk{Kind: agent.ChunkSource, URL: url, Title: title})
	}
}

// end closes the answer. Only message_stop after a stop reason is its proper
// end; err, or the plain end of the stream, before that is a failure.
func (d *decoder) end(err error) ([]agent.Chunk, error) {
	for _, b := range d.blocks {
		if !b.stopped {
			d.stop(b)
		}
	}
	out := d.out
	d.out = nil
	switch {
	case d.stopped && d.reason != "":
	case err != nil:
		return out, err
	case d.stopped:
		return out, provider.Broken("the provider's message ended without a stop reason")
	default:
		return out, provider.Broken("the provider's stream ended before the answer did: no message_stop came")
	}
	reason := finishReason(d.reason)
	out = append(out, d.cited...)
	out = append(out, d.calls.End(reason)...)
	return append(out, agent.Chunk{
		Kind: agent.ChunkFinish, Reason: reason, Usage: d.usage, Pause: d.reason == "pause_turn",
	}), nil
}

// finishReason maps the provider's word. One that is not known is a stop.
func finishReason(word string) part.FinishReason {
	switch word {
	case "tool_use":
		return part.ReasonToolCalls
	case "max_tokens", "model_context_window_exceeded":
		return part.ReasonLength
	case "refusal":
		return part.ReasonContentFilter
	}
	return part.ReasonStop
}
