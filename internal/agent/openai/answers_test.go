package openai

import (
	"strings"

	. "stagefold/internal/agent/fakeprovider"
)

// answer is a stream and what it says.
type answer struct {
	name  string
	steps []Step
	want  string // one line a chunk
	fails string // part of the error's words, for a stream that fails
}

var answers = []answer{
	// Tool calls are built from whatever pieces arrive.
	{name: "two calls without index", steps: []Step{
		C(No, "ca", "read_file", `{"path":"a.txt"}`), C(No, "cb", "read_file", `{"path":"b.txt"}`), F("tool_calls"), D(),
	}, want: `
start ca read_file
delta ca {"path":"a.txt"}
start cb read_file
delta cb {"path":"b.txt"}
end ca {"path":"a.txt"}
end cb {"path":"b.txt"}
finish tool-calls in=0 out=0`},
	{name: "one call, the second fragment without index and id", steps: []Step{
		C(No, "ca", "read_file", `{"pa`), C(No, "-", "-", `th":"a.txt"}`), F("tool_calls"), D(),
	}, want: `
start ca read_file
delta ca {"path":"a.txt"}
end ca {"path":"a.txt"}
finish tool-calls in=0 out=0`},
	{name: "two calls in one frame", steps: []Step{
		Together(Call(No, "ca", "read_file", `{"path":"a.txt"}`), Call(No, "cb", "read_file", `{"path":"b.txt"}`)), F("tool_calls"), D(),
	}, want: `
start ca read_file
delta ca {"path":"a.txt"}
start cb read_file
delta cb {"path":"b.txt"}
end ca {"path":"a.txt"}
end cb {"path":"b.txt"}
finish tool-calls in=0 out=0`},
	{name: "the first call with index, the second without", steps: []Step{
		C(0, "ca", "read_file", `{"path":"a.txt"}`), C(No, "cb", "read_file", `{"path":"b.txt"}`), F("tool_calls"), D(),
	}, want: `
start ca read_file
delta ca {"path":"a.txt"}
start cb read_file
delta cb {"path":"b.txt"}
end ca {"path":"a.txt"}
end cb {"path":"b.txt"}
finish tool-calls in=0 out=0`},
	{name: "fragments of two calls take turns", steps: []Step{
		C(0, "ca", "read_file", ""), C(1, "cb", "read_file", ""), C(1, "-", "-", `{"path":`), C(0, "-", "-", `{"path":"a`),
		C(1, "-", "-", `"b"}`), C(0, "-", "-", `"}`), F("tool_calls"), D(),
	}, want: `
start ca read_file
start cb read_file
delta cb {"path":
delta ca {"path":"a
delta cb "b"}
delta ca "}
end ca {"path":"a"}
end cb {"path":"b"}
finish tool-calls in=0 out=0`},
	{name: "a fragment that could belong to two calls", steps: []Step{
		C(No, "ca", "read_file", `{"pa`), C(No, "cb", "read_file", `{"pa`), C(No, "-", "-", `th":"a.txt"}`), F("tool_calls"), D(),
	}, want: `
start ca read_file
delta ca {"pa
start cb read_file
delta cb {"pa
broken a fragment without index and id could belong to more than one tool call
end ca {"pa
end cb {"pa
finish tool-calls in=0 out=0`},
	{name: "every call has the index 0", steps: []Step{
		C(0, "ca", "read_file", `{"path":"a"}`), C(0, "cb", "read_file", `{"path":"b"}`), F("stop"), D(),
	}, want: `
start ca read_file
delta ca {"path":"a"}
start cb read_file
delta cb {"path":"b"}
end ca {"path":"a"}
end cb {"path":"b"}
finish stop in=0 out=0`},
	{name: "every fragment has a new id", steps: []Step{
		C(0, "x1", "read_file", `{"pa`), C(0, "x2", "-", `th":`), C(0, "x3", "-", `"a"}`), F("tool_calls"), D(),
	}, want: `
start x1 read_file
delta x1 {"path":"a"}
end x1 {"path":"a"}
finish tool-calls in=0 out=0`},
	{name: "two calls with the same id", steps: []Step{
		C(0, "c", "read_file", `{"path":"a"}`), C(1, "c", "read_file", `{"path":"b"}`), C(No, "c", "read_file", `{"path":"d"}`), F("tool_calls"), D(),
	}, want: `
start c read_file
delta c {"path":"a"}
start c-2 read_file
delta c-2 {"path":"b"}
start c-3 read_file
delta c-3 {"path":"d"}
end c {"path":"a"}
end c-2 {"path":"b"}
end c-3 {"path":"d"}
finish tool-calls in=0 out=0`},
	{name: "a call told twice", steps: []Step{
		C(0, "c", "read_file", `{"path":"a"}`), C(0, "c", "read_file", `{"path":"a"}`), F("tool_calls"), D(),
	}, want: `
start c read_file
delta c {"path":"a"}
end c {"path":"a"}
finish tool-calls in=0 out=0`},
	{name: "no ids at all", steps: []Step{
		C(No, "-", "read_file", `{"path":"a"}`), C(No, "-", "read_file", `{"path":"b"}`), F("tool_calls"), D(),
	}, want: `
start call_1 read_file
delta call_1 {"path":"a"}
start call_2 read_file
delta call_2 {"path":"b"}
end call_1 {"path":"a"}
end call_2 {"path":"b"}
finish tool-calls in=0 out=0`},
	{name: "id, name and arguments one by one", steps: []Step{
		C(0, "c", "-", "-"), C(0, "-", "read_file", "-"), C(0, "-", "-", `{"path":"a"}`), F("tool_calls"), D(),
	}, want: `
start c read_file
delta c {"path":"a"}
end c {"path":"a"}
finish tool-calls in=0 out=0`},
	{name: "arguments before the name", steps: []Step{
		C(0, "-", "-", `{"path":`), C(0, "c", "read_file", `"a"}`), F("tool_calls"), D(),
	}, want: `
start c read_file
delta c {"path":"a"}
end c {"path":"a"}
finish tool-calls in=0 out=0`},
	{name: "a call without a name", steps: []Step{
		C(0, "c", "-", `{"path":"a"}`), F("tool_calls"), D(),
	}, want: `
broken a tool call came without a name
finish tool-calls in=0 out=0`},
	{name: "a fragment of another call's name", steps: []Step{
		C(0, "c", "read_file", ``), C(0, "-", "list_files", `{}`), F("tool_calls"), D(),
	}, want: `
start c read_file
broken a fragment of the call of read_file names list_files
end c ` + `
finish tool-calls in=0 out=0`},
	{name: "a fragment after the call was whole", steps: []Step{
		C(No, "c", "read_file", `{}`), C(No, "-", "-", `{"path":"b"}`), F("tool_calls"), D(),
	}, want: `
start c read_file
delta c {}
broken a fragment without index and id belongs to no tool call
end c {}
finish tool-calls in=0 out=0`},
	{name: "an index that no call has", steps: []Step{
		C(0, "c", "read_file", `{"a`), C(7, "-", "-", `":1}`), F("tool_calls"), D(),
	}, want: `
start c read_file
delta c {"a
broken a fragment has the index 7, which no tool call has
end c {"a
finish tool-calls in=0 out=0`},
	{name: "arguments as an object, absent, null and empty", steps: []Step{
		Delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read_file","arguments":{"path": "a<b"}}}]}`),
		Delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"list_files"}}]}`),
		Delta(`{"tool_calls":[{"index":2,"id":"c","function":{"name":"list_files","arguments":null}}]}`),
		C(3, "d", "list_files", ""), F("tool_calls"), D(),
	}, want: `
start a read_file
delta a {"path":"a<b"}
start b list_files
start c list_files
start d list_files
end a {"path":"a<b"}
end b ` + `
end c ` + `
end d ` + `
finish tool-calls in=0 out=0`},
	{name: "numbers as ids, indexes as strings, no wrapper, one call not in a list", steps: []Step{
		Delta(`{"tool_calls":[{"index":"0","id":17,"function":{"name":"read_file","arguments":"{}"}}]}`),
		Delta(`{"tool_calls":{"index":1,"id":"b","name":"list_files","arguments":"{}"}}`), F("tool_calls"), D(),
	}, want: `
start 17 read_file
delta 17 {}
start b list_files
delta b {}
end 17 {}
end b {}
finish tool-calls in=0 out=0`},
	{name: "the older function_call", steps: []Step{
		Delta(`{"function_call":{"name":"read_file","arguments":"{\"pa"}}`), Delta(`{"function_call":{"arguments":"th\":1}"}}`), F("function_call"), D(),
	}, want: `
start call_1 read_file
delta call_1 {"path":1}
end call_1 {"path":1}
finish tool-calls in=0 out=0`},

	// The content decides, the reason refines: both are told as they came.
	{name: "calls and stop", steps: []Step{
		T("I will list the folder."), C(0, "c1", "list_dir", `{"path":"."}`), F("stop"), D(),
	}, want: `
text "I will list the folder."
start c1 list_dir
delta c1 {"path":"."}
end c1 {"path":"."}
finish stop in=0 out=0`},
	{name: "a call cut by the output limit has no end", steps: []Step{
		C(0, "c1", "list_dir", `{"path":"."}`), C(1, "c2", "write_file", `{"path":"r.md","content":"# Repo`), C(2, "c3", "list_dir", ""), F("length"), D(),
	}, want: `
start c1 list_dir
delta c1 {"path":"."}
start c2 write_file
delta c2 {"path":"r.md","content":"# Repo
start c3 list_dir
end c1 {"path":"."}
finish length in=0 out=0`},
	{name: "arguments that are no JSON are told as they are", steps: []Step{
		C(0, "c1", "list_dir", `{"path":"."]}`), F("tool_calls"), D(),
	}, want: `
start c1 list_dir
delta c1 {"path":"."]}
end c1 {"path":"."]}
finish tool-calls in=0 out=0`},
	{name: "tool_calls without a call", steps: []Step{T("Now."), F("tool_calls"), D()}, want: `
text "Now."
finish tool-calls in=0 out=0`},
	{name: "content filter", steps: []Step{T("Some"), F("content_filter"), D()}, want: `
text "Some"
finish content-filter in=0 out=0`},
	{name: "refusal", steps: []Step{Delta(`{"refusal":"I can"}`), Delta(`{"refusal":"not."}`), F("stop"), D()}, want: `
text "I cannot."
finish content-filter in=0 out=0`},
	{name: "an empty answer", steps: []Step{F("stop"), D()}, want: `finish stop in=0 out=0`},
	{name: "an unknown reason", steps: []Step{T("x"), F("eos_token"), D()}, want: `
text "x"
finish stop in=0 out=0`},

	// Only a stream that reached its own proper end is finished.
	{name: "an error in the stream", steps: []Step{
		Raw(`data: {"error":{"message":"quota used up","code":"insufficient_quota"}}`), D(),
	}, fails: "request: quota used up (insufficient_quota)"},
	{name: "an error as a string", steps: []Step{Raw(`data: {"error":"backend gone"}`), EOF()}, fails: "request: backend gone"},
	{name: "an error after text", steps: []Step{
		T("Half"), Raw(`data: {"error":{"message":"Overloaded","type":"overloaded_error"}}`),
	}, want: `text "Half"`, fails: "overloaded, retryable: Overloaded (overloaded_error)"},
	{name: "an error named by its event", steps: []Step{
		T("Half"), Raw("event: error\ndata: {\"message\":\"went away\",\"code\":503}"),
	}, want: `text "Half"`, fails: "server, retryable: went away (503)"},
	{name: "an error of the older kind", steps: []Step{
		Raw(`data: {"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}`),
	}, fails: "context: This model's maximum context length is 4096 tokens (400)"},
	{name: "an error with detail", steps: []Step{Raw(`data: {"detail":[{"msg":"field required","type":"missing"}]}`)}, fails: "request: field required"},
	{name: "an error in a list", steps: []Step{
		Raw(`data: [{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED"}}]`),
	}, fails: "overloaded, retryable: Slow down (RESOURCE_EXHAUSTED)"},
	{name: "an error in the choice", steps: []Step{
		T("Half"), Raw(`data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"Provider returned error"}}]}`), D(),
	}, want: `text "Half"`, fails: "server, retryable: Provider returned error (502)"},
	{name: "an error without data field", steps: []Step{
		T("Half"), Bytes(`{"error":{"message":"worker died","type":"server_error"}}` + "\n"),
	}, want: `text "Half"`, fails: "server, retryable: worker died (server_error)"},
	{name: "the reason error", steps: []Step{T("Half"), F("error"), D()}, want: `text "Half"`, fails: "broken, retryable: the provider gave up"},
	{name: "an error after the finish reason", steps: []Step{
		T("All"), F("stop"), Raw(`data: {"error":{"message":"billing failed"}}`),
	}, want: `text "All"`, fails: "request: billing failed"},
	{name: "cut without reason", steps: []Step{T("The three causes are: first,"), EOF()},
		want: `text "The three causes are: first,"`, fails: "broken, retryable: the provider's stream ended before the answer did"},
	{name: "DONE without reason", steps: []Step{T("The three"), D()},
		want: `text "The three"`, fails: "broken, retryable: the provider's stream ended before the answer did"},
	{name: "nothing at all", steps: []Step{Bytes("")}, fails: "broken, retryable: the provider's stream ended before the answer did"},
	{name: "cut inside a frame", steps: []Step{T("One"), Bytes(`data: {"choices":[{"delta":{"content":"tw`)},
		want: `text "One"`, fails: "broken, retryable: the provider sent a frame that is not a JSON object"},
	{name: "a call in a cut stream has no end", steps: []Step{C(0, "c", "read_file", `{"path":"a"}`), EOF()},
		want: "start c read_file\n" + `delta c {"path":"a"}`, fails: "broken, retryable: the provider's stream ended"},
	{name: "no DONE is a good end", steps: []Step{T("Fine."), F("stop"), EOF()}, want: `
text "Fine."
finish stop in=0 out=0`},
	{name: "cut after the reason", steps: []Step{T("Fine."), F("stop"), Bytes("data: [DO")}, want: `
text "Fine."
finish stop in=0 out=0`},
	{name: "the last frame lacks its blank line", steps: []Step{T("Fine."), Bytes(strings.TrimSpace(string(Wire(F("stop")))))}, want: `
text "Fine."
finish stop in=0 out=0`},

	// From bytes to parts: nothing that the provider meant is lost.
	{name: "letters of all sizes", steps: []Step{T("naive-café 北京 🙂"), F("stop"), D()}, want: `
text "naive-café 北京 🙂"
finish stop in=0 out=0`},
	{name: "a character cut between two frames", steps: []Step{
		Raw("data: {\"choices\":[{\"delta\":{\"content\":\"caf\xc3\"}}]}"), Raw("data: {\"choices\":[{\"delta\":{\"content\":\"\xa9 \xf0\x9f\"}}]}"),
		Raw("data: {\"choices\":[{\"delta\":{\"content\":\"\x99\x82\"}}]}"), F("stop"), D(),
	}, want: `
text "café 🙂"
finish stop in=0 out=0`},
	{name: "a surrogate pair cut between two frames", steps: []Step{
		Delta(`{"content":"a\ud83d"}`), Delta(`{"content":"\ude42b"}`), Delta(`{"content":"\ud83d\ude42"}`),
		C(0, "c", "f", "-"), Delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"t\":\"\ud83d"}}]}`),
		Delta(`{"tool_calls":[{"index":0,"function":{"arguments":"\ude42\"}"}}]}`), F("stop"), D(),
	}, want: `
text "a🙂b🙂"
start c f
delta c {"t":"🙂"}
end c {"t":"🙂"}
finish stop in=0 out=0`},
	{name: "half a character at the end", steps: []Step{Delta(`{"content":"a\ud83d"}`), F("stop"), D()}, want: `
text "a�"
finish stop in=0 out=0`},
	{name: "comments, no space, event names, unknown fields", steps: []Step{
		Bytes(": warming up\n\n"), Bytes(strings.Replace(string(Wire(T("one "))), "data: ", "data:", 1)), Bytes(": still here\n"),
		Bytes("event: message\nid: 7\nretry: 100\nnonsense\n" + string(Wire(T("two")))), F("stop"), D(),
	}, want: `
text "one two"
finish stop in=0 out=0`},
	{name: "lines end in CR LF", steps: []Step{Bytes(strings.ReplaceAll(string(Wire(T("one"), F("stop"), D())), "\n", "\r\n"))}, want: `
text "one"
finish stop in=0 out=0`},
	{name: "lines end in CR", steps: []Step{Bytes(strings.ReplaceAll(string(Wire(T("one"), F("stop"), D())), "\n", "\r"))}, want: `
text "one"
finish stop in=0 out=0`},
	{name: "a byte order mark", steps: []Step{Bytes("\ufeff"), T("one"), F("stop"), D()}, want: `
text "one"
finish stop in=0 out=0`},
	{name: "a frame in several data lines", steps: []Step{
		Raw("data: {\"choices\":\ndata: [{\"delta\":\ndata:{\"content\":\"one\"}}]}"), F("stop"), D(),
	}, want: `
text "one"
finish stop in=0 out=0`},
	{name: "error null in every frame", steps: []Step{
		Raw(`data: {"choices":[{"delta":{"content":"one"}}],"error":null}`), Raw(`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"error":null}`), D(),
	}, want: `
text "one"
finish stop in=0 out=0`},
	{name: "empty choices first, usage after the reason", steps: []Step{Empty(), T("one"), F("stop"), U(12, 5), D()}, want: `
text "one"
finish stop in=12 out=5`},
	{name: "usage with the reason, again, and empty", steps: []Step{T("one"), FU("stop", 12, 5), U(12, 5), U(0, 0), UJSON("null"), D()}, want: `
text "one"
finish stop in=12 out=5`},
	{name: "usage grows in every chunk", steps: []Step{
		Raw(`data: {"choices":[{"delta":{"content":"one"}}],"usage":{"prompt_tokens":12,"completion_tokens":1}}`), FU("stop", 12, 2), D(),
	}, want: `
text "one"
finish stop in=12 out=2`},
	{name: "usage with cache and reasoning", steps: []Step{T("one"), F("stop"),
		UJSON(`{"prompt_tokens":100,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}`), D(),
	}, want: `
text "one"
finish stop in=20 out=30 read=80 write=0 reasoning=20`},
	{name: "usage in the choice", steps: []Step{T("one"), Raw(`data: {"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3.0,"completion_tokens":"4"}}]}`), D()}, want: `
text "one"
finish stop in=3 out=4`},
	{name: "a second choice is not ours", steps: []Step{
		Raw(`data: {"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"one"}}]}`), F("stop"), D(),
	}, want: `
text "one"
finish stop in=0 out=0`},
	{name: "sources come after the text", steps: []Step{
		Delta(`{"content":"one ","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/","title":"A"}}]}`), T("two"),
		Raw(`data: {"choices":[],"citations":["https://a.example/","https://b.example/"]}`), F("stop"), D(),
	}, want: `
text "one two"
source https://a.example/ A
source https://b.example/
finish stop in=0 out=0`},

	// Reasoning appears once and never inside the answer.
	{name: "reasoning_content", steps: []Step{R("why"), T("so"), F("stop"), D()}, want: `
reasoning "why"
reasoning-end {"openai":{"reasoningField":"reasoning_content"}}
text "so"
finish stop in=0 out=0`},
	{name: "reasoning", steps: []Step{RIn("why", "reasoning"), T("so"), F("stop"), D()}, want: `
reasoning "why"
reasoning-end {"openai":{"reasoningField":"reasoning"}}
text "so"
finish stop in=0 out=0`},
	{name: "both fields equal", steps: []Step{RIn("w", "reasoning", "reasoning_content"), RIn("hy", "reasoning", "reasoning_content"), T("so"), F("stop"), D()}, want: `
reasoning "why"
reasoning-end {"openai":{"reasoningField":"reasoning_content"}}
text "so"
finish stop in=0 out=0`},
	{name: "reasoning before a call", steps: []Step{R("why"), C(0, "c", "f", "{}"), F("tool_calls"), D()}, want: `
reasoning "why"
reasoning-end {"openai":{"reasoningField":"reasoning_content"}}
start c f
delta c {}
end c {}
finish tool-calls in=0 out=0`},
	{name: "a think tag in pieces", steps: []Step{T("<thi"), T("nk>plan A</th"), T("ink>Answer 42"), F("stop"), D()}, want: `
reasoning "plan A"
reasoning-end
text "Answer 42"
finish stop in=0 out=0`},
	{name: "a think tag that never closes", steps: []Step{T("<think>plan A</thi"), F("length"), D()}, want: `
reasoning "plan A</thi"
reasoning-end
finish length in=0 out=0`},
	{name: "half a think tag at the end", steps: []Step{T("a <thin"), F("stop"), D()}, want: `
text "a <thin"
finish stop in=0 out=0`},
	{name: "half a think tag in a cut stream", steps: []Step{T("a <thin")}, want: `text "a <thin"`, fails: "broken"},
	{name: "content as parts", steps: []Step{
		Delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}]}`), Delta(`{"content":[{"type":"text","text":"so"}]}`), F("stop"), D(),
	}, want: `
reasoning "why"
reasoning-end
text "so"
finish stop in=0 out=0`},
}
