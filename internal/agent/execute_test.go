package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func tool(name string, run func(context.Context, ToolCall) ToolResult) Tool {
	return Tool{Spec: ToolSpec{Name: name, Schema: object("")}, Idempotent: true, Run: run}
}

func quote(s string) json.RawMessage {
	q, _ := json.Marshal(s)
	return q
}

func TestBadCallsGetClearErrors(t *testing.T) {
	for _, tt := range []struct{ name, tool, args, want string }{
		{"unknown tool", "delete_all", `{}`,
			`{"error":{"code":"unknown_tool","message":"there is no tool \"delete_all\" here; the tools are read_file, write_file, ask_user, complete"}}`},
		{"another planner's tool", "write_todos", `{"todos":[]}`,
			`{"error":{"code":"unknown_tool","message":"there is no tool \"write_todos\" here; the tools are read_file, write_file, ask_user, complete"}}`},
		{"broken JSON", "read_file", `{"path":"a"}]}`,
			`{"error":{"code":"invalid_json","message":"the arguments are not valid JSON: invalid character ']' after top-level value at byte 13"}}`},
		{"no object", "read_file", `["a"]`,
			`{"error":{"code":"invalid_json","message":"the arguments are valid JSON but not an object"}}`},
		{"null", "read_file", `null`,
			`{"error":{"code":"invalid_json","message":"the arguments are valid JSON but not an object"}}`},
		{"a bad field", "read_file", `{"path":7}`,
			`{"error":{"code":"invalid_arguments","message":"got number, want string","path":"path"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.None, answers(calls("c1", tt.tool, tt.args), tools()), answers(say("Done."), stops()))
			tr.ended(part.Finished, part.ReasonStop)
			got := tr.results(2)[0]
			if got.Text != tt.want || !got.IsError {
				t.Errorf("got  %s\nwant %s", got.Text, tt.want)
			}
			if p := tr.tool("c1"); p.State != part.StateOutputError {
				t.Errorf("the card is %s", p.State)
			}
		})
	}
}

func TestEmptyArgumentsAreAnEmptyObject(t *testing.T) {
	tr := try(t, planning.None, answers(calls("c1", "read_file", ""), tools()), answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	if in := string(tr.tool("c1").Tool.Input); in != "{}" {
		t.Errorf("input %s", in)
	}
}

func TestInputIsStoredAsSent(t *testing.T) {
	const args = "{ \"path\" : \"a\\u003cb\",\n\"path\":\"a.txt\" }"
	tr := try(t, planning.None, answers(calls("c1", "read_file", args), tools()), answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	if in := string(tr.tool("c1").Tool.Input); in != args {
		t.Errorf("input %s", in)
	}
}

// Working calls of one step meet: each waits for the other.
func TestWorkingCallsRunSideBySide(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	meet := tool("meet", func(_ context.Context, c ToolCall) ToolResult {
		both.Done()
		both.Wait()
		return ToolResult{Output: quote(c.CallID)}
	})
	tr := try(t, planning.None, answers(calls("c1", "meet", `{}`), calls("c2", "meet", `{}`), tools()), answers(say("Done."), stops()))
	tr.job.Tools = []Tool{meet}
	tr.ended(part.Finished, part.ReasonStop)
	want := []Content{
		{Kind: ContentToolResult, ToolCallID: "c1", ToolName: "meet", Text: "c1"},
		{Kind: ContentToolResult, ToolCallID: "c2", ToolName: "meet", Text: "c2"},
	}
	if diff := cmp.Diff(want, tr.results(2)); diff != "" {
		t.Error(diff)
	}
}

func TestAPanicIsAToolError(t *testing.T) {
	tr := try(t, planning.None, answers(calls("c1", "boom", `{}`), calls("c2", "read_file", `{"path":"a"}`), tools()), answers(say("Done."), stops()))
	tr.job.Tools = append(tr.job.Tools, tool("boom", func(context.Context, ToolCall) ToolResult { panic("index out of range") }))
	tr.ended(part.Finished, part.ReasonStop)
	got := tr.results(2)
	if !got[0].IsError || !strings.Contains(got[0].Text, codePanic) || got[1].Text != "content of a" {
		t.Errorf("results %+v", got)
	}
}

// HO-17 h: a call ends at its limit and keeps what it had, even where the tool
// does not listen.
func TestToolTimeout(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(ctx context.Context, free <-chan struct{}) ToolResult
		says string
	}{
		{"hands in what it has", func(ctx context.Context, _ <-chan struct{}) ToolResult {
			<-ctx.Done()
			return ToolResult{Output: quote("line 1")}
		}, `time limit of 5s; output so far:\nline 1`},
		{"fails by itself", func(ctx context.Context, _ <-chan struct{}) ToolResult {
			<-ctx.Done()
			return ToolResult{Err: &planning.ToolError{Code: "x", Message: "killed"}}
		}, "time limit of 5s; killed"},
		{"does not listen", func(_ context.Context, free <-chan struct{}) ToolResult {
			<-free
			return ToolResult{}
		}, "did not end when it was told to"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				tr := try(t, planning.None, answers(calls("c1", "slow", `{}`), tools()), answers(say("Done."), stops()))
				tr.job.Limits.Tool = 5 * time.Second
				tr.job.Tools = []Tool{tool("slow", func(ctx context.Context, _ ToolCall) ToolResult { return tt.run(ctx, free) })}
				began := time.Now()
				tr.ended(part.Finished, part.ReasonStop)
				close(free)
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %s", took)
				}
				if got := tr.results(2)[0]; !got.IsError || !strings.Contains(got.Text, tt.says) {
					t.Errorf("result %s", got.Text)
				}
			})
		})
	}
}

func TestToolsOwnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := try(t, planning.None, answers(calls("c1", "slow", `{}`), tools()), answers(say("Done."), stops()))
		slow := tool("slow", func(context.Context, ToolCall) ToolResult {
			time.Sleep(time.Hour)
			return ToolResult{Output: quote("done")}
		})
		slow.Timeout = -1
		tr.job.Tools = []Tool{slow}
		tr.ended(part.Finished, part.ReasonStop)
		if got := tr.results(2)[0]; got.Text != "done" {
			t.Errorf("result %+v", got)
		}
	})
}

func TestOutputIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 3000)
	big, _ := json.Marshal(map[string]string{"text": long})
	for _, tt := range []struct {
		name   string
		result ToolResult
		full   string // "" where nothing is saved
		media  string
	}{
		{"a long text", ToolResult{Output: quote(long)}, long, "text"},
		{"a long object", ToolResult{Output: big}, string(big), "object"},
		{"cut by the tool", ToolResult{Output: quote("head ... tail"), Full: []byte("whole"), MediaType: "text/plain"}, "whole", "own"},
		{"short", ToolResult{Output: quote("short")}, "", ""},
		{"nothing", ToolResult{}, "", ""},
		{"no JSON", ToolResult{Output: json.RawMessage("plain\xff text")}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.None, answers(calls("c1", "print", `{}`), tools()), answers(say("Done."), stops()))
			tr.job.Limits.ToolOutput = 1000
			tr.job.Tools = []Tool{tool("print", func(context.Context, ToolCall) ToolResult { return tt.result })}
			tr.ended(part.Finished, part.ReasonStop)
			p := tr.tool("c1")
			if !json.Valid(p.Tool.Output) || len(p.Tool.Output) > 2100 {
				t.Errorf("output of %d bytes: %s", len(p.Tool.Output), p.Tool.Output)
			}
			if got := string(tr.log.Output("c1")); got != tt.full || p.Tool.Truncated != (tt.full != "") {
				t.Errorf("saved %d bytes, want %d; truncated %v", len(got), len(tt.full), p.Tool.Truncated)
			}
			if strings.Contains(string(p.Tool.Output), "\\ufffd") != (tt.name == "no JSON") {
				t.Errorf("broken characters in %s", p.Tool.Output)
			}
		})
	}
}

func TestFilesAndProgressReachTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := try(t, planning.None, answers(calls("c1", "build", `{}`), tools()), answers(say("Done."), stops()))
		tr.job.Tools = []Tool{tool("build", func(_ context.Context, c ToolCall) ToolResult {
			for _, line := range []string{"1", "2", "3"} {
				c.Progress(quote(line)) // at once: only the newest is logged
			}
			time.Sleep(time.Second)
			c.Progress(quote("4"))
			time.Sleep(time.Second)
			return ToolResult{Output: quote("built"), Files: []part.FileChange{{Path: "a", Op: "created"}}}
		})}
		tr.ended(part.Finished, part.ReasonStop)
		var shown []string
		for _, e := range tr.log.Entries() {
			if e.Type == part.ToolOutput {
				shown = append(shown, string(e.Output))
			}
		}
		if diff := cmp.Diff([]string{`"3"`, `"4"`, `"built"`}, shown); diff != "" {
			t.Error(diff)
		}
		if files := tr.tool("c1").Tool.Files; len(files) != 1 {
			t.Errorf("files %+v", files)
		}
	})
}

// The start of a call that may not be repeated is stored before it acts.
func TestStartIsDurableBeforeTheToolActs(t *testing.T) {
	tr := try(t, planning.None, answers(calls("c1", "write_file", `{"path":"a"}`), calls("c2", "read_file", `{"path":"a"}`), tools()), answers(say("Done."), stops()))
	tr.job.Tools = []Tool{readTool(), writeTool(func(string) {
		var started []string
		for _, e := range tr.log.Entries() {
			if e.Type == part.ToolStart {
				started = append(started, e.ToolCallID)
			}
		}
		if diff := cmp.Diff([]string{"c1"}, started); diff != "" {
			t.Error(diff)
		}
	})}
	tr.ended(part.Finished, part.ReasonStop)
	if tr.tool("c1").Tool.ActedAt.IsZero() {
		t.Error("the card does not know that the tool began")
	}
}

func TestATruncatedOutputThatCannotBeSavedHasNoLink(t *testing.T) {
	tr := try(t, planning.None, answers(calls("c1", "print", `{}`), tools()), answers(say("Done."), stops()))
	tr.job.Tools = []Tool{tool("print", func(context.Context, ToolCall) ToolResult {
		tr.log.Fail = func(int) error {
			tr.log.Fail = nil
			return errors.New("disk full")
		}
		return ToolResult{Output: quote("head"), Full: []byte("whole")}
	})}
	tr.ended(part.Finished, part.ReasonStop)
	if p := tr.tool("c1"); p.Tool.Truncated || p.State != part.StateOutputAvailable {
		t.Errorf("part %+v", p.Tool)
	}
}
