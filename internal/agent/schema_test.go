package agent

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSchemaNamesTheBadField(t *testing.T) {
	schema := `{"type":"object","required":["items"],"properties":{
		"items":{"type":"array","items":{"type":"object","properties":{"status":{"enum":["open","done"]}}}},
		"limit":{"type":"integer","minimum":1}}}`
	var s schemas
	spec := ToolSpec{Name: "sort", Schema: json.RawMessage(schema)}
	for _, tt := range []struct{ name, input, path, says string }{
		{"fits", `{"items":[{"status":"open"}],"limit":3}`, "", ""},
		{"nested field", `{"items":[{"status":"open"},{"status":"half"}]}`, "items[1].status", "'open', 'done'"},
		{"missing field", `{}`, "", "items"},
		{"wrong type", `{"items":[],"limit":"3"}`, "limit", "integer"},
		{"out of range", `{"items":[],"limit":0}`, "limit", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := s.check(spec, json.RawMessage(tt.input))
			if tt.says == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if err == nil || err.Code != codeBadInput || err.Path != tt.path || !strings.Contains(err.Message, tt.says) {
				t.Errorf("got %+v, want %s at %q", err, tt.says, tt.path)
			}
		})
	}
}

// A server's odd schema never blocks its tool, and reads no file.
func TestSchemaThatDoesNotCompileChecksNothing(t *testing.T) {
	for name, schema := range map[string]string{
		"no JSON":      `{`,
		"bad type":     `{"type":"thing"}`,
		"bad pattern":  `{"properties":{"a":{"pattern":"(?<x"}}}`,
		"foreign file": `{"$ref":"file:///etc/hostname"}`,
		"empty":        ``,
	} {
		var s schemas
		if err := s.check(ToolSpec{Name: name, Schema: json.RawMessage(schema)}, json.RawMessage(`{"a":1}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
