package fakeprovider

import (
	"strings"
	"testing"
)

const (
	asst2  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	userHi = `{"role":"user","content":"hi"}`
)

func tool(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }

func TestOpenAIRules(t *testing.T) {
	s := Start(t)
	for _, c := range []struct{ name, messages, want string }{
		{"plain", userHi, ""},
		{"paired", userHi + "," + asst2 + "," + tool("b") + "," + tool("a") + "," + userHi, ""},
		{"no result", userHi + "," + asst2 + "," + userHi, "did not have response messages"},
		{"no result at the end", userHi + "," + asst2 + "," + tool("a"), "did not have response messages: b"},
		{"a result twice", userHi + "," + asst2 + "," + tool("a") + "," + tool("a"), "must be a response to"},
		{"a result without a call", userHi + "," + tool("a"), "must be a response to"},
		{"the same id twice", userHi + "," + strings.Replace(asst2, `"b"`, `"a"`, 1) + "," + tool("a"), "Duplicate value"},
		{"half arguments", userHi + "," + strings.Replace(asst2, `"{}"`, `"{"`, 1) + "," + tool("a") + "," + tool("b"), "arguments"},
		{"arguments as an object", userHi + "," + strings.Replace(asst2, `"{}"`, `{}`, 1) + "," + tool("a") + "," + tool("b"), "arguments"},
		{"a bad name", userHi + "," + strings.Replace(asst2, `"f"`, `"f g"`, 1) + "," + tool("a") + "," + tool("b"), "name"},
		{"a long id", userHi + "," + strings.ReplaceAll(asst2, `"a"`, `"`+strings.Repeat("a", 41)+`"`), "id"},
		{"an empty answer", userHi + `,{"role":"assistant","content":null}`, "content"},
		{"an unknown role", `{"role":"robot","content":"x"}`, "Supported values"},
		{"nothing", ``, "empty array"},
	} {
		got := s.checkOpenAI([]byte(`{"model":"m","messages":[` + c.messages + `]}`)).message
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for body, want := range map[string]string{
		`{`: "could not parse", `{"messages":[` + userHi + `]}`: "model",
		`{"model":"o3","max_tokens":1,"messages":[` + userHi + `]}`:               "max_completion_tokens",
		`{"model":"gpt-5","temperature":0,"messages":[` + userHi + `]}`:           "temperature",
		`{"model":"gpt-4o","temperature":0,"messages":[` + userHi + `]}`:          "",
		`{"model":"m","tools":[{"type":"function"}],"messages":[` + userHi + `]}`: "tools[0]",
	} {
		got := s.checkOpenAI([]byte(body)).message
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func use(id string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"f","input":{}}`
}

func res(id string) string {
	return `{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":"x"}]}`
}

func a(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func u(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func TestAnthropicRules(t *testing.T) {
	s := Start(t, Play(AThink(0, "one ", ""), AThink(0, "two", "sig"), AEnd("end_turn")))
	const hi = `{"type":"text","text":"hi"}`
	const marked = `{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}`
	for _, c := range []struct {
		name     string
		messages []string
		want     string
	}{
		{"plain", []string{userHi}, ""},
		{"paired", []string{u(hi), a(hi, use("a"), use("b")), u(res("b"), res("a"), hi)}, ""},
		{"results in two messages", []string{u(hi), a(use("a"), use("b")), u(res("a")), u(res("b")), u(hi)}, ""},
		{"no result", []string{u(hi), a(use("a")), u(hi)}, "`tool_use` ids were found without `tool_result` blocks immediately after: a"},
		{"no result at the end", []string{u(hi), a(use("a"))}, "`tool_use` ids were found without"},
		{"a result too late", []string{u(hi), a(use("a")), u(hi), u(res("a"))}, "must come before other content"},
		{"text first", []string{u(hi), a(use("a")), u(hi, res("a"))}, "must come before other content"},
		{"a result without a call", []string{u(res("a"))}, "unexpected `tool_use_id`"},
		{"a result twice", []string{u(hi), a(use("a")), u(res("a"), res("a"))}, "unexpected `tool_use_id`"},
		{"the same id twice", []string{u(hi), a(use("a")), u(res("a")), a(use("a")), u(res("a"))}, "must be unique"},
		{"the assistant first", []string{a(hi), u(hi)}, `first message must use the "user" role`},
		{"blank text", []string{u(`{"type":"text","text":" "}`)}, "non-whitespace"},
		{"empty content", []string{u(hi), a(), u(hi)}, "non-empty content"},
		{"an empty result", []string{u(hi), a(use("a")), u(strings.Replace(res("a"), `"x"`, `""`, 1))}, "non-empty"},
		{"input that is no object", []string{u(hi), a(strings.Replace(use("a"), `{}`, `"{}"`, 1)), u(res("a"))}, "valid dictionary"},
		{"an id with a dot", []string{u(hi), a(use("a.b")), u(res("a.b"))}, "pattern"},
		{"signed thinking", []string{u(hi), a(`{"type":"thinking","thinking":"one two","signature":"sig"}`, hi), u(hi)}, ""},
		{"changed thinking", []string{u(hi), a(`{"type":"thinking","thinking":"one","signature":"sig"}`, hi), u(hi)}, "Invalid `signature`"},
		{"unsigned thinking", []string{u(hi), a(`{"type":"thinking","thinking":"x","signature":""}`, hi), u(hi)}, "Invalid `signature`"},
		{"thinking last", []string{u(hi), a(hi, `{"type":"thinking","thinking":"one two","signature":"sig"}`), u(hi)}, "final block"},
		{"four marks", []string{u(marked, marked, marked, marked)}, ""},
		{"five marks", []string{u(marked, marked, marked, marked, marked)}, "Found 5"},
		{"an unknown block", []string{u(`{"type":"video"}`)}, "does not match"},
		{"an unknown role", []string{u(hi), `{"role":"system","content":"x"}`}, "should be 'user' or 'assistant'"},
	} {
		body := `{"model":"m","max_tokens":5,"messages":[` + strings.Join(c.messages, ",") + `]}`
		got := s.checkAnthropic([]byte(body)).message
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for body, want := range map[string]string{
		`{`: "not valid JSON", `{"model":"m","messages":[` + userHi + `]}`: "max_tokens", `{"model":"m","max_tokens":1}`: "at least one",
		`{"model":"m","max_tokens":1,"messages":[` + userHi + `],"tools":[{"name":"f","input_schema":{}}]}`: "tools.0",
	} {
		if got := s.checkAnthropic([]byte(body)).message; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A refused call takes no script.
func TestRefusedCall(t *testing.T) {
	s := Start(t, Play(T("one")))
	response, err := post(t, s.OpenAI()+"/chat/completions", `{"model":"m","messages":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, response); response.StatusCode != 400 || !strings.Contains(got, `"type":"invalid_request_error"`) || len(s.Refused()) != 1 {
		t.Errorf("%d %s, refused %v", response.StatusCode, got, s.Refused())
	}
	response, err = post(t, s.OpenAI()+"/chat/completions", chat)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, response); !strings.Contains(got, "one") {
		t.Error(got)
	}
}
