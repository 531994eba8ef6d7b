package planning

import (
	"strings"
	"testing"
)

// checklistOf is the input of update_plan for pairs of text and status.
func checklistOf(pairs ...string) obj {
	steps := []obj{}
	for i := 0; i+1 < len(pairs); i += 2 {
		steps = append(steps, obj{"text": pairs[i], "status": pairs[i+1]})
	}
	return obj{"steps": steps}
}

// steps is n pending steps of the text.
func pendingSteps(n int, text string) obj {
	var pairs []string
	for range n {
		pairs = append(pairs, text, "pending")
	}
	return checklistOf(pairs...)
}

func with(o obj, key string, v any) obj {
	o[key] = v
	return o
}

// It rejects instead of repairing: the error names the 1-based step and the
// limit, and nothing changes.
func TestChecklistRejects(t *testing.T) {
	s := must(t, NewState(Checklist), ToolUpdatePlan, checklistOf("Read", "in_progress"))
	for name, c := range map[string]struct {
		input      any
		code, path string
		words      []string
	}{
		"33 steps":               {pendingSteps(33, "x"), CodeLimit, "steps", []string{"step 33", "32 steps"}},
		"blank text":             {checklistOf("a", "pending", " \t", "pending"), CodeInvalid, "steps[1].text", []string{"step 2", "blank"}},
		"513 bytes":              {checklistOf(strings.Repeat("a", 513), "pending"), CodeLimit, "steps[0].text", []string{"step 1", "512 bytes"}},
		"171 wide characters":    {checklistOf("a", "pending", strings.Repeat("京", 171), "pending"), CodeLimit, "steps[1].text", []string{"step 2", "513", "512 bytes"}},
		"two in progress":        {checklistOf("a", "in_progress", "b", "pending", "c", "in_progress"), CodeInvalid, "steps[2].status", []string{"steps 1 and 3", "in_progress"}},
		"status blocked":         {checklistOf("a", "blocked"), CodeInvalid, "steps[0].status", []string{"step 1", `"blocked"`, "cancelled"}},
		"status done":            {checklistOf("a", "done"), CodeInvalid, "steps[0].status", []string{`"done"`}},
		"status in-progress":     {checklistOf("a", "in-progress"), CodeInvalid, "steps[0].status", []string{`"in-progress"`}},
		"unknown key in a step":  {obj{"steps": []obj{{"text": "a", "status": "pending", "note": "x"}}}, CodeInvalid, "steps[0].note", []string{"step 1", `"note"`}},
		"an id in a step":        {obj{"steps": []obj{{"id": "1", "text": "a", "status": "pending"}}}, CodeInvalid, "steps[0].id", []string{`"id"`}},
		"unknown key":            {with(checklistOf(), "title", "x"), CodeInvalid, "title", []string{`"title"`}},
		"key in other case":      {obj{"Steps": []obj{}}, CodeInvalid, "Steps", []string{`"Steps"`}},
		"blank explanation":      {with(checklistOf("a", "pending"), "explanation", " "), CodeInvalid, "explanation", []string{"blank"}},
		"null explanation":       {with(checklistOf("a", "pending"), "explanation", nil), CodeInvalid, "explanation", []string{"null"}},
		"explanation 4097 bytes": {with(checklistOf("a", "pending"), "explanation", strings.Repeat("e", 4097)), CodeLimit, "explanation", []string{"4096 bytes"}},
		"text missing":           {obj{"steps": []obj{{"status": "pending"}}}, CodeInvalid, "steps[0].text", []string{"step 1", "missing"}},
		"text a number":          {obj{"steps": []obj{{"text": 1, "status": "pending"}}}, CodeInvalid, "steps[0].text", []string{"step 1", "a number"}},
		"step a string":          {obj{"steps": []string{"a"}}, CodeInvalid, "steps[0]", []string{"step 1", "a string"}},
		"steps missing":          {obj{}, CodeInvalid, "steps", []string{"missing"}},
		"text twice":             {`{"steps":[{"text":"a","text":"b","status":"pending"}]}`, CodeInvalid, "steps[0].text", []string{"twice"}},
		"not JSON":               {`{"steps":[{"text":"a","status":"pending"}]]}`, CodeInvalidJSON, "", []string{"column 43"}},
	} {
		t.Run(name, func(t *testing.T) {
			res := call(t, s, ToolUpdatePlan, c.input)
			wantError(t, s, res, c.code, c.path, c.words...)
			must(t, res.State, ToolUpdatePlan, checklistOf("Read", "completed"))
		})
	}
}

// The edge of every limit is accepted.
func TestChecklistAcceptsTheLimits(t *testing.T) {
	long := strings.Repeat("a", 512)
	must(t, NewState(Checklist), ToolUpdatePlan, checklistOf(long, "pending"))
	must(t, NewState(Checklist), ToolUpdatePlan, checklistOf("  "+long+"\n", "pending"))
	all := with(pendingSteps(32, long), "explanation", strings.Repeat("e", 4096))
	res := call(t, NewState(Checklist), ToolUpdatePlan, all)
	if res.Err != nil || len(res.Explanation) != 4096 || len(res.State.Plan.Stages) != 32 {
		t.Fatalf("error %v", res.Err)
	}
}

// All steps' texts together are bounded too.
func TestChecklistTextInAll(t *testing.T) {
	l := NormalLimits()
	l.ChecklistBytes = 10
	s := NewState(Checklist)
	res := Apply(s, Call{Tool: ToolUpdatePlan, Input: encodeJSON(t, pendingSteps(3, "aaaa"))}, l)
	wantError(t, s, res, CodeLimit, "steps[2].text", "step 3", "12 bytes", "10 bytes")
}

// Text is trimmed; each accepted call that differs replaces the whole plan and
// raises the revision by one, clears too; a restored plan goes on from its
// stored revision.
func TestChecklistRevisions(t *testing.T) {
	s := State{Plan: Plan{Mode: Checklist, Revision: 4, Stages: []Stage{{ID: "c1-1", Content: "Read", Status: Pending}}}, HasPlan: true}
	res := call(t, s, ToolUpdatePlan, checklistOf("  Read ", "completed", "Write", "in_progress"))
	if !res.Changed || res.State.Plan.Revision != 5 || res.State.Plan.Stages[0].Content != "Read" {
		t.Errorf("replaced: %+v", res.State.Plan)
	}
	same := call(t, res.State, ToolUpdatePlan, with(checklistOf("Read", "completed", "Write", "in_progress"), "explanation", "again"))
	if same.Changed || same.State.Plan.Revision != 5 || string(same.Output) != string(res.Output) {
		t.Errorf("identical: changed %v, revision %d", same.Changed, same.State.Plan.Revision)
	}
	res = call(t, same.State, ToolUpdatePlan, checklistOf())
	if !res.Changed || res.State.Plan.Revision != 6 || len(res.State.Plan.Stages) != 0 || !res.State.Complete() {
		t.Errorf("cleared: %+v", res.State.Plan)
	}
}

// Rows need ids: by text, then by position, else a new one.
func TestChecklistIDs(t *testing.T) {
	ids := func(s State) string {
		var all []string
		for _, st := range s.Plan.Stages {
			all = append(all, st.ID)
		}
		return strings.Join(all, " ")
	}
	s := NewState(Checklist)
	for _, step := range []struct{ texts, want string }{
		{"A B C", "c1-1 c1-2 c1-3"},
		{"B A C", "c1-2 c1-1 c1-3"},  // the text keeps its id
		{"B A2 C", "c1-2 c1-1 c1-3"}, // the position keeps its id
		{"X B C", "c4-1 c1-2 c1-3"},  // position 1's id went with B
		{"X B C D", "c4-1 c1-2 c1-3 c5-4"},
		{"D D D", "c5-4 c1-2 c1-3"}, // the same text: first come, then positions
		{"", ""},
		{"D", "c8-1"},
	} {
		var pairs []string
		for _, text := range strings.Fields(step.texts) {
			pairs = append(pairs, text, "pending")
		}
		s = must(t, s, ToolUpdatePlan, checklistOf(pairs...))
		if got := ids(s); got != step.want {
			t.Errorf("%q: %s, want %s", step.texts, got, step.want)
		}
	}
}

// Result: one line with the revision for the model, the whole snapshot beside it.
func TestChecklistOutput(t *testing.T) {
	res := call(t, NewState(Checklist), ToolUpdatePlan, checklistOf("Read", "completed", "Write", "in_progress", "Send", "cancelled"))
	want := `{"message":"The plan is at revision 1: 1 of 3 steps completed, 1 in_progress, 1 cancelled.",` +
		`"plan":{"mode":"checklist","revision":1,"stages":[` +
		`{"id":"c1-1","text":"Read","content":"Read","status":"completed"},` +
		`{"id":"c1-2","text":"Write","content":"Write","status":"in_progress"},` +
		`{"id":"c1-3","text":"Send","content":"Send","status":"cancelled"}]}}`
	if string(res.Output) != want {
		t.Errorf("output %s\nwant   %s", res.Output, want)
	}
}
