package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent"
	. "stagefold/internal/agent/fakeprovider"
)

func text(s string) agent.Content { return agent.Content{Kind: agent.ContentText, Text: s} }

func thought(s, metadata string) agent.Content {
	return agent.Content{Kind: agent.ContentReasoning, Text: s, Metadata: json.RawMessage(metadata)}
}

func called(id, name, input string) agent.Content {
	return agent.Content{Kind: agent.ContentToolCall, ToolCallID: id, ToolName: name, Input: json.RawMessage(input)}
}

func result(id, text string) agent.Content {
	return agent.Content{Kind: agent.ContentToolResult, ToolCallID: id, Text: text}
}

func failed(id, text string) agent.Content {
	c := result(id, text)
	c.IsError = true
	return c
}

func said(content ...agent.Content) agent.Message {
	return agent.Message{Role: agent.RoleAssistant, Content: content}
}

func told(content ...agent.Content) agent.Message {
	return agent.Message{Role: agent.RoleTool, Content: content}
}

var tools = []agent.ToolSpec{
	{Name: "read_file", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"a":{}},"required":["path"]}`)},
	{Name: "complete"},
}

// sent is the body that the model sends for the request.
func sent(t *testing.T, o Options, req agent.Request) string {
	t.Helper()
	s := Start(t, Play(AEnd("end_turn")))
	o.BaseURL, o.HTTPClient = s.Anthropic(), client(t)
	if _, err := ask(New(o), req); err != nil {
		t.Fatal(err)
	}
	return string(s.Requests()[0].Body)
}

func indent(t *testing.T, body string) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	out, _ := json.MarshalIndent(doc, "", " ")
	return string(out)
}

func TestRequest(t *testing.T) {
	got := sent(t, Options{APIKey: "k"}, agent.Request{
		ModelName: "fake", System: "You work.", Tools: tools,
		Messages: []agent.Message{
			user("Read a.txt & <b>"),
			said(thought("why", `{"anthropic":{"signature":"sig1"}}`), thought("", `{"anthropic":{"redactedData":"xyz="}}`), thought("unsigned", ""),
				thought("another's", `{"openai":{"reasoningField":"reasoning"}}`), text("Reading."),
				called("ca", "read_file", `{"path":"a.txt","z":1,"a":"<"}`), called("cb", "read_file", `{"path":"b.txt"}`)),
			told(result("ca", "AAA"), failed("cb", "no such file")),
		},
		Reminder: "<task_reminder>\nnow\n</task_reminder>",
	})
	want := `{"max_tokens":8192,"messages":[
		{"role":"user","content":[{"type":"text","text":"Read a.txt & <b>","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":[
			{"type":"thinking","thinking":"why","signature":"sig1"},
			{"type":"redacted_thinking","data":"xyz="},
			{"type":"text","text":"Reading."},
			{"type":"tool_use","id":"ca","name":"read_file","input":{"path":"a.txt","z":1,"a":"<"}},
			{"type":"tool_use","id":"cb","name":"read_file","input":{"path":"b.txt"}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"ca","is_error":false,"content":[{"type":"text","text":"AAA"}]},
			{"type":"tool_result","tool_use_id":"cb","is_error":true,"content":[{"type":"text","text":"no such file"}],"cache_control":{"type":"ephemeral"}},
			{"type":"text","text":"<task_reminder>\nnow\n</task_reminder>"}]}],
		"model":"fake","stream":true,"system":[{"type":"text","text":"You work.","cache_control":{"type":"ephemeral"}}],"tools":[
		{"name":"read_file","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"},"a":{}},"required":["path"]}},
		{"name":"complete","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}]}`
	if diff := cmp.Diff(indent(t, want), indent(t, got)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	for _, part := range []string{`"input":{"path":"a.txt","z":1,"a":"<"}`, `"properties":{"path":{"type":"string"},"a":{}}`} {
		if !strings.Contains(got, part) {
			t.Errorf("the request does not keep the bytes of %s: %s", part, got)
		}
	}
	if strings.Count(got, "<task_reminder>") != 1 {
		t.Errorf("the request escapes what needs no escape: %s", got)
	}
}

func TestOutputLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int64
		want  string
	}{
		{"fake", 0, `"max_tokens":8192`}, {"fake", 700, `"max_tokens":700`},
		{"claude-opus-4-5-20251101", 0, `"max_tokens":32000`}, {"claude-opus-4-5", 0, `"max_tokens":32000`},
	} {
		req := hello()
		req.ModelName = c.name
		if got := sent(t, Options{OutputLimit: c.limit}, req); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// steps is a run of n steps, each with a call and its result.
func steps(n int) []agent.Message {
	list := []agent.Message{user("Do it <now> & well")}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		list = append(list,
			said(thought("because", `{"anthropic":{"signature":"s"}}`), text(fmt.Sprintf("Step %d", i)), called(id, "read_file", `{"path":"a","z":1}`)),
			told(result(id, strings.Repeat("line\n", i))))
	}
	return list
}

// Without marks and reminder, request N is a byte prefix of request N+1, and the
// reminder is the last block of the last user message.
func TestRequestsGrowByTheirEnd(t *testing.T) {
	type body struct {
		Messages, System, Tools json.RawMessage
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	var before body
	for n := range 6 {
		var now body
		reminder := fmt.Sprintf("<task_reminder>%d</task_reminder>", n)
		raw := sent(t, Options{}, agent.Request{ModelName: "fake", System: "You work.", Tools: tools, Messages: steps(n), Reminder: reminder})
		if marks := strings.Count(raw, mark); marks < 3 || marks > 4 {
			t.Errorf("step %d: %d marks", n, marks)
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(raw, mark, "")), &now); err != nil {
			t.Fatal(err)
		}
		all, ok := strings.CutSuffix(string(now.Messages), `,{"text":"`+reminder+`","type":"text"}],"role":"user"}]`)
		if !ok {
			t.Fatalf("no reminder at the end of %s", now.Messages)
		}
		now.Messages = json.RawMessage(all)
		if n > 0 && (!strings.HasPrefix(all, string(before.Messages)) || string(now.Tools) != string(before.Tools) || string(now.System) != string(before.System)) {
			t.Errorf("step %d is no prefix of step %d:\n%s\n%s", n-1, n, before.Messages, now.Messages)
		}
		before = now
	}
}

// The mark of the last step stays where it was, so that its cache is found.
func TestMarks(t *testing.T) {
	type block struct {
		Type         string
		CacheControl json.RawMessage `json:"cache_control"`
	}
	var body struct {
		Messages []struct{ Content []block }
	}
	raw := sent(t, Options{}, agent.Request{ModelName: "fake", Messages: steps(3), Reminder: "<task_reminder/>"})
	if err := json.Unmarshal([]byte(raw), &body); err != nil {
		t.Fatal(err)
	}
	var marked []string
	for i, m := range body.Messages {
		for j, b := range m.Content {
			if len(b.CacheControl) > 0 {
				marked = append(marked, fmt.Sprintf("%d.%d %s", i, j, b.Type))
			}
		}
	}
	if diff := cmp.Diff([]string{"4.0 tool_result", "6.0 tool_result"}, marked); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

// From every message list the request is valid.
func TestEveryRequestIsValid(t *testing.T) {
	lists := map[string][]agent.Message{
		"a call without result":        {user("x"), said(text("Checking."), called("tu1", "run_shell", `{}`)), user("go on")},
		"one of two":                   {user("x"), said(called("t1", "f", `{}`), called("t2", "f", `{}`)), told(result("t2", "b")), user("go on")},
		"results in the wrong order":   {user("x"), said(called("t1", "f", `{}`), called("t2", "f", `{}`)), told(result("t2", "b"), result("t1", "a"))},
		"results in two messages":      {user("x"), said(called("t1", "f", `{}`), called("t2", "f", `{}`)), told(result("t1", "a")), told(result("t2", "b"))},
		"text between call and result": {user("x"), said(called("t1", "f", `{}`)), user("hurry"), told(result("t1", "a"))},
		"a result twice":               {user("x"), said(called("t1", "f", `{}`)), told(result("t1", "a"), result("t1", "b"))},
		"a result without call":        {user("x"), told(result("t0", "a")), said(text("y"))},
		"text after a call":            {user("x"), said(called("t1", "f", `{}`), text("and so")), told(result("t1", "a"))},
		"half arguments":               {user("x"), said(called("t1", "f", `{"pa`)), told(failed("t1", "stopped by the user"))},
		"no arguments, no output":      {user("x"), said(called("t1", "f", ``)), told(result("t1", ""))},
		"blank texts":                  {user(" "), user("x"), said(text("\n")), said(text(""), thought("hm", `{}`)), user("y")},
		"only thinking":                {user("x"), said(thought("hm", `{"anthropic":{"signature":"s"}}`)), user("y")},
		"the assistant first":          {said(text("hello")), user("x")},
		"a call first":                 {said(called("t1", "f", `{}`)), told(result("t1", "a"))},
		"another provider's reasoning": {user("x"), said(thought("hm", `{"openai":{"reasoningField":"reasoning"}}`), text("y")), user("z")},
		"two user messages":            {user("x"), said(called("t1", "f", `{}`)), told(result("t1", "a")), user("y"), user("z")},
		"two assistant messages":       {user("x"), said(text("a")), said(text("b")), user("c")},
		"nothing but a reminder":       {},
		"the last word is the model's": {user("x"), said(text("a"))},
	}
	for name, messages := range lists {
		t.Run(name, func(t *testing.T) {
			for n := range len(messages) + 1 {
				s := Start(t, Play(AEnd("end_turn")))
				_, err := ask(connect(t, s), agent.Request{ModelName: "fake", Tools: tools, Messages: messages[:n], Reminder: "<task_reminder/>"})
				if err != nil {
					t.Errorf("the first %d messages: %v\n%s", n, err, s.Requests()[0].Body)
				}
			}
		})
	}
}

// What the model thought comes back untouched: the server knows what it signed.
func TestAnswerAndNextRequest(t *testing.T) {
	s := Start(t,
		Play(AThink(0, "Which ", ""), AThink(0, "file? 🙂", "sig+/="), ARedacted(1, "xyz="), ATool(2, "tu1", "read_file"), AJson(2, `{"path":"北京"}`), AEnd("tool_use")),
		Play(AText(0, "ok"), AEnd("end_turn")))
	m := connect(t, s)
	chunks, err := ask(m, hello())
	if err != nil {
		t.Fatal(err)
	}
	var answer []agent.Content
	thinking := ""
	for _, c := range chunks {
		switch c.Kind {
		case agent.ChunkReasoning:
			thinking += c.Text
		case agent.ChunkReasoningEnd:
			answer = append(answer, thought(thinking, string(c.Metadata)))
			thinking = ""
		case agent.ChunkToolEnd:
			answer = append(answer, called(c.ID, "read_file", c.Text))
		}
	}
	if _, err := ask(m, agent.Request{ModelName: "fake", Messages: []agent.Message{user("Hello"), said(answer...), told(result("tu1", "x"))}}); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[1].Body)
	for _, want := range []string{`"thinking":"Which file? 🙂"`, `"signature":"sig+/="`, `"data":"xyz="`, `"input":{"path":"北京"}`} {
		if !strings.Contains(body, want) {
			t.Errorf("the next request lacks %s: %s", want, body)
		}
	}
}

func TestBaseAddressWithVersion(t *testing.T) {
	s := Start(t, Play(AEnd("end_turn")))
	if _, err := ask(New(Options{BaseURL: s.Anthropic() + "/v1/", APIKey: "k", HTTPClient: client(t)}), hello()); err != nil {
		t.Error(err)
	}
}

func TestKeyIsSent(t *testing.T) {
	s := Start(t, Play(AEnd("end_turn")))
	if _, err := ask(connect(t, s), hello()); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	if h.Get("Authorization") != "Bearer sk-test-7Qzz9" || h.Get("X-Api-Key") != "sk-test-7Qzz9" || h.Get("Anthropic-Version") == "" {
		t.Errorf("headers %v", h)
	}
}
