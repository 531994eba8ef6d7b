package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"stagefold/internal/part"
)

// timeLayout is how an entry's time stands in its JSON: UTC, to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z"

// entryJSON is an entry as JSON text. It differs from json.Marshal in two things:
// raw fields, which are valid JSON, stay byte for byte what they were (what a
// model sent is shown as it was sent), and invalid UTF-8 becomes U+FFFD in them
// too.
func entryJSON(e *part.Entry) string {
	w := object{[]byte{'{'}}
	w.number("seq", e.Seq)
	w.number("step", int64(e.Step))
	w.key("time")
	w.b = append(e.Time.UTC().AppendFormat(append(w.b, '"'), timeLayout), '"')
	w.key("type")
	w.b = appendString(w.b, string(e.Type))
	w.text("id", e.ID)
	w.text("delta", e.Delta)
	w.text("toolCallId", e.ToolCallID)
	w.text("toolName", e.ToolName)
	w.truth("dynamic", e.Dynamic)
	w.text("inputTextDelta", e.InputTextDelta)
	w.raw("input", e.Input)
	w.text("rawInput", e.RawInput)
	w.raw("output", e.Output)
	w.text("errorText", e.ErrorText)
	w.truth("preliminary", e.Preliminary)
	w.truth("truncated", e.Truncated)
	w.value("files", e.Files, len(e.Files) > 0)
	w.text("approvalId", e.ApprovalID)
	w.value("approved", e.Approved, e.Approved != nil)
	w.text("reason", e.Reason)
	w.text("sourceId", e.SourceID)
	w.text("url", e.URL)
	w.text("title", e.Title)
	w.text("mediaType", e.MediaType)
	w.text("filename", e.Filename)
	w.raw("providerMetadata", e.ProviderMetadata)
	w.raw("data", e.Data)
	w.text("finishReason", string(e.FinishReason))
	w.text("state", string(e.State))
	w.value("usage", e.Usage, e.Usage != nil)
	w.value("error", e.Error, e.Error != nil)
	w.value("debt", e.Debt, len(e.Debt) > 0)
	w.text("note", e.Note)
	w.value("waiting", e.Waiting, len(e.Waiting) > 0)
	w.truth("late", e.Late)
	return string(append(w.b, '}'))
}

// object appends an object's fields; empty ones are left out.
type object struct{ b []byte }

func (w *object) key(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

func (w *object) number(name string, n int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *object) text(name, s string) {
	if s != "" {
		w.key(name)
		w.b = appendString(w.b, s)
	}
}

func (w *object) truth(name string, t bool) {
	if t {
		w.key(name)
		w.b = append(w.b, "true"...)
	}
}

func (w *object) raw(name string, raw json.RawMessage) {
	if len(raw) > 0 {
		w.key(name)
		w.b = append(w.b, bytes.ToValidUTF8(raw, []byte("\uFFFD"))...)
	}
}

// value appends one of our own structs, which have no field that could be wrong.
func (w *object) value(name string, v any, there bool) {
	if !there {
		return
	}
	if s, err := encode(v); err == nil {
		w.key(name)
		w.b = append(w.b, s...)
	}
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string, with U+FFFD for what is not UTF-8.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	plain := 0 // s[plain:i] is yet to be appended as it is
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[plain:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, "\uFFFD"...)
		}
		i += size
		plain = i
	}
	return append(append(b, s[plain:]...), '"')
}
