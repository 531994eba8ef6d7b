package planning

import (
	"fmt"
	"strings"
	"testing"
)

// Over a limit: a tool error that names it, nothing stored. The edge is in.
func TestLimits(t *testing.T) {
	todo := func(id, content string) obj {
		return obj{"todos": []obj{{"id": id, "content": content, "status": "pending"}}}
	}
	stage := func(id, content, deliverable string) obj {
		return obj{"stages": []obj{{"id": id, "content": content, "deliverable": deliverable}}}
	}
	words := func(n int) string {
		var w []string
		for i := range n {
			w = append(w, fmt.Sprintf("n%d:p", i))
		}
		return strings.Join(w, " ")
	}
	ids := func(n int) []string {
		var w []string
		for i := range n {
			w = append(w, fmt.Sprintf("n%d", i))
		}
		return w
	}
	big := func(n int) obj {
		var items []obj
		for i := range n {
			items = append(items, obj{"id": fmt.Sprint(i), "content": strings.Repeat("c", 512), "deliverable": strings.Repeat("d", 512)})
		}
		return obj{"stages": items}
	}
	normal, compact := NormalLimits(), CompactLimits()
	x := strings.Repeat
	for name, c := range map[string]struct {
		mode    Mode
		l       Limits
		fits    obj
		over    obj
		path    string
		mention string
	}{
		"32 todos":               {Classic, normal, todosInput(words(32)), todosInput(words(33)), "todos", "32 stages"},
		"8 todos, compact":       {Classic, compact, todosInput(words(8)), todosInput(words(9)), "todos", "8 stages"},
		"32 stages":              {Metronome, normal, stagesInput(ids(32)...), stagesInput(ids(33)...), "stages", "32 stages"},
		"8 stages, compact":      {Metronome, compact, stagesInput(ids(8)...), stagesInput(ids(9)...), "stages", "8 stages"},
		"todo id":                {Classic, normal, todo(x("京", 64), "c"), todo(x("i", 65), "c"), "todos[0].id", "64 characters"},
		"todo id, compact":       {Classic, compact, todo(x("京", 40), "c"), todo(x("i", 41), "c"), "todos[0].id", "40 characters"},
		"stage id":               {Metronome, normal, stage(x("i", 64), "c", "d"), stage(x("i", 65), "c", "d"), "stages[0].id", "64 characters"},
		"todo content":           {Classic, normal, todo("a", x("c", 512)), todo("a", x("京", 171)), "todos[0].content", "512 bytes"},
		"todo content, compact":  {Classic, compact, todo("a", x("京", 140)), todo("a", x("c", 141)), "todos[0].content", "140 characters"},
		"stage content":          {Metronome, normal, stage("a", x("c", 512), "d"), stage("a", x("c", 513), "d"), "stages[0].content", "512 bytes"},
		"stage content, compact": {Metronome, compact, stage("a", x("c", 140), "d"), stage("a", x("c", 141), "d"), "stages[0].content", "140 characters"},
		"deliverable":            {Metronome, normal, stage("a", "c", x("d", 512)), stage("a", "c", x("d", 513)), "stages[0].deliverable", "512 bytes"},
		"16 KiB in all":          {Metronome, normal, big(16), big(17), "stages", "16384 bytes in all"},
		"focus":                  {Classic, normal, with(todo("a", "c"), "focus", x("é", 40)), with(todo("a", "c"), "focus", x("f", 41)), "focus", "40 characters"},
		"note":                   {Classic, normal, with(todo("a", "c"), "note", x("é", 200)), with(todo("a", "c"), "note", x("n", 201)), "note", "200 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := c.mode.Tools()[0]
			before := NewState(c.mode)
			fits := Apply(before, Call{Tool: tool, Input: encodeJSON(t, c.fits)}, c.l)
			if fits.Err != nil {
				t.Errorf("the edge: %v", fits.Err)
			}
			res := Apply(before, Call{Tool: tool, Input: encodeJSON(t, c.over)}, c.l)
			wantError(t, before, res, CodeLimit, c.path, c.mention, "Nothing was stored")
		})
	}
}

// Evidence has 4 KiB, and does not count into the plan's text.
func TestLimitEvidence(t *testing.T) {
	s := must(t, NewState(Metronome), ToolPlan, stagesInput("a", "b", "c", "d", "e", "f")).Worked(1, 0)
	res := call(t, s, ToolAdvance, obj{"evidence": strings.Repeat("e", 4097)})
	wantError(t, s, res, CodeLimit, "evidence", "4096 bytes")
	for range 6 {
		s = must(t, s.Worked(1, 0), ToolAdvance, obj{"evidence": strings.Repeat("e", 4096)})
	}
	must(t, s, ToolPlan, stagesInput("g"))
}

// The limit holds for the settled list: finished items count.
func TestLimitCountsFinishedStages(t *testing.T) {
	var done, open []string
	for i := range 20 {
		done = append(done, fmt.Sprintf("d%d:d", i))
		open = append(open, fmt.Sprintf("o%d:p", i))
	}
	s := must(t, NewState(Classic), ToolWriteTodos, todosInput(strings.Join(done, " ")))
	res := call(t, s, ToolWriteTodos, todosInput(strings.Join(open, " ")))
	wantError(t, s, res, CodeLimit, "todos", "40 stages", "32 stages")
	must(t, s, ToolWriteTodos, todosInput(strings.Join(open[:12], " ")))
}

// A plan stored under wider limits can still be worked on: what it holds
// already is never the reason of a refusal.
func TestLimitsNeverLockAStoredPlan(t *testing.T) {
	wide := strings.Repeat("w", 300)
	var words []string
	for i := range 12 {
		words = append(words, fmt.Sprintf("n%d:p'%s'", i, wide))
	}
	sent := strings.Join(words, " ")
	s := must(t, NewState(Classic), ToolWriteTodos, todosInput(sent))
	compact := CompactLimits()
	res := Apply(s, Call{Tool: ToolWriteTodos, Input: encodeJSON(t, todosInput(strings.Replace(sent, "n0:p", "n0:d", 1)))}, compact)
	if res.Err != nil || res.State.Plan.Stages[0].Status != Done {
		t.Fatalf("marking an item done: %v", res.Err)
	}
	longer := Apply(res.State, Call{Tool: ToolWriteTodos, Input: encodeJSON(t, todosInput(sent+" new:p"))}, compact)
	if longer.Err == nil {
		t.Error("a longer list was accepted")
	}
}
