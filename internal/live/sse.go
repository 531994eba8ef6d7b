package live

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/starfederation/datastar-go/datastar"
)

// Encoder writes server-sent events into memory. It is the one writer of every
// event stream of the program: all that goes into an event passes wire or field,
// so that no text can end a line of its own. It is for one goroutine.
type Encoder struct {
	out sink
	sse *datastar.ServerSentEventGenerator
}

// NewEncoder is an empty Encoder.
func NewEncoder() *Encoder {
	e := &Encoder{out: sink{header: http.Header{}}}
	e.sse = datastar.NewSSE(&e.out, encoderRequest)
	return e
}

// encoderRequest is what datastar-go wants to have; a buffer has no client that
// could go away.
var encoderRequest = (&http.Request{Header: http.Header{}}).WithContext(context.Background())

// Elements is an event that patches elements into the page.
type Elements struct {
	Selector string // the elements' own ids where it is empty
	Mode     string // outer where it is empty
	HTML     string
	ID       string // the event's id
}

// Elements adds a datastar-patch-elements event.
func (e *Encoder) Elements(p Elements) {
	options := []datastar.PatchElementOption{datastar.WithPatchElementsEventID(field(p.ID)), datastar.WithSelector(field(p.Selector))}
	if p.Mode != "" {
		options = append(options, datastar.WithMode(datastar.ElementPatchMode(field(p.Mode))))
	}
	e.wrote(e.sse.PatchElements(wire(p.HTML), options...))
}

// Signals adds a datastar-patch-signals event; signals are a JSON object.
func (e *Encoder) Signals(signals []byte, id string) {
	e.wrote(e.sse.PatchSignals([]byte(wire(string(signals))), datastar.WithPatchSignalsEventID(field(id))))
}

// Event adds an event of any type; each line of data becomes a data line.
func (e *Encoder) Event(kind, data, id string) {
	e.wrote(e.sse.Send(datastar.EventType(field(kind)), strings.Split(wire(data), "\n"), datastar.WithSSEEventId(field(id))))
}

// Comment adds a comment, which clients skip.
func (e *Encoder) Comment(text string) {
	e.out.WriteString(": " + field(text) + "\n\n")
}

// Bytes are the events since the last call.
func (e *Encoder) Bytes() []byte {
	b := bytes.Clone(e.out.Bytes())
	e.out.Reset()
	return b
}

// wrote: writing to memory fails only where the program is wrong.
func (e *Encoder) wrote(err error) {
	if err != nil {
		panic(err)
	}
}

// wire is text for the data of an event. Clients end a line at CR, LF or CRLF,
// so only LF may stand in it: the encoder splits there.
func wire(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return lineEnds.Replace(text)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// field is text for a place of one line: id, type, selector, mode, comment.
// Line ends and NUL, which would void an id, become spaces.
func field(text string) string {
	if !strings.ContainsAny(text, "\r\n\x00") {
		return text
	}
	return oneLine.Replace(text)
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")

// sink is memory as a response.
type sink struct {
	bytes.Buffer
	header http.Header
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Flush()              {}
