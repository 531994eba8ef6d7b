package planning

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// neutralJSON is neutral inside a JSON string.
const neutralJSON = `\\u003c`

// escapeJSON escapes the frame tags in the strings of a JSON text, keys
// included. Bytes outside a tag's `<` stay as they are.
func escapeJSON(s string) string {
	var out strings.Builder
	kept := 0 // s[:kept] is in out
	for i := 0; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		end := literalEnd(s, i)
		text, starts := decodeLiteral(s[:end-1], i+1)
		for j := 0; j < len(text); j++ {
			if text[j] == '<' && startsTag(text[j+1:]) {
				out.WriteString(s[kept:starts[j]])
				out.WriteString(neutralJSON)
				kept = starts[j+1]
			}
		}
		i = end - 1
	}
	return out.String() + s[kept:]
}

// literalEnd is the offset after the string literal that begins at start.
func literalEnd(s string, start int) int {
	for i := start + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// decodeLiteral decodes s from offset at on as the inside of a JSON string.
// starts[i] is the offset at which the spelling of text[i] begins; one more
// entry holds the end.
func decodeLiteral(s string, at int) (text string, starts []int) {
	var b []byte
	for at < len(s) {
		r, size := decodeUnit(s[at:])
		before := len(b)
		b = utf8.AppendRune(b, r)
		for range len(b) - before {
			starts = append(starts, at)
		}
		at += size
	}
	return string(b), append(starts, len(s))
}

// decodeUnit decodes one character of a JSON string and the size of its
// spelling.
func decodeUnit(s string) (rune, int) {
	if s[0] != '\\' || len(s) < 2 {
		return utf8.DecodeRuneInString(s)
	}
	if s[1] != 'u' {
		if i := strings.IndexByte("bfnrt", s[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(s[1]), 2
	}
	r, ok := hexUnit(s)
	if !ok {
		return utf8.RuneError, 2
	}
	if low, ok := hexUnit(s[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// hexUnit reads the escape \uXXXX at the beginning of s.
func hexUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
