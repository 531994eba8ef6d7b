package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"stagefold/internal/planning"
)

// schemas checks inputs against the JSON Schemas of the run's tools; each is
// compiled once, when it is first needed. A schema that does not compile
// checks nothing: the tool itself refuses what it cannot use.
type schemas struct {
	compiled map[string]*jsonschema.Schema // by tool name; nil where there is none to check
}

// check names the first field of input that the schema does not allow.
func (s *schemas) check(spec ToolSpec, input json.RawMessage) *planning.ToolError {
	schema := s.of(spec)
	if schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return &planning.ToolError{Code: codeBadInput, Message: err.Error()}
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(schema.Validate(value), &invalid) {
		return nil
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	return &planning.ToolError{
		Code:    codeBadInput,
		Message: invalid.ErrorKind.LocalizedString(message.NewPrinter(language.English)),
		Path:    fieldPath(invalid.InstanceLocation),
	}
}

func (s *schemas) of(spec ToolSpec) *jsonschema.Schema {
	if schema, known := s.compiled[spec.Name]; known {
		return schema
	}
	if s.compiled == nil {
		s.compiled = map[string]*jsonschema.Schema{}
	}
	schema, err := compile(spec.Schema)
	if err != nil {
		schema = nil
	}
	s.compiled[spec.Name] = schema
	return schema
}

func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "mem:input.json"
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("adding a schema: %w", err)
	}
	return c.Compile(name)
}

// noLoader keeps a schema's references from reading files.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: references to other documents are not followed", url)
}

// fieldPath writes a location as a JSON path, for instance todos[2].status.
func fieldPath(location []string) string {
	var b strings.Builder
	for _, key := range location {
		switch {
		case key != "" && strings.Trim(key, "0123456789") == "":
			b.WriteString("[" + key + "]")
		case b.Len() > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
	}
	return b.String()
}
