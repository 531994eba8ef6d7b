package planning

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

var modes = []Mode{Metronome, Classic, Checklist, Steps}

// Only the chosen planner's tools.
func TestModes(t *testing.T) {
	for mode, tools := range map[Mode][]string{
		Metronome: {"plan", "advance"}, Classic: {"write_todos"}, Checklist: {"update_plan"}, Steps: {"plan"}, None: nil,
	} {
		got, err := ParseMode(string(mode))
		if got != mode || err != nil {
			t.Errorf("ParseMode(%q) = %q, %v", mode, got, err)
		}
		if !reflect.DeepEqual(mode.Tools(), tools) {
			t.Errorf("%s has %v", mode, mode.Tools())
		}
		var names []string
		for _, s := range ToolSpecs(mode, NormalLimits()) {
			names = append(names, s.Name)
			if !IsPlannerTool(s.Name) {
				t.Errorf("%s is no planner's tool", s.Name)
			}
		}
		if !reflect.DeepEqual(names, tools) {
			t.Errorf("%s declares %v", mode, names)
		}
	}
	for _, word := range []string{"", "Classic", "todo", " none"} {
		if _, err := ParseMode(word); err == nil {
			t.Errorf("ParseMode(%q) took it", word)
		}
	}
	for _, name := range []string{"complete", "read_file", "", "Plan"} {
		if IsPlannerTool(name) {
			t.Errorf("%q is a planner's tool", name)
		}
	}
	keys := map[Mode]string{Classic: "todos", Metronome: "plan", Checklist: "plan", Steps: "plan", None: ""}
	for mode, want := range keys {
		if got := ReminderKey(mode); got != want {
			t.Errorf("ReminderKey(%s) = %q", mode, got)
		}
	}
}

// What the model is told, tested by words: in the system prompt and again in
// the tools' descriptions.
func TestWhatTheModelIsTold(t *testing.T) {
	prompt := []string{
		"task_reminder", "runtime's own voice", "above ordinary text",
		"two or more meaningful actions", "before the first expensive tool", "trivial request needs no plan",
		"short", "action-first", "in progress", "as you go", "never resend an unchanged list",
		"only after you verified", "Cancel or drop", "obsolete", "user's language",
	}
	tool := []string{
		"two meaningful actions", "before the first expensive tool", "trivial request needs no",
		"short", "action-first", "ever resend an unchanged list", "obsolete", "user's language", "At most",
	}
	for _, m := range modes {
		text := Prompt(m)
		for _, w := range prompt {
			if !strings.Contains(text, w) {
				t.Errorf("the prompt of %s does not say %q", m, w)
			}
		}
		for _, name := range m.Tools() {
			if !strings.Contains(text, name) {
				t.Errorf("the prompt of %s does not name %s", m, name)
			}
		}
		specs := ToolSpecs(m, NormalLimits())
		for _, w := range tool {
			if !strings.Contains(specs[0].Description, w) {
				t.Errorf("%s of %s does not say %q", specs[0].Name, m, w)
			}
		}
		for _, s := range specs {
			if liveTags(s.Description+string(s.Schema)+text) != 0 {
				t.Errorf("%s: a frame's tag stands in the prompt or a tool", m)
			}
			if !strings.Contains(text+s.Description, "verif") {
				t.Errorf("%s does not speak of verification", s.Name)
			}
		}
	}
	if Prompt(None) != "" || Prompt("other") != "" || ToolSpecs(None, NormalLimits()) != nil {
		t.Error("without a planner there is nothing to tell")
	}
}

// The schemas are objects, state the limits, and never change between steps.
func TestToolSchemas(t *testing.T) {
	type node struct {
		Type       string
		Properties map[string]node
		Required   []string
		Items      *node
		MaxItems   int
		MaxLength  int
		Enum       []string
	}
	read := func(m Mode, l Limits, tool int) node {
		spec := ToolSpecs(m, l)[tool]
		if again := ToolSpecs(m, l)[tool]; string(again.Schema) != string(spec.Schema) || again.Description != spec.Description {
			t.Errorf("%s changes", spec.Name)
		}
		var n node
		if err := json.Unmarshal(spec.Schema, &n); err != nil {
			t.Fatal(err)
		}
		if n.Type != "object" {
			t.Errorf("%s takes %s", spec.Name, n.Type)
		}
		return n
	}
	todos := read(Classic, NormalLimits(), 0).Properties["todos"]
	if todos.MaxItems != 32 || todos.Items.Properties["id"].MaxLength != 64 ||
		!reflect.DeepEqual(todos.Items.Properties["status"].Enum, []string{"pending", "in_progress", "done"}) {
		t.Errorf("todos %+v", todos)
	}
	compact := read(Classic, CompactLimits(), 0).Properties["todos"]
	if compact.MaxItems != 8 || compact.Items.Properties["id"].MaxLength != 40 || compact.Items.Properties["content"].MaxLength != 140 {
		t.Errorf("compact todos %+v", compact)
	}
	stages := read(Metronome, NormalLimits(), 0).Properties["stages"]
	if _, ok := stages.Items.Properties["status"]; ok || len(stages.Items.Required) != 3 {
		t.Errorf("stages %+v", stages.Items)
	}
	if advance := read(Metronome, NormalLimits(), 1); !reflect.DeepEqual(advance.Required, []string{"evidence"}) {
		t.Errorf("advance %+v", advance)
	}
	list := read(Checklist, NormalLimits(), 0)
	if got := list.Properties["steps"].Items.Properties["status"].Enum; !reflect.DeepEqual(got, []string{"pending", "in_progress", "completed", "cancelled"}) {
		t.Errorf("checklist statuses %v", got)
	}
	steps := read(Steps, NormalLimits(), 0).Properties["steps"]
	if got := steps.Items.Properties["status"].Enum; !reflect.DeepEqual(got, []string{"pending", "running", "done", "failed", "skipped"}) || steps.MaxItems != 100 {
		t.Errorf("steps %v", got)
	}
}
