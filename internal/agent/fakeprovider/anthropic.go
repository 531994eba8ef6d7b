package fakeprovider

import (
	"fmt"
	"slices"
	"strings"
)

// anthropicState is how far a message stream came. What a script plainly leaves
// out, the start of the message and the stops of blocks, is added.
type anthropicState struct {
	started bool
	open    []int
	rest    []Step
}

// AStart is message_start; the numbers are the input, cache read and cache
// write tokens.
func AStart(input, cacheRead, cacheWrite int) Step {
	return anthropic(No, func(s *anthropicState) string {
		s.started = true
		return event("message_start", fmt.Sprintf(
			`"message":{"id":"msg_1","type":"message","role":"assistant","model":"fake","content":[],"stop_reason":null,"stop_sequence":null,`+
				`"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":1}}`,
			input, cacheRead, cacheWrite))
	})
}

// APing is a ping.
func APing() Step { return anthropic(No, func(*anthropicState) string { return event("ping", "") }) }

// AText is a text block's start, unless it is open, and its deltas.
func AText(i int, texts ...string) Step {
	return anthropic(i, func(s *anthropicState) string {
		out := s.begin(i, `{"type":"text","text":""}`)
		for _, t := range texts {
			out += delta(i, `{"type":"text_delta","text":`+toJSON(t)+`}`)
		}
		return out
	})
}

// AThink is a thinking block's start, unless it is open, its text and, unless
// empty, its signature.
func AThink(i int, text, signature string) Step {
	step := anthropic(i, func(s *anthropicState) string {
		out := s.begin(i, `{"type":"thinking","thinking":"","signature":""}`)
		if text != "" {
			out += delta(i, `{"type":"thinking_delta","thinking":`+toJSON(text)+`}`)
		}
		if signature != "" {
			out += delta(i, `{"type":"signature_delta","signature":`+toJSON(signature)+`}`)
		}
		return out
	})
	step.think, step.sign = text, signature
	return step
}

// signatures are what a script's signatures sign.
func signatures(steps []Step) map[string]string {
	signed, texts := map[string]string{}, map[int]string{}
	for _, s := range steps {
		if s.kind != anthropicKind || s.think == "" && s.sign == "" {
			continue
		}
		texts[s.block] += s.think
		if s.sign != "" {
			signed[s.sign] = texts[s.block]
			delete(texts, s.block)
		}
	}
	return signed
}

// ARedacted is the start of a block with redacted thinking.
func ARedacted(i int, data string) Step {
	return anthropic(i, func(s *anthropicState) string {
		return s.begin(i, `{"type":"redacted_thinking","data":`+toJSON(data)+`}`)
	})
}

// ATool is the start of a tool call.
func ATool(i int, id, name string) Step { return AToolInput(i, id, name, `{}`) }

// AToolInput is the start of a tool call with the input in it.
func AToolInput(i int, id, name, input string) Step {
	return anthropic(i, func(s *anthropicState) string {
		return s.begin(i, `{"type":"tool_use","id":`+toJSON(id)+`,"name":`+toJSON(name)+`,"input":`+input+`}`)
	})
}

// AJson is one fragment of a tool call's arguments.
func AJson(i int, fragment string) Step {
	return anthropic(i, func(*anthropicState) string {
		return delta(i, `{"type":"input_json_delta","partial_json":`+toJSON(fragment)+`}`)
	})
}

// AStop is a block's stop.
func AStop(i int) Step {
	return anthropic(No, func(s *anthropicState) string { return s.stop(i) })
}

// AEnd is message_delta with the stop reason and, if given, the output tokens,
// then message_stop.
func AEnd(reason string, output ...int) Step {
	return anthropic(No, func(s *anthropicState) string {
		tokens := 5
		if len(output) > 0 {
			tokens = output[0]
		}
		out := s.start()
		for len(s.open) > 0 {
			out += s.stop(s.open[0])
		}
		return out + event("message_delta", fmt.Sprintf(
			`"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}`, toJSON(reason), tokens)) +
			event("message_stop", "")
	})
}

// AErr is an error in the stream.
func AErr(kind, message string) Step {
	return anthropic(No, func(*anthropicState) string {
		return event("error", `"error":{"type":`+toJSON(kind)+`,"message":`+toJSON(message)+`}`)
	})
}

func anthropic(block int, make func(*anthropicState) string) Step {
	return Step{kind: anthropicKind, block: block, make: make}
}

func (s *anthropicState) start() string {
	if s.started {
		return ""
	}
	return AStart(10, 0, 0).make(s)
}

// begin starts block i, after the stops that the script leaves out.
func (s *anthropicState) begin(i int, block string) string {
	out := s.start()
	if slices.Contains(s.open, i) {
		return out
	}
	for _, open := range slices.Clone(s.open) {
		if !s.comesBack(open) {
			out += s.stop(open)
		}
	}
	s.open = append(s.open, i)
	return out + event("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, i, block))
}

// comesBack: the script goes on with block i itself.
func (s *anthropicState) comesBack(i int) bool {
	for _, step := range s.rest {
		if step.kind == anthropicKind && step.block == i {
			return true
		}
	}
	return false
}

func (s *anthropicState) stop(i int) string {
	s.open = slices.DeleteFunc(s.open, func(open int) bool { return open == i })
	return event("content_block_stop", fmt.Sprintf(`"index":%d`, i))
}

func delta(i int, delta string) string {
	return event("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, i, delta))
}

func event(name, fields string) string {
	return "event: " + name + "\ndata: {" + strings.TrimSuffix(`"type":`+toJSON(name)+`,`+fields, ",") + "}\n\n"
}
