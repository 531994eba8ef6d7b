package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// call is one tool call of a step.
type call struct {
	id, name string
	tool     *Tool           // nil: the planner's, complete, ask_user or unknown
	args     strings.Builder // the argument text as it came
	input    json.RawMessage // a JSON object; nil while the arguments are not usable
	fault    string          // why the arguments, though at their end, are not usable
	ended    bool            // the arguments reached their end
	done     bool            // the call has its result

	approvalID string // set once the user was asked
	approved   bool
	acted      bool // data-tool-start was logged
	output     bool // it ended with output
	ran        bool // it ran in this process
	faulty     bool // a planner call refused for its arguments
}

// answer is one step's answer of the model while it streams and after it.
type answer struct {
	run       *run
	text      strings.Builder // of all its text parts
	calls     []*call
	byChunk   map[string]*call // by the provider's id
	reason    part.FinishReason
	pause     bool
	broken    string // why a fragment of a call could not be placed
	usage     part.Usage
	shown     bool // an entry of it was logged
	finished  bool // the stream reached its own end
	completed bool // complete was called and accepted
	refused   bool // complete was called and refused
	settled   bool // what follows the step was logged before a takeover
	verdict   verdict

	open openPart // the text or reasoning part that still grows
}

// openPart is a text or reasoning part that still grows; kind is empty without one.
type openPart struct {
	kind part.Kind
	id   string
	text strings.Builder
}

// listen makes one model call and logs its answer as it comes. The answer is
// returned with an error too, as far as it came.
func (r *run) listen(ctx context.Context, req Request) (*answer, error) {
	a := &answer{run: r, byChunk: map[string]*call{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(r.limits.Silence, func() { cancel(errSilence) })
	defer watch.Stop()

	for chunk, err := range r.job.Model.Stream(ctx, req) {
		watch.Reset(r.limits.Silence)
		switch {
		case a.finished:
			return a, a.close(nil) // what comes after the finish says nothing
		case err != nil || ctx.Err() != nil:
			return a, r.streamError(ctx, err)
		}
		if err := a.take(chunk); err != nil {
			return a, err
		}
	}
	if !a.finished {
		return a, r.streamError(ctx, &ProviderError{
			Kind: KindBroken, Code: string(KindBroken), Retryable: true,
			Message: "the provider's stream ended before the answer did",
		})
	}
	return a, a.close(nil)
}

// streamError is why a stream failed: what cancelled it comes first.
func (r *run) streamError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if !errors.Is(cause, errSilence) {
			return cause
		}
		return &ProviderError{
			Kind: KindSilence, Code: string(KindSilence),
			Message: fmt.Sprintf("the provider sent nothing for %s", r.limits.Silence),
		}
	}
	if _, ok := AsProviderError(err); ok {
		return err
	}
	return &ProviderError{Kind: KindBroken, Code: string(KindBroken), Message: err.Error(), Retryable: true}
}

// take logs one chunk.
func (a *answer) take(c Chunk) error {
	switch c.Kind {
	case ChunkText:
		return a.grow(part.KindText, c.Text)
	case ChunkReasoning:
		return a.grow(part.KindReasoning, c.Text)
	case ChunkReasoningEnd:
		return a.endReasoning(c.Metadata)
	case ChunkToolStart:
		return a.startCall(c)
	case ChunkToolDelta:
		return a.growCall(c)
	case ChunkToolEnd:
		return a.endCall(c)
	case ChunkToolBroken:
		a.broken = c.Text
		if a.broken == "" {
			a.broken = "a fragment of a tool call belonged to no call"
		}
	case ChunkSource:
		a.shown = true
		return errors.Join(a.close(nil), a.run.emit(&part.Entry{
			Type: part.SourceURL, SourceID: a.run.nextID("source"), URL: c.URL, Title: c.Title,
		}))
	case ChunkUsage:
		a.usage = c.Usage
	case ChunkFinish:
		a.finished, a.reason, a.pause = true, c.Reason, c.Pause
		if c.Usage != (part.Usage{}) {
			a.usage = c.Usage
		}
	}
	return nil
}

// grow adds text to the open part of the kind, or opens one.
func (a *answer) grow(kind part.Kind, text string) error {
	if text == "" {
		return nil
	}
	if a.open.kind != kind {
		if err := a.begin(kind); err != nil {
			return err
		}
	}
	a.open.text.WriteString(text)
	delta := part.ReasoningDelta
	if kind == part.KindText {
		delta = part.TextDelta
		a.text.WriteString(text)
		a.run.work.chars += utf8.RuneCountInString(text)
	}
	return a.run.stream(&part.Entry{Type: delta, ID: a.open.id, Delta: text})
}

func (a *answer) begin(kind part.Kind) error {
	if err := a.close(nil); err != nil {
		return err
	}
	a.shown = true
	a.open = openPart{kind: kind, id: a.run.nextID(string(kind))}
	start := part.ReasoningStart
	if kind == part.KindText {
		start = part.TextStart
		if a.text.Len() > 0 {
			a.text.WriteString("\n\n")
		}
	}
	return a.run.emit(&part.Entry{Type: start, ID: a.open.id})
}

// close ends the open part, if there is one.
func (a *answer) close(metadata json.RawMessage) error {
	if a.open.kind == "" {
		return nil
	}
	delta, end := part.ReasoningDelta, part.ReasoningEnd
	if a.open.kind == part.KindText {
		delta, end = part.TextDelta, part.TextEnd
	}
	if text := a.open.text.String(); text != "" {
		a.run.keep(&part.Entry{Type: delta, ID: a.open.id, Delta: text})
	}
	id := a.open.id
	a.open = openPart{}
	return a.run.emit(&part.Entry{Type: end, ID: id, ProviderMetadata: metadata})
}

// endReasoning closes the open reasoning; a signature without any text, as
// redacted reasoning has it, becomes a part of its own.
func (a *answer) endReasoning(metadata json.RawMessage) error {
	if a.open.kind != part.KindReasoning {
		if len(metadata) == 0 {
			return nil
		}
		if err := a.begin(part.KindReasoning); err != nil {
			return err
		}
	}
	return a.close(metadata)
}

func (a *answer) startCall(c Chunk) error {
	if err := a.close(nil); err != nil {
		return err
	}
	a.shown = true
	k := &call{id: a.run.uniqueCallID(c.ID), name: c.Name, tool: a.run.tools[c.Name]}
	a.calls = append(a.calls, k)
	a.byChunk[c.ID] = k
	return a.run.emit(&part.Entry{
		Type: part.ToolInputStart, ToolCallID: k.id, ToolName: k.name, Dynamic: a.run.dynamic(k.name),
	})
}

func (a *answer) growCall(c Chunk) error {
	k := a.byChunk[c.ID]
	if k == nil || k.ended || c.Text == "" {
		return nil
	}
	k.args.WriteString(c.Text)
	return a.run.stream(&part.Entry{Type: part.ToolInputDelta, ToolCallID: k.id, InputTextDelta: c.Text})
}

// endCall takes the whole arguments. Unusable ones wait for the finish reason,
// which says whether they are wrong or were cut.
func (a *answer) endCall(c Chunk) error {
	k := a.byChunk[c.ID]
	if k == nil || k.ended {
		return nil
	}
	k.ended = true
	k.args.Reset()
	k.args.WriteString(c.Text)
	if k.input, k.fault = parseInput(c.Text); k.fault != "" {
		return nil
	}
	return a.run.emit(&part.Entry{
		Type: part.ToolInputAvailable, ToolCallID: k.id, ToolName: k.name, Dynamic: a.run.dynamic(k.name), Input: k.input,
	})
}

// shape says how far the calls came.
func (a *answer) shape() shape {
	if len(a.calls) == 0 {
		return noCalls
	}
	for _, k := range a.calls {
		if !k.ended {
			return cutCalls
		}
	}
	return wholeCalls
}

// parseInput reads the argument text of a call: a JSON object, or why not.
func parseInput(text string) (json.RawMessage, string) {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage(`{}`), ""
	}
	raw := json.RawMessage(text)
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, fmt.Sprintf("the arguments are not valid JSON: %s at byte %d", syntax, syntax.Offset)
	case err != nil || fields == nil:
		return nil, "the arguments are valid JSON but not an object"
	}
	return bytes.Clone(raw), ""
}

// refuse gives every call of the answer that has no result yet an error.
func (a *answer) refuse(e *planning.ToolError) error {
	for _, k := range a.calls {
		if err := a.run.refuse(k, e); err != nil {
			return err
		}
	}
	return nil
}
