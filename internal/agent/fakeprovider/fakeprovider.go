// Package fakeprovider is a model server for tests. It speaks the wire formats
// of OpenAI's chat completions and of Anthropic's Messages, plays script N for
// model call N, records every request, refuses requests that break the real
// providers' rules, and can cut its answers anywhere.
//
//	s := fakeprovider.Start(t,
//		fakeprovider.Play(fakeprovider.C(0, "c1", "read_file", `{"path":"a.txt"}`), fakeprovider.F("tool_calls"), fakeprovider.D()),
//		fakeprovider.Play(fakeprovider.T("Done."), fakeprovider.F("stop"), fakeprovider.D()),
//	)
//	m := openai.New(openai.Options{BaseURL: s.OpenAI(), APIKey: "k"})
package fakeprovider

import "net/http"

// Script is the answer to one model call.
type Script struct {
	Steps  []Step
	Status int         // 0 is 200
	Header http.Header // added to the answer's; a Content-Type replaces the stream's
	Body   string      // sent instead of Steps where there are none
}

// Play is a stream of steps.
func Play(steps ...Step) Script { return Script{Steps: steps} }

// Reply is an answer that is no stream.
func Reply(status int, contentType, body string) Script {
	return Script{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// With adds a header to the answer.
func (s Script) With(name, value string) Script {
	s.Header = s.Header.Clone()
	if s.Header == nil {
		s.Header = http.Header{}
	}
	s.Header.Set(name, value)
	return s
}

// Step is one step of a stream; most are one frame.
type Step struct {
	kind  kind
	text  string
	block int // Anthropic: the content block
	think string
	sign  string // Anthropic: signs think
	hold  <-chan struct{}
	make  func(*anthropicState) string // Anthropic: the frames, which depend on those before
}

type kind int

const (
	frameKind kind = iota // text is a whole frame
	flushKind
	holdKind
	eofKind
	dropKind
	rstKind
	anthropicKind
)

// Raw is these bytes as they are, plus LF LF.
func Raw(bytes string) Step { return Step{text: bytes + "\n\n"} }

// Bytes is these bytes and nothing else.
func Bytes(bytes string) Step { return Step{text: bytes} }

// Flush sends what was written so far at once.
func Flush() Step { return Step{kind: flushKind} }

// Hold sends what was written so far and waits until the channel is closed, the
// client has gone or the server closes. A nil channel waits for the latter two.
func Hold(until <-chan struct{}) Step { return Step{kind: holdKind, hold: until} }

// EOF is the orderly end of the answer at this point.
func EOF() Step { return Step{kind: eofKind} }

// Drop closes the connection in the middle of the answer.
func Drop() Step { return Step{kind: dropKind} }

// RST resets the connection.
func RST() Step { return Step{kind: rstKind} }

// Wire is the bytes of the steps that are frames, as they go over the wire.
func Wire(steps ...Step) []byte {
	var out []byte
	for _, m := range moves(steps) {
		out = append(out, m.text...)
	}
	return out
}

// moves are the steps with every frame made, those that the script left out
// included.
func moves(steps []Step) []Step {
	var out []Step
	var state anthropicState
	for i, s := range steps {
		if s.kind == anthropicKind {
			state.rest = steps[i+1:]
			s = Step{text: s.make(&state)}
		}
		out = append(out, s)
	}
	return out
}
