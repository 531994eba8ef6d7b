package planning

import (
	"strings"
	"testing"
)

// The classic directive's four templates, word for word.
func TestTodoDirective(t *testing.T) {
	for list, want := range map[string]string{
		"a:d b:d":                "All stages complete. Deliver the final output to the user now.",
		"a:d b:i'Fix' c:p'Test'": `[Stage 2/3] Execute "Fix" to completion first — only after output is verified, call write_todos once to mark "Fix" done and "Test" in_progress.`,
		"a:d b:i'Fix'":           `[Stage 2/2] Execute "Fix" to completion first (final stage) — only after output is verified, mark done then deliver to user.`,
		"a:p b:i'Fix'":           `[Stage 2/2] Execute "Fix" to completion first (final stage) — only after output is verified, mark done then deliver to user.`,
		"a:i'Fix' b:d c:p'Test'": `[Stage 1/3] Execute "Fix" to completion first — only after output is verified, call write_todos once to mark "Fix" done and "Test" in_progress.`,
		"a:p b:p":                "[Stage 1/2] No active stage — mark the first pending item as in_progress to begin.",
		"a:d b:p":                "[Stage 2/2] No active stage — mark the first pending item as in_progress to begin.",
		"":                       "",
	} {
		if got := TodoDirective(stagesOf(list)); got != want {
			t.Errorf("%q\n got %s\nwant %s", list, got, want)
		}
	}
}

// Each planner's directive: derived from the live plan, one line, "" where no
// stage is open.
func TestDirective(t *testing.T) {
	metronome := must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))
	final := must(t, metronome.Worked(1, 0), ToolAdvance, obj{"evidence": "e"})
	checklist := func(pairs ...string) State {
		return must(t, NewState(Checklist), ToolUpdatePlan, checklistOf(pairs...))
	}
	steps := func(words string) State { return must(t, NewState(Steps), ToolPlan, stepsOf(words)) }
	for name, c := range map[string]struct {
		state State
		want  string
	}{
		"no plan":         {NewState(Metronome), ""},
		"the zero state":  {State{}, ""},
		"metronome":       {metronome, `[Stage 1/2] Work on "a" until its deliverable is there and verified: "a.md", then call advance once with evidence.`},
		"metronome final": {final, `[Stage 2/2] Work on "b" until its deliverable is there and verified: "b.md", then call advance once with evidence (final stage), then deliver and call complete.`},
		"metronome done":  {must(t, final.Worked(1, 0), ToolAdvance, obj{"evidence": "e"}), ""},
		"classic done":    {must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d")), ""},
		"checklist":       {checklist("Read", "in_progress", "Write", "pending"), `[Stage 1/2] Work on "Read" — only after it is verified, call update_plan once to mark it completed and "Write" in_progress.`},
		"checklist final": {checklist("Read", "cancelled", "Write", "in_progress"), `[Stage 2/2] Work on "Write" (final stage) — only after it is verified, call update_plan once to mark it completed, then deliver to the user.`},
		"checklist idle":  {checklist("Read", "completed", "Write", "pending"), `[Stage 2/2] No step is in_progress — call update_plan to start "Write", or cancel what became obsolete.`},
		"checklist done":  {checklist("Read", "completed", "Write", "cancelled"), ""},
		"steps":           {steps("a:done b:running c:running"), `[Stage 2/3] Work on "B", "C" — only after it is verified, call plan once to mark it done, or failed or skipped if that is what happened, and start the next.`},
		"steps idle":      {steps("a:failed b:pending"), `[Stage 2/2] No step is running — call plan to mark "B" running, or write off what became obsolete as skipped.`},
		"steps done":      {steps("a:failed b:skipped c:done"), ""},
	} {
		if got := Directive(c.state); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// Newlines in a text become spaces, and no text opens a tag.
func TestDirectiveIsOneLineWithoutTags(t *testing.T) {
	s := must(t, NewState(Classic), ToolWriteTodos, obj{"todos": []obj{
		{"id": "a", "content": "Tidy\r\n</task_reminder>\n\u2028now", "status": "in_progress"},
		{"id": "b", "content": "x\ry", "status": "pending"},
	}})
	want := `[Stage 1/2] Execute "Tidy \u003c/task_reminder>  now" to completion first — only after output is verified, call write_todos once to mark "Tidy \u003c/task_reminder>  now" done and "x y" in_progress.`
	if got := Directive(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A plan that was stored by somebody else cannot break the directive.
func TestDirectiveOfOddStates(t *testing.T) {
	for _, m := range []Mode{Metronome, Classic, Checklist, Steps, None, "other"} {
		for _, pointer := range []int{-1, 0, 7} {
			s := State{Plan: Plan{Mode: m, Pointer: pointer, Stages: []Stage{{ID: "a", Content: "a", Status: "odd"}}}, HasPlan: true}
			if got := Directive(s); strings.Contains(got, "\n") {
				t.Errorf("%s: %s", m, got)
			}
			for _, tool := range m.Tools() {
				Apply(s, Call{Tool: tool, Input: []byte(`{"stages":[],"evidence":"e","todos":[],"steps":[]}`)}, NormalLimits())
			}
		}
	}
}
