package openai

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
	s := Start(t, Play(F("stop"), D()))
	o.BaseURL, o.HTTPClient = s.OpenAI(), client(t)
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
			said(thought("why", `{"openai":{"reasoningField":"reasoning_content"}}`), thought("tagged", ""), text("Reading."),
				called("ca", "read_file", `{"path":"a.txt"}`), called("cb", "read_file", `{"path":"b.txt"}`)),
			told(result("ca", "AAA"), failed("cb", "no such file")),
			said(thought("alone", `{"openai":{"reasoningField":"reasoning_content"}}`), text("Done.")),
			user("Go on."),
		},
		Reminder: "<task_reminder>\nnow\n</task_reminder>",
	})
	want := `{"messages":[
		{"role":"system","content":"You work."},
		{"role":"user","content":"Read a.txt & <b>"},
		{"role":"assistant","content":"Reading.","reasoning_content":"why","tool_calls":[
			{"id":"ca","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}},
			{"id":"cb","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"b.txt\"}"}}]},
		{"role":"tool","tool_call_id":"ca","content":"AAA"},
		{"role":"tool","tool_call_id":"cb","content":"Error: no such file"},
		{"role":"assistant","content":"Done."},
		{"role":"user","content":"Go on."},
		{"role":"user","content":"<task_reminder>\nnow\n</task_reminder>"}],
		"model":"fake","stream":true,"stream_options":{"include_usage":true},"tools":[
		{"type":"function","function":{"name":"read_file","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"a":{}},"required":["path"]}}},
		{"type":"function","function":{"name":"complete","parameters":{"type":"object","properties":{}}}}]}`
	if diff := cmp.Diff(indent(t, want), indent(t, got)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if strings.Count(got, "<task_reminder>") != 1 || !strings.Contains(got, "a.txt & <b>") {
		t.Errorf("the request escapes what needs no escape: %s", got)
	}
}

func TestOutputLimit(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"llama3", "max_tokens"}, {"gpt-4o", "max_tokens"}, {"gpt-5-mini", "max_completion_tokens"},
		{"o3", "max_completion_tokens"}, {"openai/o4-mini", "max_completion_tokens"}, {"olmo", "max_tokens"},
	} {
		var body map[string]any
		req := hello()
		req.ModelName = c.name
		if err := json.Unmarshal([]byte(sent(t, Options{OutputLimit: 700}, req)), &body); err != nil {
			t.Fatal(err)
		}
		limits := map[string]any{"max_tokens": body["max_tokens"], "max_completion_tokens": body["max_completion_tokens"]}
		want := map[string]any{"max_tokens": nil, "max_completion_tokens": nil}
		want[c.want] = 700.0
		if diff := cmp.Diff(want, limits); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if body["temperature"] != nil {
			t.Errorf("%s: a temperature was sent", c.name)
		}
	}
}

// steps is a run of n steps, each with a call and its result.
func steps(n int) []agent.Message {
	list := []agent.Message{user("Do it <now> & well")}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		list = append(list,
			said(thought("because", `{"openai":{"reasoningField":"reasoning"}}`), text(fmt.Sprintf("Step %d", i)), called(id, "read_file", `{"path":"a","z":1}`)),
			told(result(id, strings.Repeat("line\n", i))))
	}
	return list
}

// Without the reminder, request N is a byte prefix of request N+1.
func TestRequestsGrowByTheirEnd(t *testing.T) {
	type body struct {
		Messages json.RawMessage
		Tools    json.RawMessage
	}
	var before body
	for n := range 6 {
		var now body
		req := agent.Request{ModelName: "fake", System: "You work.", Tools: tools, Messages: steps(n), Reminder: fmt.Sprintf("<task_reminder>%d</task_reminder>", n)}
		if err := json.Unmarshal([]byte(sent(t, Options{}, req)), &now); err != nil {
			t.Fatal(err)
		}
		all := strings.TrimSuffix(string(now.Messages), "]")
		i := strings.LastIndex(all, `,{"content":"<task_reminder>`)
		if i < 0 {
			t.Fatalf("no reminder at the end of %s", all)
		}
		now.Messages = json.RawMessage(all[:i])
		if n > 0 && (!strings.HasPrefix(string(now.Messages), string(before.Messages)) || string(now.Tools) != string(before.Tools)) {
			t.Errorf("step %d is no prefix of step %d:\n%s\n%s", n-1, n, before.Messages, now.Messages)
		}
		before = now
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
		"no arguments":                 {user("x"), said(called("t1", "f", ``)), told(result("t1", ""))},
		"blank texts":                  {user(" "), user("x"), said(text("\n")), said(text(""), thought("hm", `{}`)), user("y")},
		"only reasoning":               {user("x"), said(thought("hm", `{"openai":{"reasoningField":"reasoning"}}`)), user("y")},
		"the assistant first":          {said(text("hello")), user("x")},
		"a call first":                 {said(called("t1", "f", `{}`)), told(result("t1", "a"))},
		"another provider's reasoning": {user("x"), said(thought("hm", `{"anthropic":{"signature":"s"}}`), text("y")), user("z")},
		"the same id in two steps":     {user("x"), said(called("t1", "f", `{}`)), told(result("t1", "a")), said(called("t1", "f", `{}`)), told(result("t1", "b"))},
		"two assistant messages":       {user("x"), said(text("a")), said(text("b")), user("c")},
		"nothing but a reminder":       {},
		"the last word is the model's": {user("x"), said(text("a"))},
	}
	for name, messages := range lists {
		t.Run(name, func(t *testing.T) {
			for n := range len(messages) + 1 {
				s := Start(t, Play(F("stop"), D()))
				_, err := ask(connect(t, s), agent.Request{ModelName: "fake", Tools: tools, Messages: messages[:n], Reminder: "<task_reminder/>"})
				if err != nil {
					t.Errorf("the first %d messages: %v\n%s", n, err, s.Requests()[0].Body)
				}
			}
		})
	}
}

// What the model said comes back as it was said.
func TestAnswerAndNextRequest(t *testing.T) {
	s := Start(t,
		Play(R("why"), C(0, "c1", "read_file", `{"path":"北京 🙂"}`), F("tool_calls"), D()),
		Play(T("ok"), F("stop"), D()))
	m := connect(t, s)
	chunks, err := ask(m, hello())
	if err != nil {
		t.Fatal(err)
	}
	var answer []agent.Content
	for _, c := range chunks {
		switch c.Kind {
		case agent.ChunkReasoningEnd:
			answer = append(answer, thought("why", string(c.Metadata)))
		case agent.ChunkToolEnd:
			answer = append(answer, called(c.ID, "read_file", c.Text))
		}
	}
	if _, err := ask(m, agent.Request{ModelName: "fake", Messages: []agent.Message{user("Hello"), said(answer...), told(result("c1", "x"))}}); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[1].Body)
	for _, want := range []string{`"reasoning_content":"why"`, `"arguments":"{\"path\":\"北京 🙂\"}"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the next request lacks %s: %s", want, body)
		}
	}
}
