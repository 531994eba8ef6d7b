package part

import (
	"encoding/json"
	"strings"
)

// ActivityOf is the activity line that an entry tells; false where its data
// cannot be read. Long logs hold two for each tool call: what encoding/json
// writes of a plain line is read without it.
func ActivityOf(e *Entry) (ActivityData, bool) {
	if a, ok := plainActivity(string(e.Data)); ok {
		return a, true
	}
	var a ActivityData
	return a, json.Unmarshal(e.Data, &a) == nil
}

// plainActivity reads {"phase":"...","summary":"..."} where both are plain ASCII.
func plainActivity(s string) (a ActivityData, ok bool) {
	rest, ok := strings.CutPrefix(s, `{"phase":"`)
	if !ok {
		return a, false
	}
	phase, rest, ok := strings.Cut(rest, `","summary":"`)
	summary, end := strings.CutSuffix(rest, `"}`)
	return ActivityData{Phase: Phase(phase), Summary: summary}, ok && end && plain(phase) && plain(summary)
}

// plain: the text stands for itself inside a JSON string.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
