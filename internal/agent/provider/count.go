package provider

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Count is a number of tokens in a provider's JSON. Whatever is no number that
// makes sense counts as 0.
type Count int64

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	*c = 0
	n, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err == nil && n > 0 && n < 1e15 {
		*c = Count(n)
	}
	return nil
}

// Index reads a whole number that may be spelled as a string; false where there
// is none.
func Index(raw json.RawMessage) (int, bool) {
	n, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err != nil || n < 0 || n > 1e6 || n != math.Trunc(n) {
		return 0, false
	}
	return int(n), true
}

// Word is a JSON string or number as text; anything else is "".
func Word(raw json.RawMessage) string {
	if b, ok := Bytes(raw); ok {
		var j Joiner
		return j.Add(b) + j.Flush()
	}
	if n := json.Number(raw); len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return n.String()
	}
	return ""
}

// Arguments is the argument text of a tool call: a string's content, or an
// object as it stands.
func Arguments(raw json.RawMessage) []byte {
	if b, ok := Bytes(raw); ok {
		return b
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
