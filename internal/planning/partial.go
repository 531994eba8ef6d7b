package planning

import (
	"encoding/json"
	"strings"
)

// PartialStages are the complete items so far of a planner's call that still
// streams, from the argument text as it has arrived. Items that the call would
// be refused for are left out. It is nil where nothing can be shown: no
// complete item, no list, advance, another tool. It reads the whole text at
// each call; argument texts are small.
func PartialStages(tool, inputText string) []Stage {
	key, items := partialItems(tool, inputText)
	l := NormalLimits()
	switch key {
	case "todos":
		return singleActive(firstOfEach(readable(items, l.Stages, readTodo)))
	case "stages":
		return pointed(firstOfEach(readable(items, l.Stages, readStage)), 0)
	}
	if tool == ToolUpdatePlan {
		steps := readable(items, l.ChecklistSteps, func(item value, _ string) (Stage, *ToolError) {
			return readChecklistStep(item, 0, l)
		})
		return singleActive(withIDs(Plan{}, steps))
	}
	steps, err := readSteps(value{fields: []field{{"steps", value{kind: kindArray, items: items}}}}, l)
	if err != nil {
		return nil
	}
	return steps
}

// readable are the items that read accepts, at most limit of them.
func readable(items []value, limit int, read func(value, string) (Stage, *ToolError)) []Stage {
	var stages []Stage
	for _, item := range items {
		if stage, err := read(item, ""); err == nil && len(stages) < limit {
			stages = append(stages, stage)
		}
	}
	return stages
}

// partialItems are the complete items of the tool's list, and the list's key.
func partialItems(tool, text string) (string, []value) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return "", nil
	}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return "", nil
		}
		key, _ := tok.(string)
		if !isList(tool, key) {
			var skipped json.RawMessage
			if dec.Decode(&skipped) != nil {
				return "", nil
			}
			continue
		}
		if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
			return "", nil
		}
		return key, arrived(dec)
	}
	return "", nil
}

// arrived are the items of the array that dec is in, up to the first one that
// is not complete.
func arrived(dec *json.Decoder) []value {
	var items []value
	for dec.More() {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		in := json.NewDecoder(strings.NewReader(string(raw)))
		in.UseNumber()
		item, err := readValue(in, "")
		if err != nil {
			break
		}
		items = append(items, item)
	}
	return items
}

// isList: the key holds the tool's list.
func isList(tool, key string) bool {
	switch tool {
	case ToolWriteTodos:
		return key == "todos"
	case ToolUpdatePlan:
		return key == "steps"
	case ToolPlan:
		return key == "stages" || key == "steps"
	}
	return false
}
