package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/planning"
)

func TestErrorTextReadsBack(t *testing.T) {
	for _, e := range []planning.ToolError{
		{Code: "invalid_arguments", Message: "value must be one of 'a', 'b'", Path: "todos[2].status"},
		{Code: "timeout", Message: "ended at the time limit of 5s; output so far:\nline: 1"},
		{Code: "limit", Message: "too many (33)"},
	} {
		if diff := cmp.Diff(e, *parseError(errorText(&e))); diff != "" {
			t.Error(diff)
		}
	}
	plain := parseError("Something broke: badly")
	if plain.Code != codeTool || plain.Message != "Something broke: badly" {
		t.Errorf("a text without a code became %+v", plain)
	}
}
