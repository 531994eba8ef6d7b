package planning

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// plansOfAllModes are plans with every field set that their planner has.
func plansOfAllModes() map[string]Plan {
	later := at.Add(1234567 * time.Microsecond)
	return map[string]Plan{
		"zero": {},
		"none": {Mode: None},
		"classic": {Mode: Classic, Revision: 3, Stages: []Stage{
			{ID: "a", Content: "<b> & \u2028", Status: Done}, {ID: "b", Content: "b", Status: InProgress}, {ID: "c", Content: "c", Status: Pending},
		}},
		"metronome": {Mode: Metronome, Revision: 2, Pointer: 1, Stages: []Stage{
			{ID: "a", Content: "A", Deliverable: "a.md", Evidence: "there", AdvancedAt: later, Status: Done, Unverified: true},
			{ID: "b", Content: "B", Deliverable: "b.md", Status: InProgress},
		}},
		"metronome at the start": {Mode: Metronome, Revision: 1, Stages: []Stage{{ID: "a", Content: "A", Deliverable: "d", Status: InProgress}}},
		"checklist": {Mode: Checklist, Revision: 9, Stages: []Stage{
			{ID: "c1-1", Content: "Read", Status: Completed}, {ID: "c2-2", Content: "Send", Status: Cancelled},
		}},
		"steps": {Mode: Steps, Title: "T", Revision: 4, SettledAt: later, Stages: []Stage{
			{ID: "s", Content: "Step 1", Status: Done, ResolvedBy: ByRuntime}, {ID: "f", Content: "F", Status: Failed},
		}},
	}
}

// A plan's JSON is lossless.
func TestPlanJSONIsLossless(t *testing.T) {
	for name, p := range plansOfAllModes() {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Plan
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, p) {
			t.Errorf("%s\n got %+v\nwant %+v\nfrom %s", name, back, p, b)
		}
	}
}

// So is a state's, the guard included.
func TestStateJSONIsLossless(t *testing.T) {
	for name, p := range plansOfAllModes() {
		s := State{Plan: p, HasPlan: true, Carried: name == "classic", Guard: Guard{Calls: 2, TextChars: 30, Refused: []string{"a", "b"}}}
		var back State
		if err := json.Unmarshal(encodeJSON(t, s), &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, s) {
			t.Errorf("%s: got %+v, want %+v", name, back, s)
		}
	}
	if got, want := string(encodeJSON(t, State{})), `{"plan":{"mode":"","revision":0,"stages":[]},"hasPlan":false,"carried":false}`; got != want {
		t.Errorf("the zero state: %s", got)
	}
}

// A stage has its planner's own words, and content beside them.
func TestPlanJSONWords(t *testing.T) {
	plans := plansOfAllModes()
	for name, want := range map[string]string{
		"classic":   `{"mode":"classic","revision":3,"stages":[{"id":"a","content":"\u003cb\u003e \u0026 \u2028","status":"done"},{"id":"b","content":"b","status":"in_progress"},{"id":"c","content":"c","status":"pending"}]}`,
		"checklist": `{"mode":"checklist","revision":9,"stages":[{"id":"c1-1","text":"Read","content":"Read","status":"completed"},{"id":"c2-2","text":"Send","content":"Send","status":"cancelled"}]}`,
		"steps":     `{"mode":"steps","title":"T","revision":4,"settledAt":"2026-03-01T12:00:01.234567Z","stages":[{"id":"s","label":"Step 1","content":"Step 1","status":"done","resolvedBy":"runtime"},{"id":"f","label":"F","content":"F","status":"failed"}]}`,
		"metronome": `{"mode":"metronome","revision":2,"pointer":1,"stages":[{"id":"a","content":"A","deliverable":"a.md","status":"done","evidence":"there","advancedAt":"2026-03-01T12:00:01.234567Z","unverified":true},{"id":"b","content":"B","deliverable":"b.md","status":"in_progress"}]}`,
	} {
		if got := string(encodeJSON(t, plans[name])); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
	var p Plan
	if err := json.Unmarshal([]byte(`{"mode":"checklist","stages":[{"id":"a","text":"T","status":"pending"}]}`), &p); err != nil || p.Stages[0].Content != "T" {
		t.Errorf("text alone: %+v, %v", p, err)
	}
	if err := json.Unmarshal([]byte(`{"stages":{}}`), &p); err == nil {
		t.Error("an object was read as stages")
	}
}

// ParseOutput reads back what every accepted call gave.
func TestParseOutput(t *testing.T) {
	advanced := must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b")).Worked(1, 0)
	for name, c := range map[string]struct {
		tool string
		res  Result
	}{
		"write_todos": {ToolWriteTodos, call(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:i"))},
		"no todos":    {ToolWriteTodos, call(t, NewState(Classic), ToolWriteTodos, todosInput(""))},
		"plan":        {ToolPlan, call(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))},
		"advance":     {ToolAdvance, call(t, advanced, ToolAdvance, obj{"evidence": "e"})},
		"update_plan": {ToolUpdatePlan, call(t, NewState(Checklist), ToolUpdatePlan, checklistOf("A", "cancelled"))},
		"plan verb":   {ToolPlan, call(t, NewState(Steps), ToolPlan, stepsOf("a:done b:skipped"))},
	} {
		got, ok := ParseOutput(c.tool, c.res.Output)
		want := c.res.State.Plan
		if c.tool == ToolWriteTodos {
			want.Revision = 0
		}
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, ok, got, want)
		}
	}
}

// What is refused, an error or no valid plan is no plan.
func TestParseOutputRefuses(t *testing.T) {
	stage := `{"id":"a","content":"A","status":"pending"}`
	for _, c := range [][2]string{
		{ToolWriteTodos, ``}, {ToolWriteTodos, `null`}, {ToolWriteTodos, `[]`}, {ToolWriteTodos, `{}`}, {ToolWriteTodos, `"text"`},
		{ToolWriteTodos, `{"todos":null}`}, {ToolWriteTodos, `{"todos":7}`}, {ToolWriteTodos, `{"todos":[1]}`},
		{ToolWriteTodos, `{"todos":[` + stage + `,` + stage + `]}`},
		{ToolWriteTodos, `{"todos":[{"id":"a","content":"A","status":"running"}]}`},
		{ToolWriteTodos, `{"todos":[{"id":"","content":"A","status":"done"}]}`},
		{ToolWriteTodos, `{"todos":[{"id":"a","content":"A","status":"in_progress"},{"id":"b","content":"A","status":"in_progress"}]}`},
		{ToolWriteTodos, `{"error":{"code":"x","message":"y"},"todos":[]}`},
		{ToolPlan, `{"plan":null}`}, {ToolPlan, `{"plan":{}}`}, {ToolPlan, `{"plan":{"mode":"classic","stages":[]}}`},
		{ToolPlan, `{"refused":true,"plan":{"mode":"metronome","stages":[]}}`},
		{ToolPlan, `{"plan":{"mode":"metronome","pointer":2,"stages":[` + stage + `]}}`},
		{ToolPlan, `{"plan":{"mode":"metronome","pointer":-1,"stages":[` + stage + `]}}`},
		{ToolPlan, `{"plan":{"mode":"metronome","revision":-1,"stages":[]}}`},
		{ToolAdvance, `{"plan":{"mode":"steps","stages":[]}}`},
		{ToolUpdatePlan, `{"plan":{"mode":"checklist","stages":[{"id":"a","text":"A","status":"done"}]}}`},
		{"read_file", `{"todos":[]}`}, {"", `{"plan":{"mode":"none","stages":[]}}`},
	} {
		if p, ok := ParseOutput(c[0], json.RawMessage(c[1])); ok {
			t.Errorf("%s %s: %+v", c[0], c[1], p)
		}
	}
}
