package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// settleCall logs what a working call came to.
func (r *run) settleCall(e ended) error {
	e.call.done = true
	if errors.Is(e.cause, errToolTimeout) {
		e.result.Err = timedOut(e.result, e.cause)
	}
	if e.result.Err != nil {
		return r.emit(&part.Entry{
			Type: part.ToolOutputError, ToolCallID: e.call.id, ErrorText: errorText(e.result.Err), Files: e.result.Files,
		}, activity(part.PhaseObs, obsLine(e.call.name, e.result.Err.Message)))
	}
	e.call.output = true
	r.work.calls++
	output, cut := bound(e.result.Output, r.limits.ToolOutput)
	full, mediaType := e.result.Full, e.result.MediaType
	if cut && len(full) == 0 {
		full, mediaType = wholeOutput(e.result.Output)
	}
	truncated := len(full) > 0
	if truncated {
		ctx, cancel := r.writing()
		err := r.log.SaveOutput(ctx, e.call.id, mediaType, full)
		cancel()
		if errors.Is(err, ErrFenced) {
			return err
		}
		truncated = err == nil // without the whole there is no link to it
	}
	return r.emit(&part.Entry{
		Type: part.ToolOutput, ToolCallID: e.call.id, Output: output, Truncated: truncated, Files: e.result.Files,
	}, activity(part.PhaseObs, obsLine(e.call.name, e.result.Summary)))
}

// keepPartial notes what a cancelled call had, for the entries of the end. It
// is never told as a success.
func (r *run) keepPartial(e ended, cause error) {
	e.call.done = true
	why := &planning.ToolError{Code: codeStopped, Message: "stopped by the user before it ended"}
	if !errors.Is(cause, ErrStopRequested) {
		why = &planning.ToolError{Code: codeInterrupted, Message: "not finished when the run ended"}
	}
	why.Message += soFar(e.result, r.limits.ToolOutput)
	r.last(&part.Entry{
		Type: part.ToolOutputError, ToolCallID: e.call.id, ErrorText: errorText(why), Reason: part.ReasonCancelled, Files: e.result.Files,
	})
}

// timedOut is the error of a call that met its time limit, with what it had.
func timedOut(result ToolResult, cause error) *planning.ToolError {
	return &planning.ToolError{
		Code:    codeTimeout,
		Message: cause.Error() + soFar(result, maxErrorOutput),
	}
}

// maxErrorOutput bounds the output that an error text repeats, in bytes.
const maxErrorOutput = 8 << 10

// soFar is what a cancelled call handed in, as the end of a sentence.
func soFar(result ToolResult, limit int) string {
	if result.Err != nil {
		return "; " + result.Err.Message
	}
	output, _ := bound(result.Output, min(limit, maxErrorOutput))
	if text := outputText("", output); text != "" {
		return "; output so far:\n" + text
	}
	return ""
}

// bound makes an output valid JSON of at most limit bytes of text: head and
// tail of what is longer. Slack for the tool's own marker is allowed.
func bound(output json.RawMessage, limit int) (json.RawMessage, bool) {
	const slack = 1 << 10
	if len(output) == 0 {
		return json.RawMessage(`""`), false
	}
	text := string(output)
	var s string
	if json.Valid(output) {
		if json.Unmarshal(output, &s) == nil {
			text = s
		}
		if len(text) <= limit+slack {
			return output, false
		}
	}
	cut := len(text) > limit+slack
	if cut {
		text = headTail(text, limit)
	}
	quoted, _ := json.Marshal(text)
	return quoted, cut
}

// headTail keeps two fifths of limit at the start and three at the end, cut
// between characters.
func headTail(text string, limit int) string {
	head, tail := limit*2/5, len(text)-(limit-limit*2/5)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return strings.ToValidUTF8(text[:head], "\uFFFD") +
		fmt.Sprintf("\n... %d bytes left out ...\n", tail-head) +
		strings.ToValidUTF8(text[tail:], "\uFFFD")
}

// wholeOutput is an output as the bytes to keep.
func wholeOutput(output json.RawMessage) ([]byte, string) {
	var s string
	if json.Unmarshal(output, &s) == nil {
		return []byte(s), "text/plain; charset=utf-8"
	}
	return output, "application/json"
}
