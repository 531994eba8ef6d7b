package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"stagefold/internal/agent"
	"stagefold/internal/planning"
)

// tool makes a tool out of a function that knows only inputs and results.
func tool(name, description, schema string, run func(context.Context, json.RawMessage) agent.ToolResult) agent.Tool {
	return agent.Tool{
		Spec: agent.ToolSpec{Name: name, Description: description, Schema: json.RawMessage(schema)},
		Run: func(ctx context.Context, call agent.ToolCall) agent.ToolResult {
			if ctx.Err() != nil {
				return failed(cancelled(ctx))
			}
			return run(ctx, call.Input)
		},
	}
}

func failed(err *planning.ToolError) agent.ToolResult { return agent.ToolResult{Err: err} }

// spoken is a result that is plain text.
func spoken(text, summary string) agent.ToolResult {
	return agent.ToolResult{Output: quote(text), Summary: summary}
}

// quote writes text as a JSON string that stays readable.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string in memory cannot fail
	return bytes.TrimSpace(b.Bytes())
}

// plainText is the media type of whole outputs that are text.
const plainText = "text/plain; charset=utf-8"

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shownName is a path for a line of output: quoted where it holds anything
// that could be taken for another line or for the parts around it.
func shownName(name string) string {
	plain := strings.ToValidUTF8(name, "\uFFFD")
	odd := strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' })
	if odd || plain != name || strings.Contains(name, "  ") || strings.Contains(name, ": ") || strings.HasPrefix(name, `"`) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
