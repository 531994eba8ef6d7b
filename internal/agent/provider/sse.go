package provider

import (
	"bytes"
	"errors"
)

// maxFrame bounds one frame of a stream, in bytes.
const maxFrame = 16 << 20

// errFrameTooLong says that a frame passed maxFrame.
var errFrameTooLong = errors.New("the provider sent a frame larger than 16 MiB")

// Frame is one event of an event stream.
type Frame struct {
	Event string // "" where the frame named none
	Data  []byte // the data lines, joined by LF; empty for a comment
}

// frames parses an event stream that arrives in any pieces: lines end in LF,
// CR LF or CR, comments are frames without data, unknown fields are kept apart.
// The zero value is ready.
type frames struct {
	line    []byte // the unfinished line
	skipLF  bool   // the last byte was a CR
	begun   bool   // the first line is over: no byte order mark from here
	event   string
	data    []byte
	hasData bool
	ready   []Frame
	seen    bool   // a frame with data came
	stray   []byte // lines that are no field, at most strayCap bytes
}

// strayCap bounds the kept text of a body that is no event stream.
const strayCap = 64 << 10

// push takes the next bytes. The frames that they end are in ready.
func (f *frames) push(b []byte) error {
	for len(b) > 0 {
		if f.skipLF {
			f.skipLF = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			f.line = append(f.line, b...)
			break
		}
		f.line = append(f.line, b[:end]...)
		f.skipLF = b[end] == '\r'
		b = b[end+1:]
		f.endLine()
	}
	if len(f.line)+len(f.data) > maxFrame {
		return errFrameTooLong
	}
	return nil
}

// flush ends the last line and frame at the end of the stream.
func (f *frames) flush() {
	if len(f.line) > 0 {
		f.endLine()
	}
	f.endFrame()
}

func (f *frames) endLine() {
	line := f.line
	f.line = f.line[:0]
	if !f.begun {
		f.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if len(line) == 0 {
		f.endFrame()
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "": // a comment
		f.ready = append(f.ready, Frame{})
	case "event":
		f.event = string(value)
	case "data":
		if f.hasData {
			f.data = append(f.data, '\n')
		}
		f.data, f.hasData = append(f.data, value...), true
	case "id", "retry":
	default:
		if room := strayCap - len(f.stray); room > 0 {
			f.stray = append(append(f.stray, line[:min(len(line), room)]...), '\n')
		}
		if line[0] == '{' && reportsError(line) {
			f.ready = append(f.ready, Frame{Event: "error", Data: bytes.Clone(line)})
		}
	}
}

// endFrame dispatches what was collected.
func (f *frames) endFrame() {
	if len(bytes.TrimSpace(f.data)) > 0 {
		f.seen = true
		f.ready = append(f.ready, Frame{Event: f.event, Data: bytes.Clone(f.data)})
	}
	f.event, f.data, f.hasData = "", f.data[:0], false
}
