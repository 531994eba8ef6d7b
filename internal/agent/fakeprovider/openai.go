package fakeprovider

import (
	"encoding/json"
	"fmt"
	"strings"
)

// No is an index that is absent; "-" is a text that is absent.
const No = -1

// T is text of the answer.
func T(text string) Step { return field("content", text) }

// R is reasoning, in the field reasoning_content.
func R(text string) Step { return field("reasoning_content", text) }

// RIn is reasoning in another field, or equal in several.
func RIn(text string, fields ...string) Step {
	delta := map[string]string{}
	for _, f := range fields {
		delta[f] = text
	}
	return Delta(toJSON(delta))
}

// C is one fragment of a tool call.
func C(index int, id, name, args string) Step { return Together(Call(index, id, name, args)) }

// Call is a fragment of a tool call as JSON, for Together.
func Call(index int, id, name, args string) string {
	call, function := map[string]any{}, map[string]any{}
	if index != No {
		call["index"] = index
	}
	if id != "-" {
		call["id"], call["type"] = id, "function"
	}
	if name != "-" {
		function["name"] = name
	}
	if args != "-" {
		function["arguments"] = args
	}
	if len(function) > 0 {
		call["function"] = function
	}
	return toJSON(call)
}

// Together is one frame with all the fragments.
func Together(calls ...string) Step {
	return Delta(`{"tool_calls":[` + strings.Join(calls, ",") + `]}`)
}

// Delta is a frame with any delta.
func Delta(delta string) Step {
	return chunk(`[{"index":0,"delta":`+delta+`,"finish_reason":null}]`, "")
}

// F is an empty delta with the finish reason.
func F(reason string) Step {
	return chunk(`[{"index":0,"delta":{},"finish_reason":`+toJSON(reason)+`}]`, "")
}

// FU is F with the usage in the same frame.
func FU(reason string, prompt, completion int) Step {
	return chunk(`[{"index":0,"delta":{},"finish_reason":`+toJSON(reason)+`}]`, usage(prompt, completion))
}

// U is a frame with empty choices and the usage.
func U(prompt, completion int) Step { return chunk(`[]`, usage(prompt, completion)) }

// UJSON is a frame with empty choices and any usage.
func UJSON(usage string) Step { return chunk(`[]`, usage) }

// Empty is a frame with empty choices.
func Empty() Step { return chunk(`[]`, "") }

// D is the end mark.
func D() Step { return Raw("data: [DONE]") }

func field(name, text string) Step { return Delta(toJSON(map[string]string{name: text})) }

func usage(prompt, completion int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, prompt+completion)
}

func chunk(choices, usage string) Step {
	doc := `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"fake","choices":` + choices
	if usage != "" {
		doc += `,"usage":` + usage
	}
	return Raw("data: " + doc + "}")
}

// toJSON leaves <, > and & as they are, as the real servers do.
func toJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only values that this package makes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
