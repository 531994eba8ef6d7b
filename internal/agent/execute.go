package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// execute gives every call of a step its result. Working calls run side by
// side up to the next serial one; the planner's calls and complete run one by
// one in call order, after the working calls before them have ended.
func (r *run) execute(ctx context.Context, a *answer) error {
	for calls := a.calls; len(calls) > 0; {
		n := slices.IndexFunc(calls, r.serial)
		if n == 0 {
			if err := r.serialCall(ctx, a, calls[0]); err != nil {
				return err
			}
			calls = calls[1:]
			continue
		}
		if n < 0 {
			n = len(calls)
		}
		if err := r.sideBySide(ctx, calls[:n]); err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

// serial: the call changes or asks the plan, so it runs alone.
func (r *run) serial(c *call) bool {
	return c.name == completeTool || r.plans(c.name)
}

func (r *run) serialCall(ctx context.Context, a *answer, c *call) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case c.done:
		return nil
	case c.input == nil:
		c.faulty = true
		return r.refuse(c, &planning.ToolError{Code: codeBadJSON, Message: c.fault})
	case c.name == completeTool:
		return r.completeCall(a, c)
	}
	return r.planCall(a, c)
}

// batch is the working calls that run side by side.
type batch struct {
	run      *run
	calls    map[string]*call // by id; those without a result yet
	running  int
	ended    chan ended
	progress *progress
	waiting  []part.Waiting // as last stored
}

// ended is a call that came back.
type ended struct {
	call   *call
	result ToolResult
	cause  error // why its context ended, nil where it did not
}

// sideBySide runs working calls until each has its result.
func (r *run) sideBySide(ctx context.Context, calls []*call) error {
	b := &batch{run: r, calls: map[string]*call{}, ended: make(chan ended, len(calls)), progress: newProgress()}
	var ready []*call
	for _, c := range calls {
		starts, err := b.admit(c)
		if err != nil {
			return err
		}
		if starts {
			ready = append(ready, c)
		}
	}
	err := b.start(ctx, ready)
	if err == nil {
		err = b.wait(calls)
	}
	for len(b.calls) > 0 && err == nil {
		err = b.next(ctx, calls)
	}
	if err != nil {
		b.abandon(err)
	}
	return err
}

// admit checks a call before it starts: true where it can start now, else it
// has its result already or waits for the user.
func (b *batch) admit(c *call) (bool, error) {
	r := b.run
	if c.done {
		return false, nil
	}
	if c.input == nil {
		return false, r.refuse(c, &planning.ToolError{Code: codeBadJSON, Message: c.fault})
	}
	if c.name == askTool {
		if e := r.schemas.check(askSpec, c.input); e != nil {
			return false, r.refuse(c, e)
		}
		b.calls[c.id] = c
		r.in.openQuestion(c.id)
		return false, nil
	}
	if c.tool == nil {
		return false, r.refuse(c, r.unknownTool(c.name))
	}
	if c.acted && !c.tool.Idempotent {
		return false, r.refuse(c, outcomeUnknown)
	}
	if e := r.schemas.check(c.tool.Spec, c.input); e != nil {
		return false, r.refuse(c, e)
	}
	b.calls[c.id] = c
	if c.approved || c.acted || !c.tool.Approval || r.allows(c.name) {
		return true, nil
	}
	r.in.openApproval(c.id)
	if c.approvalID != "" {
		return false, nil // asked before a takeover
	}
	c.approvalID = r.job.NewID()
	return false, r.emit(&part.Entry{Type: part.ToolApprovalRequest, ToolCallID: c.id, ToolName: c.name, ApprovalID: c.approvalID})
}

// start begins calls. The start of one that may not be repeated is durable
// before it acts.
func (b *batch) start(ctx context.Context, calls []*call) error {
	r := b.run
	sync := false
	for _, c := range calls {
		entries := []*part.Entry{activity(part.PhaseAct, actLine(c.name, c.input))}
		if !c.tool.Idempotent {
			entries = append(entries, &part.Entry{Type: part.ToolStart, ToolCallID: c.id})
			sync = true
		}
		if err := r.emit(entries...); err != nil {
			return err
		}
	}
	if sync {
		if err := r.sync(); err != nil {
			return err
		}
	}
	for _, c := range calls {
		c.ran = true
		b.running++
		go b.act(ctx, c)
	}
	return nil
}

// act runs one call in its own goroutine and always reports back.
func (b *batch) act(ctx context.Context, c *call) {
	limit := b.run.limits.Tool
	if c.tool.Timeout != 0 {
		limit = c.tool.Timeout
	}
	cancel := context.CancelFunc(func() {})
	if limit > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w of %s", errToolTimeout, limit))
	}
	defer cancel()
	result := b.run.invoke(ctx, c.tool, ToolCall{
		RunID: b.run.job.RunID, CallID: c.id, Name: c.name, Input: c.input,
		Progress: func(output json.RawMessage) { b.progress.put(c.id, output) },
	})
	b.ended <- ended{call: c, result: result, cause: context.Cause(ctx)}
}

// next handles one thing that happens while calls are open.
func (b *batch) next(ctx context.Context, calls []*call) error {
	r := b.run
	select {
	case e := <-b.ended:
		return b.end(e)
	case <-b.progress.bell:
		return b.show()
	case <-r.in.bell:
		for _, l := range r.in.take() {
			if err := b.deliver(ctx, l); err != nil {
				return err
			}
		}
		return b.wait(calls)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end logs what a call came to.
func (b *batch) end(e ended) error {
	b.running--
	delete(b.calls, e.call.id)
	b.progress.drop(e.call.id)
	return b.run.settleCall(e)
}

// show logs the newest preliminary outputs.
func (b *batch) show() error {
	for id, output := range b.progress.take() {
		if b.calls[id] == nil {
			continue
		}
		shown, _ := bound(output, b.run.limits.ToolOutput)
		if err := b.run.stream(&part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: shown, Preliminary: true}); err != nil {
			return err
		}
	}
	return nil
}

// deliver hands a decision or an answer to its call.
func (b *batch) deliver(ctx context.Context, l letter) error {
	r := b.run
	c := b.calls[l.toolCallID]
	if c == nil {
		return nil
	}
	if l.answer != nil {
		return b.answered(c, *l.answer)
	}
	if l.decision.Allow && l.decision.Always {
		r.allowed[c.name] = true
	}
	if err := b.decided(ctx, c, *l.decision); err != nil || !r.allowed[c.name] {
		return err
	}
	for _, other := range b.calls {
		if other.name == c.name && other.approvalID != "" && !other.approved && r.in.settle(other.id) {
			if err := b.decided(ctx, other, Decision{Allow: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// decided logs a decision and starts the call or gives it its denial.
func (b *batch) decided(ctx context.Context, c *call, d Decision) error {
	r := b.run
	reply := &part.Entry{
		Type: part.ToolApprovalAnswer, ToolCallID: c.id, ApprovalID: c.approvalID, Approved: &d.Allow, Reason: d.Reason,
	}
	if d.Allow {
		c.approved = true
		if err := r.emit(reply); err != nil {
			return err
		}
		return b.start(ctx, []*call{c})
	}
	c.done = true
	delete(b.calls, c.id)
	return r.emit(reply,
		&part.Entry{Type: part.ToolOutputDenied, ToolCallID: c.id, Reason: d.Reason},
		activity(part.PhaseObs, obsLine(c.name, "denied")))
}

// answered logs the answer to an ask_user call as its output.
func (b *batch) answered(c *call, a Answer) error {
	r := b.run
	c.done, c.ran, c.output = true, true, true
	delete(b.calls, c.id)
	r.work.calls++
	output, _ := json.Marshal(a.Text)
	return r.emit(r.answerEntry(a, c.id),
		&part.Entry{Type: part.ToolOutput, ToolCallID: c.id, Output: output},
		activity(part.PhaseObs, obsLine(c.name, "answered")))
}

// wait stores what the run waits for, where that has changed.
func (b *batch) wait(calls []*call) error {
	var waiting []part.Waiting
	for _, c := range calls {
		switch {
		case b.calls[c.id] == nil:
		case c.name == askTool:
			waiting = append(waiting, b.run.askedBy(c))
		case c.approvalID != "" && !c.approved:
			waiting = append(waiting, part.Waiting{
				Kind: "approval", RunID: b.run.job.RunID, ToolCallID: c.id, Tool: c.name, Input: c.input,
			})
		}
	}
	same := slices.EqualFunc(waiting, b.waiting, func(v, w part.Waiting) bool { return v.ToolCallID == w.ToolCallID })
	if same {
		return nil
	}
	b.waiting = waiting
	return b.run.setWaiting(waiting)
}

// abandon ends what still runs. On a stop and the like each call hands in what
// it has; after a lost log or a shutdown nothing more is written.
func (b *batch) abandon(cause error) {
	b.run.cancel(cause)
	for ; b.running > 0; b.running-- {
		e := <-b.ended
		if b.run.settles(cause) {
			b.run.keepPartial(e, cause)
		}
	}
}

// refuse gives a call an error without running it.
func (r *run) refuse(c *call, e *planning.ToolError) error {
	if c.done {
		return nil
	}
	c.done = true
	entry := &part.Entry{Type: part.ToolOutputError, ToolCallID: c.id, ErrorText: errorText(e)}
	if c.input == nil {
		entry.Type, entry.ToolName, entry.Dynamic = part.ToolInputError, c.name, r.dynamic(c.name)
		entry.RawInput = c.args.String()
	}
	return r.emit(entry, activity(part.PhaseObs, obsLine(c.name, e.Message)))
}

// unknownTool tells the model which tools there are.
func (r *run) unknownTool(name string) *planning.ToolError {
	names := make([]string, 0, len(r.specs))
	for _, s := range r.specs {
		names = append(names, s.Name)
	}
	return &planning.ToolError{
		Code:    codeUnknownTool,
		Message: fmt.Sprintf("there is no tool %q here; the tools are %s", name, strings.Join(names, ", ")),
	}
}

// outcomeUnknown is the result of a call that a takeover found begun and not
// ended: it is never run a second time.
var outcomeUnknown = &planning.ToolError{
	Code:    codeInterrupted,
	Message: "interrupted, outcome unknown: the server stopped while this tool ran; look at what it did before you repeat it",
}

// allows: the chat, or the user in this run, lets the tool act without asking.
func (r *run) allows(tool string) bool {
	return r.job.Approve == nil || r.allowed[tool] || r.job.Approve(tool)
}

// dynamic: the tool is an MCP server's, or unknown.
func (r *run) dynamic(name string) bool {
	if t := r.tools[name]; t != nil {
		return t.Dynamic
	}
	return name != askTool && name != completeTool && !r.plans(name)
}
