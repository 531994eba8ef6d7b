package planning

import (
	"strings"
	"testing"
)

// The complete items so far, as the text arrives.
func TestPartialStages(t *testing.T) {
	for _, c := range []struct{ tool, text, want string }{
		{ToolWriteTodos, ``, ``},
		{ToolWriteTodos, `{"todos"`, ``},
		{ToolWriteTodos, `{"todos":[`, ``},
		{ToolWriteTodos, `{"todos":[{"id":"a","content":"a","status":"in_progress"`, ``},
		{ToolWriteTodos, `{"todos":[{"id":"a","content":"a","status":"in_progress"}`, `a:i`},
		{ToolWriteTodos, `{"focus":"x","todos":[{"id":"a","content":"a","status":"done"},{"id":"b","content":"b","status":"pend`, `a:d`},
		{ToolWriteTodos, `{"todos":[{"id":"a","content":"a","status":"completed"},{"id":"a","content":"x","status":"done"},{"id":"b","content":"b","status":"in_progress"},{"id":"c","content":"c","status":"in_progress"},`, `a:d b:i c:p`},
		{ToolWriteTodos, `{"todos":[{"id":1,"content":"a","status":"done"},{"id":"b","content":"b","status":"odd"},{"id":"c","content":"c","status":"done"}]`, `c:d`},
		{ToolWriteTodos, `{"todos":[{"id":"a","content":"a","status":"done"}]]`, `a:d`},
		{ToolWriteTodos, `{"other":{"todos":[{"id":"a","content":"a","status":"done"}]},`, ``},
		{ToolWriteTodos, `{"todos":{"id":"a"`, ``},
		{ToolWriteTodos, `[{"id":"a"}]`, ``},
		{ToolPlan, `{"stages":[{"id":"a","content":"a","deliverable":"d"},{"id":"b","content":"b","deliverable":"d"},{"id":"a"`, `a:i b:p`},
		{ToolPlan, `{"stages":[{"id":"a","content":"a"},{"id":"b","content":"b","deliverable":"d"}`, `b:i`},
		{ToolAdvance, `{"evidence":"e"}`, ``},
		{"read_file", `{"todos":[{"id":"a","content":"a","status":"done"}]}`, ``},
	} {
		if got := show(PartialStages(c.tool, c.text)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.text, got, c.want)
		}
	}
	steps := PartialStages(ToolPlan, `{"title":"T","steps":["Read",{"id":"b","status":"running"},{"label":"C"`)
	if got, want := showSteps(Plan{Stages: steps}), "step-1:pending b:running"; got != want {
		t.Errorf("steps: %s, want %s", got, want)
	}
	list := PartialStages(ToolUpdatePlan, `{"steps":[{"text":" Read ","status":"in_progress"},{"text":"Write","status":"in_progress"},{"text":""},{"text":"Se`)
	if got, want := show(list), "c1-1:i'Read' c1-2:p'Write'"; got != want {
		t.Errorf("checklist: %s, want %s", got, want)
	}
}

// The whole text shows the rows that the accepted call gives; every prefix
// shows a prefix of their ids.
func TestPartialStagesGrowIntoTheAcceptedList(t *testing.T) {
	for _, c := range []struct {
		mode  Mode
		input any
	}{
		{Classic, todosInput("a:d b:i c:p d:p")},
		{Metronome, stagesInput("a", "b", "c")},
		{Checklist, checklistOf("A", "completed", "B", "in_progress", "A", "pending")},
		{Steps, stepsOf("a:done a:running b:odd")},
	} {
		tool, text := c.mode.Tools()[0], string(encodeJSON(t, c.input))
		want := must(t, NewState(c.mode), tool, c.input).Plan.Stages
		if got := PartialStages(tool, text); !sameStages(got, want) {
			t.Errorf("%s: %+v, want %+v", c.mode, got, want)
		}
		seen := 0
		for n := range len(text) {
			got := PartialStages(tool, text[:n])
			if len(got) < seen {
				t.Errorf("%s: %d rows after %d", c.mode, len(got), seen)
			}
			seen = len(got)
			for i, s := range got {
				if s.ID != want[i].ID || s.Content != want[i].Content {
					t.Errorf("%s %q: row %d is %+v", c.mode, text[:n], i, s)
				}
			}
		}
	}
}

// A list that is far too long shows no more rows than a plan can have.
func TestPartialStagesAreBounded(t *testing.T) {
	item := `{"id":"%","content":"x","status":"pending"},`
	text := `{"todos":[`
	for i := range 200 {
		text += strings.Replace(item, "%", string(rune('Ā'+i)), 1)
	}
	if n := len(PartialStages(ToolWriteTodos, text)); n != 32 {
		t.Errorf("%d rows", n)
	}
}
