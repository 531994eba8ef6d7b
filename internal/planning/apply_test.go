package planning

import (
	"errors"
	"strings"
	"testing"
)

// A state without a planner takes the one that the call belongs to.
func TestApplyBindsTheZeroState(t *testing.T) {
	for _, c := range []struct {
		tool  string
		input any
		want  Mode
	}{
		{ToolWriteTodos, todosInput("a:i"), Classic},
		{ToolUpdatePlan, checklistOf("A", "pending"), Checklist},
		{ToolPlan, stagesInput("a"), Metronome},
		{ToolPlan, stepsOf("a:running"), Steps},
	} {
		res := call(t, State{}, c.tool, c.input)
		if res.Err != nil || res.State.Plan.Mode != c.want || !res.State.HasPlan {
			t.Errorf("%s: %+v", c.tool, res)
		}
	}
	wantError(t, State{}, call(t, State{}, "complete", `{}`), CodeWrongPlanner, "")
	if res := call(t, State{}, ToolAdvance, obj{"evidence": "e"}); !res.Refused {
		t.Errorf("advance: %+v", res)
	}
}

// Planning switched off takes no planner's call.
func TestApplyNone(t *testing.T) {
	for _, tool := range []string{ToolWriteTodos, ToolPlan, ToolAdvance, ToolUpdatePlan} {
		wantError(t, NewState(None), call(t, NewState(None), tool, `{}`), CodeWrongPlanner, "", tool)
	}
}

// The error's form: {error:{code,message,path?}}.
func TestToolErrorForm(t *testing.T) {
	res := call(t, NewState(Classic), ToolWriteTodos, `{"todos":[{"id":"a","content":"A","status":"odd"}]}`)
	want := `{"error":{"code":"invalid_arguments","message":"todos[0].status is \"odd\"; it must be pending, in_progress or done","path":"todos[0].status"}}`
	if got := string(res.Err.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(OveruseError().JSON()); strings.Contains(got, "path") {
		t.Errorf("a path without a field: %s", got)
	}
	var err error = res.Err
	var tool *ToolError
	if !errors.As(err, &tool) || !strings.HasPrefix(err.Error(), "invalid_arguments: ") {
		t.Errorf("as a Go error: %v", err)
	}
}

// Words of the model in a message, and paths, stay short.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, input := range []string{
		`{"todos":[{"id":"a","content":"A","status":"` + long + `"}]}`,
		`{"todos":[],"` + long + `":1,"` + long + `":2}`,
		long,
		`{"todos":"` + long,
		`{"todos":[{"` + long + `":{"a":1,"a":2}}]}`,
	} {
		res := call(t, NewState(Classic), ToolWriteTodos, input)
		if res.Err == nil || len(res.Err.JSON()) > 600 {
			t.Errorf("error %v", res.Err)
		}
	}
	res := call(t, NewState(Checklist), ToolUpdatePlan, `{"`+long+`":1}`)
	if len(res.Err.JSON()) > 600 {
		t.Errorf("error %v", res.Err)
	}
}
