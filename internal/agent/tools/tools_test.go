package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"stagefold/internal/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder opens a new workspace with these files.
func folder(t testing.TB, limits Limits, files map[string]string) *Set {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		put(t, filepath.Join(dir, name), content)
	}
	s, err := Workspace(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// args is an input made of pairs.
func args(pairs ...any) json.RawMessage {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	raw, _ := json.Marshal(fields)
	return raw
}

func call(t testing.TB, s *Set, name string, input json.RawMessage) agent.ToolResult {
	t.Helper()
	return callCtx(context.Background(), t, s, name, input)
}

func callCtx(ctx context.Context, t testing.TB, s *Set, name string, input json.RawMessage) agent.ToolResult {
	t.Helper()
	for _, tool := range s.Tools() {
		if tool.Spec.Name == name {
			return tool.Run(ctx, agent.ToolCall{RunID: "r", CallID: "c", Name: name, Input: input})
		}
	}
	t.Fatalf("no tool %s", name)
	return agent.ToolResult{}
}

// said is the text of a call that must succeed.
func said(t testing.TB, s *Set, name string, input json.RawMessage) string {
	t.Helper()
	return textOf(t, call(t, s, name, input))
}

func textOf(t testing.TB, result agent.ToolResult) string {
	t.Helper()
	if result.Err != nil {
		t.Fatalf("failed: %v", result.Err)
	}
	var text string
	if err := json.Unmarshal(result.Output, &text); err != nil {
		t.Fatalf("output %s: %v", result.Output, err)
	}
	return text
}

func TestSpecs(t *testing.T) {
	want := map[string]struct {
		required             []any
		approval, idempotent bool
	}{
		"list_files":   {nil, false, true},
		"read_file":    {[]any{"path"}, false, true},
		"search_files": {[]any{"query"}, false, true},
		"write_file":   {[]any{"path", "content"}, true, false},
		"edit_file":    {[]any{"path", "old", "new"}, true, false},
	}
	for _, tool := range folder(t, Limits{}, nil).Tools() {
		w, ok := want[tool.Spec.Name]
		if !ok {
			t.Errorf("tool %s is not expected", tool.Spec.Name)
			continue
		}
		delete(want, tool.Spec.Name)
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []any
		}
		if err := json.Unmarshal(tool.Spec.Schema, &schema); err != nil {
			t.Errorf("%s: schema: %v", tool.Spec.Name, err)
		}
		if schema.Type != "object" || len(schema.Required) != len(w.required) {
			t.Errorf("%s: schema %+v", tool.Spec.Name, schema)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s has no type or description", tool.Spec.Name, name)
			}
		}
		if tool.Approval != w.approval || tool.Idempotent != w.idempotent || tool.Spec.Description == "" {
			t.Errorf("%s: approval %v, idempotent %v", tool.Spec.Name, tool.Approval, tool.Idempotent)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestWrongInput(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{"a.txt": "one\ntwo\n"})
	for _, c := range []struct {
		name, tool, input, code, path, says string
	}{
		{"no object", "read_file", `["a.txt"]`, "invalid_input", "", "JSON object"},
		{"broken", "read_file", `{"path":`, "invalid_input", "", "JSON object"},
		{"nothing", "read_file", ``, "invalid_input", "path", "path is missing"},
		{"null", "read_file", `{"path":null}`, "invalid_input", "path", "path is missing"},
		{"other key", "read_file", `{"file_path":"a.txt"}`, "invalid_input", "path", `not "file_path"`},
		{"number", "read_file", `{"path":7}`, "invalid_input", "path", "must be a string"},
		{"blank", "read_file", `{"path":"  "}`, "invalid_input", "path", "blank"},
		{"offset zero", "read_file", `{"path":"a.txt","offset":0}`, "invalid_input", "offset", "whole number"},
		{"offset half", "read_file", `{"path":"a.txt","offset":1.5}`, "invalid_input", "offset", "whole number"},
		{"limit text", "read_file", `{"path":"a.txt","limit":"ten"}`, "invalid_input", "limit", "whole number"},
		{"limit huge", "read_file", `{"path":"a.txt","limit":1e300}`, "invalid_input", "limit", "whole number"},
		{"offset past the end", "read_file", `{"path":"a.txt","offset":3}`, "out_of_range", "offset", "2 lines"},
		{"list a number", "list_files", `{"path":1}`, "invalid_input", "path", "must be a string"},
		{"list a file", "list_files", `{"path":"a.txt"}`, "not_a_folder", "path", "read_file"},
		{"list nothing", "list_files", `{"path":"no"}`, "not_found", "path", "no such file"},
		{"search blank", "search_files", `{"query":""}`, "invalid_input", "query", "blank"},
		{"search two lines", "search_files", `{"query":"a\nb"}`, "invalid_input", "query", "one line"},
		{"search bad expression", "search_files", `{"query":"/(/"}`, "invalid_input", "query", "regular expression"},
		{"search nowhere", "search_files", `{"query":"x","path":"no"}`, "not_found", "path", "no such file"},
		{"write without content", "write_file", `{"path":"b.txt"}`, "invalid_input", "content", "content is missing"},
		{"write a folder", "write_file", `{"path":"b/","content":""}`, "is_a_folder", "path", "folder"},
		{"write a new line", "write_file", `{"path":"b\nc","content":""}`, "invalid_path", "path", "control"},
		{"write below a file", "write_file", `{"path":"a.txt/b","content":""}`, "not_a_folder", "path", "not a folder"},
		{"edit nothing", "edit_file", `{"path":"no.txt","old":"a","new":"b"}`, "not_found", "path", "list_files"},
		{"edit without new", "edit_file", `{"path":"a.txt","old":"one"}`, "invalid_input", "new", "new is missing"},
		{"read below a file", "read_file", `{"path":"a.txt/b"}`, "not_a_folder", "path", "not a folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := call(t, s, c.tool, json.RawMessage(c.input))
			if got.Err == nil {
				t.Fatalf("succeeded: %s", got.Output)
			}
			if got.Err.Code != c.code || got.Err.Path != c.path || !strings.Contains(got.Err.Message, c.says) {
				t.Errorf("got %+v", *got.Err)
			}
			if got.Output != nil || got.Files != nil {
				t.Errorf("a failed call has output %s, files %v", got.Output, got.Files)
			}
		})
	}
	if names, _ := os.ReadDir(s.Dir()); len(names) != 1 {
		t.Errorf("the workspace has changed: %v", names)
	}
}

func TestCancelled(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{"a.txt": "one\n"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, input := range map[string]json.RawMessage{
		"list_files":   args(),
		"read_file":    args("path", "a.txt"),
		"search_files": args("query", "one"),
		"write_file":   args("path", "a.txt", "content", "x"),
		"edit_file":    args("path", "a.txt", "old", "one", "new", "two"),
	} {
		if got := callCtx(ctx, t, s, name, input); got.Err == nil || got.Err.Code != "cancelled" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := get(t, filepath.Join(s.Dir(), "a.txt")); got != "one\n" {
		t.Errorf("the file has changed: %q", got)
	}
}

func TestClosed(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{"a.txt": "one\n"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := call(t, s, "read_file", args("path", "a.txt")); got.Err == nil || got.Err.Code != "workspace_closed" {
		t.Errorf("got %+v", got)
	}
}
