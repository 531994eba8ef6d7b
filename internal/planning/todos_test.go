package planning

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Pipeline: deduplicate, merge, auto-promote, single-active.
func TestClassicPipeline(t *testing.T) {
	for _, v := range vectors(t, "classic.txt") {
		t.Run(v.name, func(t *testing.T) {
			f := map[string]string{}
			for _, l := range v.lines {
				f[l[0]] = l[1]
			}
			prev, sent := stagesOf(f["before"]), stagesOf(f["call"])
			if got := show(Merge(prev, sent)); got != f["after"] {
				t.Errorf("Merge = %s, want %s", got, f["after"])
			}
			if show(prev) != f["before"] || show(sent) != f["call"] {
				t.Error("Merge changed an argument")
			}
			s := State{Plan: Plan{Mode: Classic, Revision: 1, Stages: prev}, HasPlan: true}
			res := call(t, s, ToolWriteTodos, todosInput(f["call"]))
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			if got := show(res.State.Plan.Stages); got != f["after"] {
				t.Errorf("Apply = %s, want %s", got, f["after"])
			}
			if changed := f["before"] != f["after"]; res.Changed != changed {
				t.Errorf("changed = %v, want %v", res.Changed, changed)
			}
		})
	}
}

// HO-07: a short resend of the list loses nothing that is finished.
func TestClassicShortResends(t *testing.T) {
	s := NewState(Classic)
	for i, step := range [][2]string{
		{"a:d b:d c:i d:p", "a:d b:d c:i d:p"},
		{"c:d d:i", "a:d b:d c:d d:i"},
		{"d:d", "a:d b:d c:d d:d"},
		{"b:p e:p", "a:d b:i c:d d:d e:p"},
		{"b:d", "a:d b:d c:d d:d"},
	} {
		s = must(t, s, ToolWriteTodos, todosInput(step[0]))
		if got := show(s.Plan.Stages); got != step[1] {
			t.Errorf("after list %d: %s, want %s", i+1, got, step[1])
		}
		if s.Plan.Revision != i+1 {
			t.Errorf("revision %d after list %d", s.Plan.Revision, i+1)
		}
	}
}

// Merge base is the previous merged list, not the list as sent.
func TestClassicMergesOnTheMergedList(t *testing.T) {
	s := must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:i c:p"))
	s = must(t, s, ToolWriteTodos, todosInput("c:i"))
	s = must(t, s, ToolWriteTodos, todosInput("c:d"))
	if got, want := show(s.Plan.Stages), "a:d c:d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Output: {todos: merged} is the sole output; the input stays as sent.
func TestClassicOutputIsTheMergedListOnly(t *testing.T) {
	s := must(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:i"))
	input := json.RawMessage(`{"todos":[{"id":"b","content":"B <i>","status":"completed"}],"focus":"B","note":"done with B"}`)
	sent := string(input)
	res := Apply(s, Call{Tool: ToolWriteTodos, Input: input}, NormalLimits())
	want := `{"todos":[{"id":"a","content":"a","status":"done"},{"id":"b","content":"B \u003ci\u003e","status":"done"}]}`
	if string(res.Output) != want {
		t.Errorf("output %s, want %s", res.Output, want)
	}
	if string(input) != sent {
		t.Error("the input was changed")
	}
	if res.Focus != "B" || res.Note != "done with B" {
		t.Errorf("focus %q, note %q", res.Focus, res.Note)
	}
}

// Read tolerantly: two synonyms; everything else is refused with its path.
func TestClassicReading(t *testing.T) {
	s := must(t, NewState(Classic), ToolWriteTodos, `{"todos":[
		{"id":"1","content":"x","status":"completed","extra":true},
		{"id":"2","content":"y","status":"in-progress","activeForm":"doing y"}],"unknown":1,"focus":null,"note":null}`)
	if got, want := show(s.Plan.Stages), "1:d'x' 2:i'y'"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	good := `{"id":"1","content":"x","status":"pending"}`
	for name, c := range map[string]struct{ input, code, path, word string }{
		"status DONE":     {`{"todos":[` + good + `,{"id":"2","content":"y","status":"DONE"}]}`, CodeInvalid, "todos[1].status", `"DONE"`},
		"status blocked":  {`{"todos":[` + good + `,` + good + `,{"id":"2","content":"y","status":"blocked"}]}`, CodeInvalid, "todos[2].status", "pending, in_progress or done"},
		"status number":   {`{"todos":[{"id":"2","content":"y","status":1}]}`, CodeInvalid, "todos[0].status", "a number"},
		"status missing":  {`{"todos":[{"id":"2","content":"y"}]}`, CodeInvalid, "todos[0].status", "missing"},
		"id number":       {`{"todos":[{"id":3,"content":"y","status":"done"}]}`, CodeInvalid, "todos[0].id", "a number"},
		"id missing":      {`{"todos":[{"content":"y","status":"done"}]}`, CodeInvalid, "todos[0].id", "missing"},
		"id in capitals":  {`{"todos":[{"ID":"1","content":"y","status":"done"}]}`, CodeInvalid, "todos[0].id", "missing"},
		"id blank":        {`{"todos":[{"id":" \t","content":"y","status":"done"}]}`, CodeInvalid, "todos[0].id", "blank"},
		"content blank":   {`{"todos":[{"id":"1","content":"\n","status":"done"}]}`, CodeInvalid, "todos[0].content", "blank"},
		"content unseen":  {`{"todos":[{"id":"1","content":"\u200b\ufeff","status":"done"}]}`, CodeInvalid, "todos[0].content", "blank"},
		"content null":    {`{"todos":[{"id":"1","content":null,"status":"done"}]}`, CodeInvalid, "todos[0].content", "null"},
		"item a string":   {`{"todos":["Read"]}`, CodeInvalid, "todos[0]", "an object"},
		"list missing":    {`{}`, CodeInvalid, "todos", "missing"},
		"no input":        {``, CodeInvalid, "todos", "missing"},
		"list a string":   {`{"todos":"[]"}`, CodeInvalid, "todos", "an array"},
		"not an object":   {`[]`, CodeInvalid, "", "an array"},
		"null":            {`null`, CodeInvalid, "", "null"},
		"focus a list":    {`{"todos":[],"focus":[]}`, CodeInvalid, "focus", "a string"},
		"key twice":       {`{"todos":[{"id":"1","content":"y","status":"done","status":"pending"}]}`, CodeInvalid, "todos[0].status", "twice"},
		"list twice":      {`{"todos":[],"todos":[` + good + `]}`, CodeInvalid, "todos", "twice"},
		"bracket":         {`{"todos":[` + good + `]]}`, CodeInvalidJSON, "", "line 1, column 55"},
		"cut":             {`{"todos":[{"id":"1","content":"x`, CodeInvalidJSON, "", "unexpected end"},
		"comma":           {"{\"todos\":[\n" + good + ",\n]}", CodeInvalidJSON, "", "line 3, column 1"},
		"two values":      {`{"todos":[]} {"todos":[]}`, CodeInvalidJSON, "", "after top-level value"},
		"words":           {`I will plan now`, CodeInvalidJSON, "", "byte 1"},
		"nested deeply":   {`{"todos":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}`, CodeInvalid, "todos[0][0][0][0][0][0][0][0][0][0][0][0]", "deeply"},
		"another planner": {`{"steps":[]}`, CodeInvalid, "todos", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			res := call(t, s, ToolWriteTodos, c.input)
			path := c.path
			if name == "nested deeply" {
				path = res.Err.Path
			}
			wantError(t, s, res, c.code, path, c.word)
			after := must(t, res.State, ToolWriteTodos, todosInput("1:d 2:d 3:i"))
			if got, want := show(after.Plan.Stages), "1:d 2:d 3:i"; got != want {
				t.Errorf("after a bad call a plain list gave %s, want %s", got, want)
			}
		})
	}
}

// HO-06: no input, alone or in company, can lock the plan.
func TestClassicBadCalls(t *testing.T) {
	plain := todosInput("1:d'Read' 2:i'Fix' 3:p'Test'")

	t.Run("two calls in one message apply in order", func(t *testing.T) {
		first := call(t, NewState(Classic), ToolWriteTodos, todosInput("1:i'Read' 2:p'Fix'"))
		second := call(t, first.State, ToolWriteTodos, todosInput("1:d'Read' 2:i'Fix'"))
		one, _ := ParseOutput(ToolWriteTodos, first.Output)
		two, _ := ParseOutput(ToolWriteTodos, second.Output)
		if show(one.Stages) != "1:i'Read' 2:p'Fix'" || show(two.Stages) != "1:d'Read' 2:i'Fix'" {
			t.Errorf("snapshots %s and %s", show(one.Stages), show(two.Stages))
		}
		must(t, second.State, ToolWriteTodos, plain)
	})

	t.Run("double ids and two active are repaired", func(t *testing.T) {
		s := must(t, NewState(Classic), ToolWriteTodos, todosInput("1:i 2:i 2:d'other' 3:d"))
		if got, want := show(s.Plan.Stages), "1:i 2:p 3:d"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		must(t, s, ToolWriteTodos, plain)
	})

	t.Run("sizes answer with the limit", func(t *testing.T) {
		s := must(t, NewState(Classic), ToolWriteTodos, plain)
		res := call(t, s, ToolWriteTodos, todosInput("1:p'"+strings.Repeat("x", 20_000)+"'"))
		wantError(t, s, res, CodeLimit, "todos[0].content", "512 bytes", "20000")
		var many []string
		for i := range 200 {
			many = append(many, fmt.Sprintf("n%d:p", i))
		}
		res = call(t, s, ToolWriteTodos, todosInput(strings.Join(many, " ")))
		wantError(t, s, res, CodeLimit, "todos", "32 stages", "200")
		must(t, s, ToolWriteTodos, plain)
	})
}

// Identical list, compared after the pipeline: same revision, no event, the
// current output again.
func TestClassicIdenticalList(t *testing.T) {
	first := call(t, NewState(Classic), ToolWriteTodos, todosInput("a:d b:i c:p"))
	for name, again := range map[string]string{
		"as it is":                   "a:d b:i c:p",
		"with repairs to be made":    "b:i b:p c:p",
		"with the promotion left up": "a:d b:p c:p",
	} {
		res := call(t, first.State, ToolWriteTodos, todosInput(again))
		if res.Changed || res.State.Plan.Revision != 1 || string(res.Output) != string(first.Output) {
			t.Errorf("%s: changed %v, revision %d, output %s", name, res.Changed, res.State.Plan.Revision, res.Output)
		}
	}
}

// An empty first list is an empty plan.
func TestClassicEmptyFirstList(t *testing.T) {
	res := call(t, NewState(Classic), ToolWriteTodos, `{"todos":[]}`)
	if !res.State.HasPlan || !res.Changed || !res.State.Complete() || string(res.Output) != `{"todos":[]}` {
		t.Errorf("state %+v, output %s", res.State, res.Output)
	}
	if Directive(res.State) != "" {
		t.Error("an empty plan has a directive")
	}
}
