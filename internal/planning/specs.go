package planning

import "encoding/json"

// ToolSpec declares a planner's tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the input, type object
}

// ToolSpecs are the mode's tools in the order of Mode.Tools.
func ToolSpecs(m Mode, l Limits) []ToolSpec {
	var specs []ToolSpec
	for _, n := range m.Tools() {
		specs = append(specs, ToolSpec{Name: n, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return specs
}
