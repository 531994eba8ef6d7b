package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// script is a Model that plays one answer a call, the last one for every call
// beyond, and records the requests.
type script struct {
	mu       sync.Mutex
	plays    []play
	choose   func(Request) play // instead of plays, where set
	requests []Request
	open     int // streams that have not returned
}

// play streams one answer.
type play func(ctx context.Context, yield func(Chunk, error) bool)

func (s *script) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		s.mu.Lock()
		var p play
		if s.choose != nil {
			p = s.choose(req)
		} else {
			p = s.plays[min(len(s.requests), len(s.plays)-1)]
		}
		s.requests = append(s.requests, req)
		s.open++
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.open--
			s.mu.Unlock()
		}()
		p(ctx, yield)
	}
}

func (s *script) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// answers plays the chunks in order.
func answers(groups ...[]Chunk) play {
	return func(_ context.Context, yield func(Chunk, error) bool) {
		for _, c := range slices.Concat(groups...) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// fails plays the chunks, then the error.
func fails(err error, groups ...[]Chunk) play {
	return func(ctx context.Context, yield func(Chunk, error) bool) {
		for _, c := range slices.Concat(groups...) {
			if !yield(c, nil) {
				return
			}
		}
		yield(Chunk{}, err)
	}
}

// hangs plays the chunks, then waits until it is cancelled.
func hangs(groups ...[]Chunk) play {
	return func(ctx context.Context, yield func(Chunk, error) bool) {
		for _, c := range slices.Concat(groups...) {
			if !yield(c, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(Chunk{}, ctx.Err())
	}
}

func say(text string) []Chunk {
	half := len(text) / 2
	return []Chunk{{Kind: ChunkText, Text: text[:half]}, {Kind: ChunkText, Text: text[half:]}}
}

func think(text, signature string) []Chunk {
	chunks := []Chunk{{Kind: ChunkReasoning, Text: text}}
	if signature == "" {
		return chunks
	}
	meta, _ := json.Marshal(map[string]string{"signature": signature})
	return append(chunks, Chunk{Kind: ChunkReasoningEnd, Metadata: meta})
}

func calls(id, name, args string) []Chunk {
	half := len(args) / 2
	return []Chunk{
		{Kind: ChunkToolStart, ID: id, Name: name},
		{Kind: ChunkToolDelta, ID: id, Text: args[:half]},
		{Kind: ChunkToolDelta, ID: id, Text: args[half:]},
		{Kind: ChunkToolEnd, ID: id, Text: args},
	}
}

// cut is a call whose arguments do not reach their end.
func cut(id, name, args string) []Chunk {
	c := calls(id, name, args)
	return c[:len(c)-1]
}

func ends(reason part.FinishReason) []Chunk {
	return []Chunk{{Kind: ChunkFinish, Reason: reason, Usage: part.Usage{Input: 10, Output: 3}}}
}

func stops() []Chunk { return ends(part.ReasonStop) }
func tools() []Chunk { return ends(part.ReasonToolCalls) }

// trial is one run to be tried.
type trial struct {
	t     *testing.T
	model *script
	log   *MemoryLog
	job   Job
	sweep bool // one of many runs of the same script, whose prefixes the whole run has tried
}

func try(t *testing.T, mode planning.Mode, plays ...play) *trial {
	t.Helper()
	model := &script{plays: plays}
	var ids int
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	return &trial{t: t, model: model, log: &MemoryLog{}, job: Job{
		RunID: "run-1", ChatID: "chat-1", UserMessageID: "message-1", UserText: "Do it.",
		Model: model, ModelName: "test/model", Mode: mode, Workspace: "sample",
		Tools: []Tool{readTool(), writeTool(nil)},
		Limits: Limits{
			Backoff: func(int) time.Duration { return 0 },
			Grace:   50 * time.Millisecond,
		},
		Now: func() time.Time {
			now = now.Add(time.Millisecond)
			return now
		},
		NewID: func() string {
			ids++
			return fmt.Sprintf("id-%d", ids)
		},
	}}
}

// run works on the job and checks everything that holds for every run.
func (tr *trial) run() Outcome {
	tr.t.Helper()
	out := Run(tr.t.Context(), tr.job, tr.log)
	tr.check()
	return out
}

// ended runs and wants the outcome.
func (tr *trial) ended(state part.State, reason part.FinishReason) *part.Entry {
	tr.t.Helper()
	out := tr.run()
	if out.Err != nil || out.State != state || out.Reason != reason {
		tr.t.Fatalf("outcome %+v, want %s/%s", out, state, reason)
	}
	return tr.finish()
}

// finish is the log's last entry.
func (tr *trial) finish() *part.Entry {
	tr.t.Helper()
	entries := tr.log.Entries()
	if len(entries) == 0 || entries[len(entries)-1].Type != part.Finish {
		tr.t.Fatalf("the log does not end with a finish entry")
	}
	return entries[len(entries)-1]
}

// stopAt stops the run when the entry of that number is committed.
func (tr *trial) stopAt(seq int) Outcome {
	ctx, cancel := context.WithCancelCause(tr.t.Context())
	defer cancel(nil)
	tr.log.Committed = func(entries []*part.Entry) {
		if entries[0].Seq <= int64(seq) && int64(seq) <= entries[len(entries)-1].Seq {
			cancel(ErrStopRequested)
		}
	}
	return Run(ctx, tr.job, tr.log)
}

// swept marks the trial as one of a sweep.
func (tr *trial) swept() *trial {
	tr.sweep = true
	return tr
}

// parts is the run's message.
func (tr *trial) parts() []*part.Part { return part.Build(tr.log.Entries()) }

// tool is the part of a call.
func (tr *trial) tool(callID string) *part.Part {
	tr.t.Helper()
	for _, p := range tr.parts() {
		if p.Kind == part.KindTool && p.Tool.CallID == callID {
			return p
		}
	}
	tr.t.Fatalf("no part for the call %s", callID)
	return nil
}

// results are the tool results that the nth request (from 1) ends with.
func (tr *trial) results(n int) []Content {
	tr.t.Helper()
	messages := tr.model.requests[n-1].Messages
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleTool {
			return messages[i].Content
		}
	}
	return nil
}

func object(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
}

// readTool reads a file of its own making; it may be run again blindly.
func readTool() Tool {
	return Tool{
		Spec:       ToolSpec{Name: "read_file", Description: "Reads a file.", Schema: object(`"path":{"type":"string"}`)},
		Idempotent: true,
		Run: func(_ context.Context, c ToolCall) ToolResult {
			var in struct{ Path string }
			_ = json.Unmarshal(c.Input, &in)
			out, _ := json.Marshal("content of " + in.Path)
			return ToolResult{Output: out, Summary: "1 line"}
		},
	}
}

// writeTool counts its runs by call id; it may not be repeated.
func writeTool(ran func(callID string)) Tool {
	return Tool{
		Spec: ToolSpec{Name: "write_file", Description: "Writes a file.", Schema: object(`"path":{"type":"string"},"content":{"type":"string"}`)},
		Run: func(_ context.Context, c ToolCall) ToolResult {
			if ran != nil {
				ran(c.CallID)
			}
			return ToolResult{Output: json.RawMessage(`{"ok":true}`), Files: []part.FileChange{{Path: "r.md", Op: "created"}}}
		},
	}
}
