package planning

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// neutral stands for the `<` of a frame tag in a text.
const neutral = `\u003c`

// frameNames are the names of the server's frames, letters only.
var frameNames = []string{"taskreminder", "planstate"}

// EscapeFrame makes a text of a model, a tool, a file or a user safe inside a
// server frame: every `<` becomes the six characters \u003c. It is idempotent.
func EscapeFrame(s string) string { return strings.ReplaceAll(s, "<", neutral) }

// EscapeTags makes a text safe beside the server frames: the `<` of any
// spelling of the tags task_reminder and plan_state becomes the six characters
// \u003c, and nothing else changes. Any spelling: opening or closing, any case,
// with spaces or invisible characters inside, with attributes. Where s is a JSON
// object, array or string, the tags are those of its decoded strings, and they
// are neutral after decoding too. It is idempotent.
func EscapeTags(s string) string {
	if !strings.Contains(s, "<") && !strings.Contains(s, `\u003`) {
		return s
	}
	if isJSON(s) {
		return escapeJSON(s)
	}
	return escapeText(s)
}

func escapeText(s string) string {
	var out strings.Builder
	kept := 0 // s[:kept] is in out
	for i := 0; i < len(s); i++ {
		if s[i] == '<' && startsTag(s[i+1:]) {
			out.WriteString(s[kept:i])
			out.WriteString(neutral)
			kept = i + 1
		}
	}
	return out.String() + s[kept:]
}

func isJSON(s string) bool {
	t := strings.TrimLeft(s, " \t\r\n")
	return t != "" && strings.IndexByte(`{["`, t[0]) >= 0 && json.Valid([]byte(s))
}

// startsTag: rest, which follows a `<`, begins with a frame's name.
func startsTag(rest string) bool {
	rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r == '/' || r == '\\' || isFiller(r) })
	for _, name := range frameNames {
		if after, ok := cutName(rest, name); ok && endsName(after) {
			return true
		}
	}
	return false
}

// cutName takes the letters of a name off s, whatever their case, with spaces,
// invisible characters and separators between them.
func cutName(s, name string) (after string, ok bool) {
	for i, r := range s {
		switch {
		case foldsTo(r, rune(name[0])):
			if name = name[1:]; name == "" {
				return s[i+utf8.RuneLen(r):], true
			}
		case r != '_' && r != '-' && !isFiller(r):
			return "", false
		}
	}
	return "", false
}

// endsName: the name is not the beginning of a longer one.
func endsName(after string) bool {
	after = strings.TrimLeftFunc(after, func(r rune) bool { return unicode.Is(unicode.Cf, r) })
	after = strings.TrimPrefix(strings.TrimPrefix(after, "_"), "-")
	r, n := utf8.DecodeRuneInString(after)
	return n == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// foldsTo: r is the letter c in some case. c is a small ASCII letter.
func foldsTo(r, c rune) bool {
	if r == c {
		return true
	}
	for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
		if r == f {
			return true
		}
	}
	return false
}

// isFiller: a space, or a character that cannot be seen.
func isFiller(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
