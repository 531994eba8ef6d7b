package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stagefold/internal/planning"
)

// input is the arguments of a call. Keys that the tool does not know are ignored.
type input struct {
	fields map[string]json.RawMessage
	known  []string
}

func parse(raw json.RawMessage, known ...string) (input, *planning.ToolError) {
	in := input{known: known}
	if len(bytes.TrimSpace(raw)) == 0 {
		return in, nil
	}
	if err := json.Unmarshal(raw, &in.fields); err != nil {
		return in, mistake("invalid_input", "", "the input must be a JSON object with "+strings.Join(known, ", "))
	}
	return in, nil
}

// text is a string that must be there; it may be empty.
func (in input) text(name string) (string, *planning.ToolError) {
	raw, ok := in.fields[name]
	if !ok || string(raw) == "null" {
		return "", mistake("invalid_input", name, in.missing(name))
	}
	return in.optional(name)
}

// filled is a string that must be there and not blank.
func (in input) filled(name string) (string, *planning.ToolError) {
	v, bad := in.text(name)
	if bad == nil && strings.TrimSpace(v) == "" {
		bad = mistake("invalid_input", name, name+" must not be blank")
	}
	return v, bad
}

// optional is a string that may be left out.
func (in input) optional(name string) (string, *planning.ToolError) {
	raw, ok := in.fields[name]
	if !ok {
		return "", nil
	}
	var v string
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", mistake("invalid_input", name, name+" must be a string")
	}
	return v, nil
}

// count is a whole number from 1; 0 where it is left out.
func (in input) count(name string) (int, *planning.ToolError) {
	raw, ok := in.fields[name]
	if !ok || string(raw) == "null" {
		return 0, nil
	}
	var v float64
	if err := json.Unmarshal(raw, &v); err != nil || v < 1 || v > 1<<31 || v != float64(int(v)) {
		return 0, mistake("invalid_input", name, name+" must be a whole number from 1")
	}
	return int(v), nil
}

func (in input) missing(name string) string {
	var sent []string
	for key := range in.fields {
		if !slices.Contains(in.known, key) && len(key) <= 40 {
			sent = append(sent, fmt.Sprintf("%q", key))
		}
	}
	slices.Sort(sent)
	text := fmt.Sprintf("%s is missing; this tool takes %s", name, strings.Join(in.known, ", "))
	if len(sent) > 0 && len(sent) <= 5 {
		text += ", not " + strings.Join(sent, ", ")
	}
	return text
}
