package planning

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// One stage at a time: the pointer's vectors.
func TestMetronomeSequences(t *testing.T) {
	for _, v := range vectors(t, "metronome.txt") {
		t.Run(v.name, func(t *testing.T) {
			s := NewState(Metronome)
			evidence, unverified := map[string]string{}, map[string]bool{}
			wantEvidence, wantUnverified := map[string]string{}, map[string]bool{}
			complete := false
			for i, l := range v.lines {
				word, rest := l[0], l[1]
				mark := ""
				for _, m := range []string{"!", "~"} {
					if cut, ok := strings.CutSuffix(rest, m); ok {
						rest, mark = strings.TrimSpace(cut), m
					}
				}
				switch word {
				case "work":
					s = s.Worked(1, 0)
				case ToolPlan, ToolAdvance:
					var input any = stagesInput(strings.Fields(rest)...)
					if word == ToolAdvance {
						input = obj{"evidence": rest}
					}
					before := s.Plan
					res := call(t, s, word, input)
					if (res.Err != nil) != (mark == "!") {
						t.Fatalf("line %d: error %v", i, res.Err)
					}
					refused := strings.Contains(string(res.Output), `"refused":true`)
					if refused != (mark == "~") {
						t.Fatalf("line %d: output %s", i, res.Output)
					}
					if mark != "" && !reflect.DeepEqual(res.State.Plan, before) {
						t.Errorf("line %d changed the plan", i)
					}
					if res.State.Plan.Pointer < before.Pointer {
						t.Errorf("line %d: the pointer fell", i)
					}
					s = res.State
				case "after":
					stages, pointer, _ := strings.Cut(" "+rest, " pointer ")
					if got := show(s.Plan.Stages); got != strings.TrimSpace(stages) {
						t.Errorf("got %s, want %s", got, stages)
					}
					if got := strconv.Itoa(s.Plan.Pointer); got != pointer {
						t.Errorf("pointer %s, want %s", got, pointer)
					}
				case "evidence":
					id, text, _ := strings.Cut(rest, " ")
					wantEvidence[id] = text
				case "unverified":
					wantUnverified[rest] = true
				case "complete":
					complete = true
				}
			}
			for _, st := range s.Plan.Stages {
				if st.Evidence != "" {
					evidence[st.ID] = st.Evidence
				}
				if st.Unverified {
					unverified[st.ID] = true
				}
				if st.Evidence != "" && !st.AdvancedAt.Equal(at) {
					t.Errorf("stage %s was advanced at %v", st.ID, st.AdvancedAt)
				}
			}
			if len(wantEvidence) > 0 && !reflect.DeepEqual(evidence, wantEvidence) {
				t.Errorf("evidence %v, want %v", evidence, wantEvidence)
			}
			if !reflect.DeepEqual(unverified, wantUnverified) {
				t.Errorf("unverified %v, want %v", unverified, wantUnverified)
			}
			if s.Complete() != complete {
				t.Errorf("complete = %v", s.Complete())
			}
		})
	}
}

// Work: one call, or 200 characters of text, together from all steps since.
func TestMetronomeWhatCountsAsWork(t *testing.T) {
	planned := must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))
	for name, c := range map[string]struct {
		state State
		works bool
	}{
		"nothing":               {planned, false},
		"a call":                {planned.Worked(1, 0), true},
		"199 characters":        {planned.Worked(0, 199), false},
		"200 characters":        {planned.Worked(0, 200), true},
		"two times 100":         {planned.Worked(0, 100).Worked(0, 100), true},
		"less than nothing":     {planned.Worked(-1, -5), false},
		"before the first plan": {must(t, NewState(Metronome).Worked(3, 900), ToolPlan, stagesInput("a")), false},
	} {
		res := call(t, c.state, ToolAdvance, obj{"evidence": "e"})
		if res.Refused == c.works {
			t.Errorf("%s: refused = %v", name, res.Refused)
		}
	}
}

// Empty tick: output {refused, reason, plan} and a one-shot reminder, once for
// each stage id; then trusted and marked.
func TestMetronomeEmptyTick(t *testing.T) {
	s := must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))
	res := call(t, s, ToolAdvance, obj{"evidence": "e"})
	if !res.Refused || res.Changed || res.Err != nil {
		t.Fatalf("result %+v", res)
	}
	if !strings.Contains(res.Once, "nothing was produced since the last stage") || !strings.Contains(res.Once, "1/2") {
		t.Errorf("reminder %q", res.Once)
	}
	if _, ok := ParseOutput(ToolAdvance, res.Output); ok {
		t.Error("a refused output was taken as a plan")
	}
	for _, part := range []string{`{"refused":true,"reason":"`, `"plan":{"mode":"metronome","revision":1,"pointer":0,`} {
		if !strings.Contains(string(res.Output), part) {
			t.Errorf("output %s lacks %s", res.Output, part)
		}
	}
	res = call(t, res.State, ToolAdvance, obj{"evidence": "e"})
	if res.Refused || !res.State.Plan.Stages[0].Unverified {
		t.Errorf("the second try: %+v", res)
	}
}

// What the model wrote is neutral in the one-shot reminder.
func TestMetronomeEmptyTickOpensNoFrame(t *testing.T) {
	s := must(t, NewState(Metronome), ToolPlan, obj{"stages": []obj{{"id": "a", "content": "Tidy </task_reminder>\nnow", "deliverable": "d"}}})
	if once := call(t, s, ToolAdvance, obj{"evidence": "e"}).Once; strings.ContainsAny(once, "<\n") || !strings.Contains(once, "Tidy") {
		t.Errorf("reminder %q", once)
	}
}

// Without an active stage: nothing changes, and a one-shot reminder says so.
func TestMetronomeAdvanceWithoutActiveStage(t *testing.T) {
	none := call(t, NewState(Metronome), ToolAdvance, obj{"evidence": "e"})
	if !none.Refused || none.Once == "" || none.State.HasPlan {
		t.Errorf("without a plan: %+v", none)
	}
	if _, ok := ParseOutput(ToolAdvance, none.Output); ok {
		t.Error("an advance without a plan made one")
	}
	s := must(t, NewState(Metronome), ToolPlan, stagesInput("a")).Worked(1, 0)
	done := call(t, s, ToolAdvance, obj{"evidence": "e"})
	again := call(t, done.State.Worked(1, 0), ToolAdvance, obj{"evidence": "f"})
	if !again.Refused || again.Changed || !strings.Contains(again.Once, "no stage is active") {
		t.Errorf("after the end: %+v", again)
	}
	if string(again.Output) != string(done.Output) {
		t.Errorf("output %s, want the current one", again.Output)
	}
}

// Outputs are frozen copies: that of call 1 never changes when the pointer moves.
func TestMetronomeOutputsAreFrozen(t *testing.T) {
	first := call(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))
	kept, stages := string(first.Output), fmt.Sprint(first.State.Plan.Stages)
	s := first.State
	for range 2 {
		s = must(t, s.Worked(1, 0), ToolAdvance, obj{"evidence": "e"})
	}
	must(t, s, ToolPlan, stagesInput("c", "d"))
	if string(first.Output) != kept || fmt.Sprint(first.State.Plan.Stages) != stages {
		t.Error("an earlier output or state changed")
	}
	want := `{"plan":{"mode":"metronome","revision":1,"pointer":0,"stages":[` +
		`{"id":"a","content":"a","deliverable":"a.md","status":"in_progress"},` +
		`{"id":"b","content":"b","deliverable":"b.md","status":"pending"}]}}`
	if kept != want {
		t.Errorf("output %s\nwant   %s", kept, want)
	}
}

// All three fields must be non-blank; a sent status is ignored.
func TestMetronomeReading(t *testing.T) {
	s := must(t, NewState(Metronome), ToolPlan,
		`{"stages":[{"id":"a","content":"A","deliverable":"d","status":"done"},{"id":"b","content":"B","deliverable":"d","status":7}]}`)
	if got, want := show(s.Plan.Stages), "a:i'A' b:p'B'"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for name, c := range map[string]struct{ tool, input, code, path, word string }{
		"deliverable missing": {ToolPlan, `{"stages":[{"id":"a","content":"A"}]}`, CodeInvalid, "stages[0].deliverable", "missing"},
		"deliverable blank":   {ToolPlan, `{"stages":[{"id":"a","content":"A","deliverable":" "}]}`, CodeInvalid, "stages[0].deliverable", "blank"},
		"content blank":       {ToolPlan, `{"stages":[{"id":"a","content":"","deliverable":"d"}]}`, CodeInvalid, "stages[0].content", "blank"},
		"id a list":           {ToolPlan, `{"stages":[{"id":[],"content":"A","deliverable":"d"}]}`, CodeInvalid, "stages[0].id", "an array"},
		"stage a string":      {ToolPlan, `{"stages":["A"]}`, CodeInvalid, "stages[0]", "a string"},
		"stages missing":      {ToolPlan, `{"steps":[]}`, CodeInvalid, "stages", "missing"},
		"not JSON":            {ToolPlan, `{"stages":[}`, CodeInvalidJSON, "", "column 12"},
		"evidence missing":    {ToolAdvance, `{}`, CodeInvalid, "evidence", "missing"},
		"evidence blank":      {ToolAdvance, `{"evidence":" \n"}`, CodeInvalid, "evidence", "blank"},
		"evidence a number":   {ToolAdvance, `{"evidence":1}`, CodeInvalid, "evidence", "a number"},
		"another planner":     {ToolWriteTodos, `{"todos":[]}`, CodeWrongPlanner, "", "write_todos"},
		"no planner's tool":   {"read_file", `{}`, CodeWrongPlanner, "", "read_file"},
		"nothing left open":   {ToolPlan, `{"stages":[]}`, CodeOpenStages, "stages", "advance"},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, s, call(t, s, c.tool, c.input), c.code, c.path, c.word)
		})
	}
}

// Identical list: same revision, no event, the current output again.
func TestMetronomeIdenticalList(t *testing.T) {
	first := call(t, NewState(Metronome), ToolPlan, stagesInput("a", "b"))
	again := call(t, first.State, ToolPlan, stagesInput("a", "b", "a"))
	if again.Changed || again.State.Plan.Revision != 1 || string(again.Output) != string(first.Output) {
		t.Errorf("changed %v, revision %d, output %s", again.Changed, again.State.Plan.Revision, again.Output)
	}
}
