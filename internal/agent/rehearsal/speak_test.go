package rehearsal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent"
	"stagefold/internal/agent/rehearsal"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// request is the first request of a run.
func request(mode planning.Mode, prompt string) agent.Request {
	req := agent.Request{ModelName: rehearsal.Name, System: "You are the agent.", Messages: []agent.Message{user(prompt)}}
	for _, spec := range planning.ToolSpecs(mode, planning.NormalLimits()) {
		req.Tools = append(req.Tools, agent.ToolSpec{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
	}
	for _, name := range []string{"list_files", "read_file", "search_files", "write_file", "complete"} {
		req.Tools = append(req.Tools, agent.ToolSpec{Name: name, Description: "a tool", Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return req
}

func user(text string) agent.Message {
	return agent.Message{Role: agent.RoleUser, Content: []agent.Content{{Kind: agent.ContentText, Text: text}}}
}

func chunks(t testing.TB, req agent.Request) []agent.Chunk {
	t.Helper()
	var out []agent.Chunk
	for c, err := range rehearsal.New(0).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func TestStreamKeepsItsContract(t *testing.T) {
	for _, mode := range modes {
		for _, prompt := range []string{"Survey", "Well?", "A long survey"} {
			got := chunks(t, request(mode, prompt))
			checkStream(t, got)
			if diff := cmp.Diff(got, chunks(t, request(mode, prompt))); diff != "" {
				t.Errorf("%s, %s: not the same twice: %s", mode, prompt, diff)
			}
			last := got[len(got)-1]
			if last.Usage.Input < 10 || last.Usage.Output < 10 || last.Usage.Reasoning < 5 || last.Usage.Reasoning >= last.Usage.Output {
				t.Errorf("%s, %s: usage %+v", mode, prompt, last.Usage)
			}
			if strings.HasSuffix(prompt, "?") == (last.Reason == part.ReasonToolCalls) {
				t.Errorf("%s, %s: reason %s", mode, prompt, last.Reason)
			}
		}
	}
}

// checkStream: reasoning, then text, then calls in fragments, then one finish.
func checkStream(t testing.TB, got []agent.Chunk) {
	t.Helper()
	order := map[agent.ChunkKind]int{
		agent.ChunkUsage: 0, agent.ChunkReasoning: 1, agent.ChunkReasoningEnd: 2, agent.ChunkText: 3,
		agent.ChunkToolStart: 4, agent.ChunkToolDelta: 4, agent.ChunkToolEnd: 4, agent.ChunkFinish: 5,
	}
	at, open, arguments := 0, "", ""
	ids := map[string]bool{}
	for i, c := range got {
		if order[c.Kind] < at {
			t.Errorf("chunk %d: kind %d after %d", i, c.Kind, at)
		}
		at = order[c.Kind]
		if !utf8.ValidString(c.Text) {
			t.Errorf("chunk %d: %q", i, c.Text)
		}
		switch c.Kind {
		case agent.ChunkText, agent.ChunkReasoning:
			if len(strings.Fields(c.Text)) != 1 {
				t.Errorf("chunk %d is not one word: %q", i, c.Text)
			}
		case agent.ChunkToolStart:
			if open != "" || c.ID == "" || c.Name == "" || ids[c.ID] {
				t.Errorf("chunk %d: %+v while %q is open", i, c, open)
			}
			open, arguments, ids[c.ID] = c.ID, "", true
		case agent.ChunkToolDelta:
			if c.ID != open || c.Text == "" {
				t.Errorf("chunk %d: %+v while %q is open", i, c, open)
			}
			arguments += c.Text
		case agent.ChunkToolEnd:
			var object map[string]any
			if err := json.Unmarshal([]byte(c.Text), &object); err != nil || c.Text != arguments || c.ID != open {
				t.Errorf("chunk %d: %v, %q, %q", i, err, c.Text, arguments)
			}
			open = ""
		}
	}
	if last := got[len(got)-1]; last.Kind != agent.ChunkFinish || open != "" {
		t.Errorf("ends with %+v, %q open", last, open)
	}
}

func TestPaceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, waits := time.Now(), 0
		for c, err := range rehearsal.New(40*time.Millisecond).Stream(t.Context(), request(planning.Metronome, "Survey")) {
			if err != nil {
				t.Fatal(err)
			}
			switch c.Kind {
			case agent.ChunkText, agent.ChunkReasoning, agent.ChunkToolDelta:
				waits++
			}
			if took := time.Since(begin); took != time.Duration(waits)*40*time.Millisecond {
				t.Fatalf("%v after %d words", took, waits)
			}
		}
	})
}

func TestStopEndsTheStreamAtOnce(t *testing.T) {
	all := len(chunks(t, request(planning.Metronome, "Survey")))
	for n := range all {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			seen, begin := 0, time.Time{}
			var last error
			for _, err := range rehearsal.New(time.Hour).Stream(ctx, request(planning.Metronome, "Survey")) {
				if last != nil {
					t.Fatal("something came after the error")
				}
				if last = err; err != nil {
					continue
				}
				if seen++; seen == n+1 {
					cancel()
					begin = time.Now()
				}
			}
			if n < all-1 && !errors.Is(last, context.Canceled) || seen != n+1 || time.Since(begin) != 0 {
				t.Errorf("after chunk %d: %d chunks, %v, %v later", n, seen, last, time.Since(begin))
			}
		})
	}
}

func TestAWaitIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		var last error
		for _, err := range rehearsal.New(time.Hour).Stream(ctx, request(planning.None, "Survey")) {
			last = err
		}
		if !errors.Is(last, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("%v after %v", last, time.Since(begin))
		}
	})
}

func TestALeavingReaderEndsTheStream(t *testing.T) {
	req := request(planning.Steps, "Survey and fail")
	for n := range len(chunks(t, req)) {
		seen := 0
		for range rehearsal.New(0).Stream(t.Context(), req) {
			if seen++; seen > n {
				break
			}
		}
	}
}

func TestFailEndsWithTheProviderError(t *testing.T) {
	req := request(planning.None, "fail")
	h := improviser{req: req, answer: func(int, string) (string, bool) { return "[the folder is empty]", false }}
	err := h.run(t)
	provider, ok := agent.AsProviderError(err)
	if !ok || provider.Retryable || provider.Code != "rehearsed_failure" || !strings.HasPrefix(provider.Message, "rehearsed failure") {
		t.Errorf("got %v", err)
	}
}

func TestCacheIsCounted(t *testing.T) {
	req := request(planning.None, "Survey")
	h := improviser{req: req, answer: func(int, string) (string, bool) { return "a.txt  10 bytes\n[1 file, 0 folders]", false }}
	h.step(t)
	got := chunks(t, h.req)
	if u := got[len(got)-1].Usage; u.CacheRead == 0 || u.Input == 0 || u.Input >= u.CacheRead {
		t.Errorf("usage %+v", u)
	}
}
