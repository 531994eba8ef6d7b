package provider

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent"
)

// short writes a list down: u:text, a:text+call(id), t:id=text.
func short(messages []agent.Message) string {
	out := ""
	for _, m := range messages {
		out += map[agent.Role]string{agent.RoleUser: " u:", agent.RoleAssistant: " a:", agent.RoleTool: " t:"}[m.Role]
		for i, c := range m.Content {
			if i > 0 {
				out += "+"
			}
			switch c.Kind {
			case agent.ContentText:
				out += c.Text
			case agent.ContentReasoning:
				out += "[" + c.Text + "]"
			case agent.ContentToolCall:
				out += "call(" + c.ToolCallID + string(c.Input) + ")"
			case agent.ContentToolResult:
				out += c.ToolCallID + "=" + c.Text
			}
		}
	}
	return out
}

func msg(role agent.Role, content ...agent.Content) agent.Message {
	return agent.Message{Role: role, Content: content}
}

func text(s string) agent.Content    { return agent.Content{Kind: agent.ContentText, Text: s} }
func thought(s string) agent.Content { return agent.Content{Kind: agent.ContentReasoning, Text: s} }

func call1(id, input string) agent.Content {
	return agent.Content{Kind: agent.ContentToolCall, ToolCallID: id, ToolName: "f", Input: json.RawMessage(input)}
}

func result(id, s string) agent.Content {
	return agent.Content{Kind: agent.ContentToolResult, ToolCallID: id, Text: s}
}

func TestPair(t *testing.T) {
	const u, a, tool = agent.RoleUser, agent.RoleAssistant, agent.RoleTool
	for _, c := range []struct {
		name string
		in   []agent.Message
		want string
	}{
		{"nothing", nil, ""},
		{"a valid list stays", []agent.Message{msg(u, text("x")), msg(a, thought("r"), text("y"), call1("1", `{"a":1}`)), msg(tool, result("1", "r")), msg(a, text("z"))},
			` u:x a:[r]+y+call(1{"a":1}) t:1=r a:z`},
		{"no result", []agent.Message{msg(u, text("x")), msg(a, text("y"), call1("1", `{}`)), msg(u, text("go on"))}, " u:x a:y u:go on"},
		{"no result and no text", []agent.Message{msg(u, text("x")), msg(a, call1("1", `{}`)), msg(u, text("go on"))}, " u:x u:go on"},
		{"one of two", []agent.Message{msg(a, call1("1", `{}`), call1("2", `{}`)), msg(tool, result("2", "b"))}, " a:call(2{}) t:2=b"},
		{"call order", []agent.Message{msg(a, call1("1", `{}`), call1("2", `{}`)), msg(tool, result("2", "b")), msg(tool, result("1", "a"))}, " a:call(1{})+call(2{}) t:1=a+2=b"},
		{"a user between", []agent.Message{msg(a, call1("1", `{}`)), msg(u, text("x")), msg(tool, result("1", "a"))}, " a:call(1{}) t:1=a u:x"},
		{"another step's result", []agent.Message{msg(a, call1("1", `{}`)), msg(a, text("y")), msg(tool, result("1", "a"))}, " a:y"},
		{"first of two results", []agent.Message{msg(a, call1("1", `{}`)), msg(tool, result("1", "a"), result("1", "b"))}, " a:call(1{}) t:1=a"},
		{"one result for two calls of one id", []agent.Message{msg(a, call1("1", `{}`), call1("1", `{}`)), msg(tool, result("1", "a"))}, " a:call(1{}) t:1=a"},
		{"text behind calls", []agent.Message{msg(a, text("1"), call1("1", `{}`), text("2"), call1("2", `{}`), text("3")), msg(tool, result("1", "a"), result("2", "b"))},
			" a:1+2+3+call(1{})+call(2{}) t:1=a+2=b"},
		{"broken input, empty output", []agent.Message{msg(a, call1("1", `{"a`)), msg(tool, result("1", " "))}, " a:call(1{}) t:1=(no output)"},
		{"input that is no object", []agent.Message{msg(a, call1("1", `[1]`)), msg(tool, result("1", "a"))}, " a:call(1{}) t:1=a"},
		{"blank texts and lone reasoning", []agent.Message{msg(u, text(" ")), msg(a, thought("r"), text("\n")), msg(u, text("x"), text(""))}, " u:x"},
		{"wrong kinds", []agent.Message{msg(u, call1("1", `{}`), text("x")), msg(tool, text("y"))}, " u:x"},
	} {
		got := short(Pair(c.in))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if again := short(Pair(Pair(c.in))); again != got {
			t.Errorf("%s: paired twice %q", c.name, again)
		}
	}
}
