package agent

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// invoke calls the tool and contains its panics. A tool that does not come
// back within the grace after its context has ended is left behind; what it
// returns in the end is a latecomer.
func (r *run) invoke(ctx context.Context, tool *Tool, in ToolCall) ToolResult {
	out := make(chan ToolResult, 1)
	var settled atomic.Bool // who sets it first decides where the result goes
	go func() {
		result := protect(ctx, tool, in)
		if settled.CompareAndSwap(false, true) {
			out <- result
			return
		}
		r.late.add(in.CallID, result)
	}()
	select {
	case result := <-out:
		return result
	case <-ctx.Done():
	}
	grace := time.NewTimer(r.limits.Grace)
	defer grace.Stop()
	select {
	case result := <-out:
		return result
	case <-grace.C:
	}
	if !settled.CompareAndSwap(false, true) {
		return <-out
	}
	return ToolResult{Err: &planning.ToolError{Code: codeTimeout, Message: "the tool did not end when it was told to"}}
}

// protect makes a panic of the tool its error.
func protect(ctx context.Context, tool *Tool, in ToolCall) (result ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			result = ToolResult{Err: &planning.ToolError{Code: codePanic, Message: fmt.Sprintf("the tool failed: %v", p)}}
		}
	}()
	return tool.Run(ctx, in)
}

// latecomers are results of calls that were given up before.
type latecomers struct {
	mu      sync.Mutex
	entries []*part.Entry
}

func (l *latecomers) add(callID string, result ToolResult) {
	e := &part.Entry{Type: part.ToolOutput, ToolCallID: callID, Output: result.Output, Files: result.Files, Late: true}
	if result.Err != nil {
		e.Type, e.Output, e.ErrorText = part.ToolOutputError, nil, errorText(result.Err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
}

func (l *latecomers) take() []*part.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := l.entries
	l.entries = nil
	return entries
}

// logLate logs what came too late. It changes no row, so an error is the next
// call's.
func (r *run) logLate() {
	for _, e := range r.late.take() {
		if e.Type == part.ToolOutput {
			e.Output, _ = bound(e.Output, r.limits.ToolOutput)
		}
		_ = r.stream(e)
	}
}
