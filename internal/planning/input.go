package planning

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// value is one JSON value of a call's input. Keys keep their case and order,
// numbers their spelling.
type value struct {
	kind   kind
	text   string // a string's content, a number's literal
	fields []field
	items  []value
}

type field struct {
	key   string
	value value
}

type kind string

const (
	kindObject kind = "an object"
	kindArray  kind = "an array"
	kindString kind = "a string"
	kindNumber kind = "a number"
	kindBool   kind = "a boolean"
	kindNull   kind = "null"
)

// deepest is the length of a path beyond which no value is read.
const deepest = 1000

// readInput reads a call's input. Nothing at all is the empty object. What is
// not JSON is refused with the place of the fault, a key that stands twice in
// one object with its path, and anything but an object.
func readInput(raw json.RawMessage) (value, *ToolError) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return value{kind: kindObject}, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return value{}, syntaxError(raw, err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := readValue(dec, "")
	if err != nil {
		return value{}, err
	}
	if v.kind != kindObject {
		return value{}, invalid("", "the arguments must be an object, not %s", v.kind)
	}
	return v, nil
}

// readValue reads the next value of dec, whose text is known to be JSON.
func readValue(dec *json.Decoder, path string) (value, *ToolError) {
	if len(path) > deepest {
		return value{}, invalid(path[:40], "the arguments are nested too deeply")
	}
	tok, err := dec.Token()
	if err != nil {
		return value{}, invalid(path, "the arguments could not be read: %v", err)
	}
	switch t := tok.(type) {
	case string:
		return value{kind: kindString, text: t}, nil
	case json.Number:
		return value{kind: kindNumber, text: t.String()}, nil
	case bool:
		return value{kind: kindBool}, nil
	case json.Delim:
		if t == '[' {
			return readArray(dec, path)
		}
		return readObject(dec, path)
	}
	return value{kind: kindNull}, nil
}

func readArray(dec *json.Decoder, path string) (value, *ToolError) {
	v := value{kind: kindArray}
	for dec.More() {
		item, err := readValue(dec, indexed(path, len(v.items)))
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, item)
	}
	_, _ = dec.Token() // the closing bracket
	return v, nil
}

func readObject(dec *json.Decoder, path string) (value, *ToolError) {
	v := value{kind: kindObject}
	seen := map[string]bool{}
	for dec.More() {
		tok, _ := dec.Token()
		key, _ := tok.(string)
		at := joined(path, key)
		if seen[key] {
			return value{}, invalid(at, "%s stands twice in one object", shown(key))
		}
		seen[key] = true
		item, err := readValue(dec, at)
		if err != nil {
			return value{}, err
		}
		v.fields = append(v.fields, field{key, item})
	}
	_, _ = dec.Token()
	return v, nil
}

// get is the field of an object; false where it is missing.
func (v value) get(key string) (value, bool) {
	for _, f := range v.fields {
		if f.key == key {
			return f.value, true
		}
	}
	return value{}, false
}

// array is the required list of an object.
func (v value) array(key string) ([]value, *ToolError) {
	list, ok := v.get(key)
	if !ok {
		return nil, invalid(key, "%s is missing", key)
	}
	if list.kind != kindArray {
		return nil, invalid(key, "%s must be an array, not %s", key, list.kind)
	}
	return list.items, nil
}

// filled is the required string of the object at path; it must have something
// to read in it.
func (v value) filled(path, key string) (string, *ToolError) {
	at := joined(path, key)
	text, ok := v.get(key)
	switch {
	case !ok:
		return "", invalid(at, "%s is missing", at)
	case text.kind != kindString:
		return "", invalid(at, "%s must be a string, not %s", at, text.kind)
	case isBlank(text.text):
		return "", invalid(at, "%s is blank", at)
	}
	return text.text, nil
}

// optional is a string that may be missing or null.
func (v value) optional(key string) (string, *ToolError) {
	text, ok := v.get(key)
	if !ok || text.kind == kindNull {
		return "", nil
	}
	if text.kind != kindString {
		return "", invalid(key, "%s must be a string, not %s", key, text.kind)
	}
	return text.text, nil
}

// invalid is the error for arguments that are JSON but not what the tool takes.
func invalid(path, format string, args ...any) *ToolError {
	return &ToolError{Code: CodeInvalid, Path: path, Message: fmt.Sprintf(format, args...)}
}

// syntaxError names the place at which the text stops being JSON.
func syntaxError(raw []byte, err error) *ToolError {
	at := len(raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = min(int(syntax.Offset), len(raw))
	}
	before := raw[:max(at-1, 0)]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	near := string(raw[max(at-20, 0):at])
	return &ToolError{Code: CodeInvalidJSON, Message: fmt.Sprintf(
		"the arguments are not valid JSON: %v at line %d, column %d (byte %d), after %s",
		err, line, column, at, strconv.Quote(strings.ToValidUTF8(near, "")))}
}

// indexed is the path of an array's item.
func indexed(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// joined is the path of an object's field.
func joined(path, key string) string {
	if path == "" {
		return cutChars(key, 64)
	}
	return path + "." + cutChars(key, 64)
}

// shown is a word of the model in a message: quoted and short.
func shown(s string) string { return strconv.Quote(cutChars(s, 40)) }

// isBlank: nothing in s can be seen.
func isBlank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			return false
		}
	}
	return true
}
