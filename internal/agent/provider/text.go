package provider

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Bytes is the content of a JSON string as the provider sent it: bytes that are
// no UTF-8 yet stay as they are, and half a surrogate pair keeps a form that
// Joiner can complete with the other half. Other JSON gives nil and false.
func Bytes(raw json.RawMessage) ([]byte, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, true
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 >= len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			out = appendUnit(out, hex4(raw[i+1:]))
			i += 4
		default:
			out = append(out, raw[i])
		}
	}
	return out, true
}

// hex4 reads four hexadecimal digits; U+FFFD where there are none.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// appendUnit appends one UTF-16 code unit: a surrogate in the three bytes that
// UTF-8 would have for it, joined with the half before it.
func appendUnit(out []byte, c rune) []byte {
	if !utf16.IsSurrogate(c) {
		return utf8.AppendRune(out, c)
	}
	if n := len(out); n >= 3 {
		if joined := joinHalves(out[n-3:], c); joined != 0 {
			return utf8.AppendRune(out[:n-3], joined)
		}
	}
	return append(out, 0xE0|byte(c>>12), 0x80|byte(c>>6)&0x3F, 0x80|byte(c)&0x3F)
}

// joinHalves is the character of a high surrogate in three bytes and a low
// one; 0 where they make none.
func joinHalves(high []byte, low rune) rune {
	h := half(high)
	if h < 0xD800 || h > 0xDBFF {
		return 0
	}
	if c := utf16.DecodeRune(h, low); c != utf8.RuneError {
		return c
	}
	return 0
}

// half is the surrogate that the first three bytes stand for; 0 for none.
func half(b []byte) rune {
	if len(b) < 3 || b[0] != 0xED || b[1]&0xE0 != 0xA0 || b[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
}

// Joiner turns fragments of text that may be cut inside a character into valid
// UTF-8: an unfinished end waits for the next fragment. The zero value is ready.
type Joiner struct {
	held []byte // at most 5 bytes
}

// Add returns what is complete after the fragment.
func (j *Joiner) Add(b []byte) string {
	if len(j.held) == 0 && utf8.Valid(b) {
		return string(b)
	}
	b = append(j.held, b...)
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		c, n, whole := nextRune(b)
		if !whole {
			break
		}
		out = utf8.AppendRune(out, c)
		b = b[n:]
	}
	j.held = bytes.Clone(b)
	return string(out)
}

// Flush returns U+FFFD for an end that never came, else "".
func (j *Joiner) Flush() string {
	if len(j.held) == 0 {
		return ""
	}
	j.held = nil
	return string(utf8.RuneError)
}

// nextRune decodes the first character and its length; whole is false where
// more bytes could still change it.
func nextRune(b []byte) (c rune, n int, whole bool) {
	if b[0] == 0xED && (len(b) == 1 || b[1]&0xE0 == 0xA0) {
		switch h := half(b); {
		case len(b) < 3:
			return 0, 0, false
		case h == 0:
			return utf8.RuneError, 1, true
		case h >= 0xDC00: // a low half without its high one
			return utf8.RuneError, 3, true
		case len(b) == 3, len(b) < 6 && couldBeLow(b[3:]):
			return 0, 0, false
		default:
			if joined := joinHalves(b, half(b[3:])); joined != 0 {
				return joined, 6, true
			}
			return utf8.RuneError, 3, true
		}
	}
	if !utf8.FullRune(b) {
		return 0, 0, false
	}
	c, n = utf8.DecodeRune(b)
	return c, n, true
}

// couldBeLow: the one or two bytes can begin a low surrogate.
func couldBeLow(b []byte) bool {
	return b[0] == 0xED && (len(b) == 1 || b[1]&0xF0 == 0xB0)
}
