package anthropic

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	. "stagefold/internal/agent/fakeprovider"
	"stagefold/internal/agent/provider"
)

// answer is a stream and what it says.
type answer struct {
	name  string
	steps []Step
	want  string // one line a chunk
	fails string // part of the error's words, for a stream that fails
}

const end = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}"

var answers = []answer{
	{name: "text", steps: []Step{AText(0, "Hel", "lo"), AEnd("end_turn")}, want: `
text "Hello"
finish stop in=10 out=5`},
	{name: "thinking, text, two calls", steps: []Step{
		AThink(0, "Which file? ", ""), AThink(0, "a.txt", "sig1"), AText(1, "Checking."),
		ATool(2, "tu1", "run_shell"), AJson(2, `{"command":`), AJson(2, `"ls"}`),
		ATool(3, "tu2", "read_file"), AJson(3, `{"path":"a.txt"}`), AEnd("tool_use", 44),
	}, want: `
reasoning "Which file? a.txt"
reasoning-end {"anthropic":{"signature":"sig1"}}
text "Checking."
start tu1 run_shell
delta tu1 {"command":"ls"}
start tu2 read_file
delta tu2 {"path":"a.txt"}
end tu1 {"command":"ls"}
end tu2 {"path":"a.txt"}
finish tool-calls in=10 out=44`},
	{name: "redacted and unsigned thinking", steps: []Step{ARedacted(0, "xyz="), AThink(1, "hm", ""), AThink(2, "", "sig2"), AText(3, "So."), AEnd("end_turn")}, want: `
reasoning-end {"anthropic":{"redactedData":"xyz="}}
reasoning "hm"
reasoning-end
reasoning-end {"anthropic":{"signature":"sig2"}}
text "So."
finish stop in=10 out=5`},
	{name: "interleaved blocks are told one after the other", steps: []Step{
		AThink(0, "one ", ""), AText(1, "text "), ATool(2, "t", "f"), AJson(2, `{"a":`), AThink(0, "two", "sig"), AJson(2, `1}`), AText(1, "more"), AEnd("tool_use"),
	}, want: `
reasoning "one two"
reasoning-end {"anthropic":{"signature":"sig"}}
text "text more"
start t f
delta t {"a":1}
end t {"a":1}
finish tool-calls in=10 out=5`},
	{name: "a call without arguments", steps: []Step{ATool(0, "t", "f"), AJson(0, ""), AEnd("tool_use")}, want: `
start t f
end t ` + `
finish tool-calls in=10 out=5`},
	{name: "the whole input in the start", steps: []Step{AToolInput(0, "t", "f", `{"a":"<b>"}`), AEnd("tool_use")}, want: `
start t f
delta t {"a":"<b>"}
end t {"a":"<b>"}
finish tool-calls in=10 out=5`},
	{name: "two calls with the same id and one without", steps: []Step{
		ATool(0, "t", "f"), AJson(0, `{"a":1}`), ATool(1, "t", "f"), AJson(1, `{"a":2}`), ATool(2, "", "f"), AEnd("tool_use"),
	}, want: `
start t f
delta t {"a":1}
start t-2 f
delta t-2 {"a":2}
start call_3 f
end t {"a":1}
end t-2 {"a":2}
end call_3 ` + `
finish tool-calls in=10 out=5`},
	{name: "a fragment for no call", steps: []Step{AText(0, "x"), AJson(5, `{"a":1}`), AJson(0, `{}`), AEnd("tool_use")}, want: `
text "x"
broken a fragment of arguments belongs to no open tool call
broken a fragment of arguments belongs to no open tool call
finish tool-calls in=10 out=5`},
	{name: "a call cut by the output limit has no end", steps: []Step{
		ATool(0, "tu1", "write_file"), AJson(0, `{"path":"r.md","con`), AStop(0), AEnd("max_tokens"),
	}, want: `
start tu1 write_file
delta tu1 {"path":"r.md","con
finish length in=10 out=5`},
	{name: "a call and end_turn", steps: []Step{ATool(0, "tu1", "f"), AJson(0, `{}`), AEnd("end_turn")}, want: `
start tu1 f
delta tu1 {}
end tu1 {}
finish stop in=10 out=5`},
	{name: "pause_turn", steps: []Step{AText(0, "Searching."), AEnd("pause_turn")}, want: `
text "Searching."
finish stop in=10 out=5 pause`},
	{name: "refusal", steps: []Step{AText(0, "I"), AEnd("refusal")}, want: `
text "I"
finish content-filter in=10 out=5`},
	{name: "the context is full", steps: []Step{AText(0, "I"), AEnd("model_context_window_exceeded")}, want: `
text "I"
finish length in=10 out=5`},
	{name: "an empty answer", steps: []Step{AEnd("end_turn")}, want: `finish stop in=10 out=5`},
	{name: "usage with cache", steps: []Step{AStart(3, 900, 80), AText(0, "x"), AEnd("end_turn", 7)}, want: `
text "x"
finish stop in=3 out=7 read=900 write=80 reasoning=0`},
	{name: "the last event tells all usage again", steps: []Step{AStart(3, 900, 0), AText(0, "x"),
		Raw(`event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":4,"cache_read_input_tokens":900,"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}`),
		Raw("event: message_stop\ndata: {\"type\":\"message_stop\"}"),
	}, want: `
text "x"
finish stop in=4 out=9 read=900 write=0 reasoning=5`},
	{name: "pings, comments, unknown events", steps: []Step{
		AStart(10, 0, 0), APing(), AText(0, "x"), Bytes(": hi\n\n"), Raw("event: ping\ndata:"), Raw("event: news\ndata: {\"type\":\"news\"}"),
		Raw("data: [DONE]"), AText(0, "y"), AEnd("end_turn"),
	}, want: `
text "xy"
finish stop in=10 out=5`},
	{name: "events without names", steps: []Step{Bytes(strings.ReplaceAll(strings.ReplaceAll(string(Wire(AText(0, "x"), AEnd("end_turn"))), "event: ", "nothing: "), "data: ", "data:"))}, want: `
text "x"
finish stop in=10 out=5`},
	{name: "text without a start", steps: []Step{
		Raw(`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`), AEnd("end_turn"),
	}, want: `
text "x"
finish stop in=10 out=5`},
	{name: "letters of all sizes", steps: []Step{AText(0, "naive-café 北京 🙂"), AEnd("end_turn")}, want: `
text "naive-café 北京 🙂"
finish stop in=10 out=5`},
	{name: "characters cut between two events", steps: []Step{
		AText(0, ""),
		Raw("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"caf\xc3\"}}"),
		Raw("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xa9 \\ud83d\"}}"),
		Raw("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ude42\"}}"),
		AEnd("end_turn"),
	}, want: `
text "café 🙂"
finish stop in=10 out=5`},
	{name: "lines end in CR LF", steps: []Step{Bytes(strings.ReplaceAll(string(Wire(AText(0, "x"), AEnd("end_turn"))), "\n", "\r\n"))}, want: `
text "x"
finish stop in=10 out=5`},
	{name: "sources come after the text", steps: []Step{AText(0, "x"),
		Raw(`data: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"url":"https://a.example/","title":"A"}}}`),
		AText(0, "y"), AEnd("end_turn"),
	}, want: `
text "xy"
source https://a.example/ A
finish stop in=10 out=5`},
	{name: "the last event lacks its blank line", steps: []Step{AText(0, "x"), Bytes(strings.TrimSpace(string(Wire(AEnd("end_turn")))))}, want: `
text "x"
finish stop in=10 out=5`},
	{name: "think tags are text here", steps: []Step{AText(0, "<think>x</think>"), AEnd("end_turn")}, want: `
text "<think>x</think>"
finish stop in=10 out=5`},

	{name: "overloaded in the stream", steps: []Step{AText(0, "Half"), AErr("overloaded_error", "Overloaded")},
		want: `text "Half"`, fails: "overloaded, retryable: Overloaded (overloaded_error)"},
	{name: "api_error in the stream", steps: []Step{AErr("api_error", "Internal server error")}, fails: "server, retryable: Internal server error (api_error)"},
	{name: "an error without its event name", steps: []Step{Raw(`data: {"type":"error","error":{"type":"rate_limit_error","message":"Slow"}}`)},
		fails: "overloaded, retryable: Slow (rate_limit_error)"},
	{name: "an error of another shape", steps: []Step{Raw(`data: {"error":"gone"}`)}, fails: "request: gone"},
	{name: "too long", steps: []Step{AErr("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")}, fails: "context: prompt is too long"},
	{name: "cut without reason", steps: []Step{AThink(0, "hm", ""), AText(1, "Half"), EOF()},
		want: "reasoning \"hm\"\nreasoning-end\ntext \"Half\"", fails: "broken, retryable: the provider's stream ended before the answer did"},
	{name: "cut after the reason", steps: []Step{AText(0, "All"), Raw(end), EOF()},
		want: `text "All"`, fails: "broken, retryable: the provider's stream ended before the answer did"},
	{name: "message_stop without reason", steps: []Step{AText(0, "All"), Raw("data: {\"type\":\"message_stop\"}")},
		want: `text "All"`, fails: "broken, retryable: the provider's message ended without a stop reason"},
	{name: "cut inside an event", steps: []Step{AText(0, "All"), Bytes(`data: {"type":"message_st`)},
		want: `text "All"`, fails: "broken, retryable: the provider sent an event that is not a JSON object"},
	{name: "a call in a cut stream has no end", steps: []Step{ATool(0, "t", "f"), AJson(0, `{"a":1}`)},
		want: "start t f\n" + `delta t {"a":1}`, fails: "broken, retryable"},
}

func (a answer) check(t *testing.T, got string, err error) {
	t.Helper()
	if want := strings.TrimPrefix(a.want, "\n"); got != want {
		t.Errorf("answer:\n%s\nwant:\n%s", got, want)
	}
	switch {
	case a.fails == "" && err != nil:
		t.Errorf("failed: %v", err)
	case a.fails != "" && !strings.Contains(describe(err), a.fails):
		t.Errorf("failed with %q, want %q", describe(err), a.fails)
	}
}

func TestAnswers(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			s := Start(t, Play(a.steps...))
			chunks, err := ask(connect(t, s), hello())
			a.check(t, tell(chunks), err)
			if s.Calls() != 1 {
				t.Errorf("%d requests, want 1", s.Calls())
			}
		})
	}
}

// The result does not depend on how the bytes are cut: the SDK sees the same
// frames for every cut in two and for single bytes, and the answer of the latter
// is right.
func TestEverySplit(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			wire := Wire(a.steps...)
			r := &Replay{Pieces: EachByte(wire)}
			chunks, err := ask(replay(r), hello())
			a.check(t, tell(chunks), err)
			if r.Open() != 0 {
				t.Error("the answer was not closed")
			}
			want := repaired(t, EachByte(wire))
			for at := range wire {
				if got := repaired(t, Split(wire, at)); got != want {
					t.Fatalf("cut at %d the SDK sees\n%s\nbyte by byte\n%s", at, got, want)
				}
			}
		})
	}
}

// repaired is what the SDK sees of an answer in pieces, without signs of life,
// and how it ends.
func repaired(t *testing.T, pieces [][]byte) string {
	t.Helper()
	call, err := provider.NewEndpoint("http://provider.test", "", nil, 0).Begin(t.Context(), rewrite)
	if err != nil {
		t.Fatal(err)
	}
	defer call.End()
	req, _ := http.NewRequest(http.MethodPost, "http://provider.test", nil)
	res, err := call.Do(req, (&Replay{Pieces: pieces}).RoundTrip)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return strings.ReplaceAll(string(body), "event: alive\ndata: "+string(alive.Data)+"\n\n", "") + fmt.Sprint(err)
}

func TestAnswersInPieces(t *testing.T) {
	for _, a := range answers {
		if !strings.Contains(a.name, "letters") && !strings.Contains(a.name, "interleaved") && !strings.Contains(a.name, "think tag in pieces") {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			s := Start(t, Play(a.steps...), Play(a.steps...))
			s.Cut = EachByte
			m := connect(t, s)
			chunks, err := ask(m, hello())
			a.check(t, tell(chunks), err)
			s.CRLF = true
			chunks, err = ask(m, hello())
			a.check(t, tell(chunks), err)
		})
	}
}

// Thinking blocks may interleave after their starts, but a signature never
// leaves its own thinking.
func TestSignaturesStayWithTheirThinking(t *testing.T) {
	r := &Replay{Pieces: [][]byte{Wire(
		AThink(0, "a1 ", ""), AThink(1, "b1 ", ""), AThink(0, "a2", "sigA"), AThink(1, "b2", "sigB"), AText(2, "x"), AEnd("end_turn"),
	)}}
	chunks, err := ask(replay(r), hello())
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
reasoning "a1 a2"
reasoning-end {"anthropic":{"signature":"sigA"}}
reasoning "b1 b2"
reasoning-end {"anthropic":{"signature":"sigB"}}
text "x"
finish stop in=10 out=5`, "\n")
	if got := tell(chunks); got != want {
		t.Errorf("answer:\n%s\nwant:\n%s", got, want)
	}
}
