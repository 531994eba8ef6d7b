package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// todos writes a write_todos input from "id:status" words; contents are the ids.
func todos(list string) string {
	status := map[string]string{"p": "pending", "i": "in_progress", "d": "done"}
	items := []map[string]string{}
	for _, word := range strings.Fields(list) {
		id, s, _ := strings.Cut(word, ":")
		items = append(items, map[string]string{"id": id, "content": id, "status": status[s]})
	}
	raw, _ := json.Marshal(map[string]any{"todos": items})
	return string(raw)
}

// stages writes a metronome plan's input.
func stages(ids ...string) string {
	items := []map[string]string{}
	for _, id := range ids {
		items = append(items, map[string]string{"id": id, "content": "do " + id, "deliverable": id + ".md"})
	}
	raw, _ := json.Marshal(map[string]any{"stages": items})
	return string(raw)
}

// shown is the newest plan in the log, as "id:status" words.
func (tr *trial) shown() string {
	tr.t.Helper()
	words := ""
	for _, p := range tr.parts() {
		if p.Kind != part.KindTool || p.State != part.StateOutputAvailable || !planning.IsPlannerTool(p.Tool.Name) {
			continue
		}
		if plan, ok := planning.ParseOutput(p.Tool.Name, p.Tool.Output); ok {
			words = listed(plan.Stages)
		}
	}
	return words
}

func listed(stages []planning.Stage) string {
	var words []string
	for _, s := range stages {
		words = append(words, s.ID+":"+string(s.Status[:1]))
	}
	return strings.Join(words, " ")
}

func reads(id string) []Chunk { return calls(id, "read_file", `{"path":"a"}`) }

// HO-06 a: two list updates in one step apply in message order, each with its
// own frozen result.
func TestTwoPlannerCallsInOneStep(t *testing.T) {
	tr := try(t, planning.Classic,
		answers(calls("t1", "write_todos", todos("1:i 2:p")), calls("t2", "write_todos", todos("1:d 2:i")), tools()),
		answers(calls("t3", "write_todos", todos("1:d 2:d")), tools()),
		answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	var lists []string
	for _, e := range tr.log.Entries() {
		if e.Type == part.ToolOutput {
			plan, ok := planning.ParseOutput("write_todos", e.Output)
			if !ok {
				t.Fatalf("output %s", e.Output)
			}
			lists = append(lists, listed(plan.Stages))
		}
	}
	if diff := cmp.Diff([]string{"1:i 2:p", "1:d 2:i", "1:d 2:d"}, lists); diff != "" {
		t.Error(diff)
	}
	if n := len(tr.log.Revisions()); n != 3 {
		t.Errorf("%d revisions", n)
	}
	if _, open := tr.log.State(); open {
		t.Error("a settled plan was not retired")
	}
}

// HO-06 c, d: broken arguments change nothing and lock nothing.
func TestABadPlannerCallChangesNothing(t *testing.T) {
	tr := try(t, planning.Classic,
		answers(calls("t1", "write_todos", todos("a:i b:p")), reads("w"), tools()),
		answers(calls("t2", "write_todos", `{"todos":[{"id":"1","content":"x","status":"pending"}]]}`), reads("w"), tools()),
		answers(calls("t3", "write_todos", `{"todos":[{"id":"1","content":"x","status":"blocked"}]}`), reads("w"), tools()),
		answers(calls("t4", "write_todos", todos("a:d b:d")), tools()),
		answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	for id, says := range map[string]string{"t2": "at byte", "t3": "todos[0].status"} {
		if p := tr.tool(id); p.State != part.StateOutputError || !strings.Contains(p.Tool.ErrorText, says) {
			t.Errorf("%s is %s: %s", id, p.State, p.Tool.ErrorText)
		}
	}
	if got := tr.shown(); got != "a:d b:d" {
		t.Errorf("the plan is %s", got)
	}
}

// The planner's calls run after the working calls before them have ended: work
// of the same step counts for an advance that follows it, not for one before.
func TestPlannerCallsWaitForTheWorkBeforeThem(t *testing.T) {
	advance := calls("a", "advance", `{"evidence":"seen"}`)
	for _, tt := range []struct {
		name string
		step []Chunk
		want string
	}{
		{"work, then advance", append(reads("w"), advance...), "a:d b:i"},
		{"advance, then work", append(append([]Chunk{}, advance...), reads("w")...), "a:i b:p"},
		{"two advances after one unit of work", append(append(reads("w"), advance...), calls("a2", "advance", `{"evidence":"seen"}`)...), "a:d b:i"},
		{"advance after text", append(say(strings.Repeat("word ", 50)), advance...), "a:d b:i"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := try(t, planning.Metronome,
				answers(calls("p", "plan", stages("a", "b")), tools()), answers(tt.step, tools()), answers(say("Shall I go on?"), stops()))
			tr.job.Limits.Steps = 3
			tr.whenWaiting(func(part.Waiting) {})
			runs := NewRuns()
			tr.whenWaiting(func(part.Waiting) { runs.Stop("run-1") })
			tr.await(runs)
			if got := tr.shown(); got != tt.want {
				t.Errorf("the plan is %s, want %s", got, tt.want)
			}
		})
	}
}

// A planner call that cannot be stored leaves the plan as it was.
func TestAPlanThatCannotBeStored(t *testing.T) {
	tr := try(t, planning.Classic,
		answers(calls("t1", "write_todos", todos("a:i b:p")), reads("w"), tools()),
		answers(calls("t2", "write_todos", todos("a:d b:i")), tools()),
		answers(calls("t3", "write_todos", todos("a:d b:i")), reads("w"), tools()),
		answers(calls("t4", "write_todos", todos("a:d b:d")), tools()),
		answers(say("Done."), stops()))
	full := errors.New("disk full")
	tr.log.Committed = func(entries []*part.Entry) {
		for _, e := range entries {
			if e.Type == part.ToolInputAvailable && e.ToolCallID == "t2" {
				tr.log.Fail = func(int) error {
					tr.log.Fail = nil
					return full
				}
			}
		}
	}
	tr.ended(part.Finished, part.ReasonStop)
	if p := tr.tool("t2"); p.State != part.StateOutputError || !strings.Contains(p.Tool.ErrorText, "could not be stored") {
		t.Errorf("the call is %s: %s", p.State, p.Tool.ErrorText)
	}
	var revisions []int
	for _, r := range tr.log.Revisions() {
		revisions = append(revisions, r.Plan.Revision)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, revisions); diff != "" {
		t.Error(diff)
	}
}

// HO-07, the loop's side: short lists, one a step together with other work.
func TestShortListsLoseNothing(t *testing.T) {
	lists := []struct{ sent, settled string }{
		{"a:d b:d c:i d:p", "a:d b:d c:i d:p"},
		{"c:d d:i", "a:d b:d c:d d:i"},
		{"d:d", "a:d b:d c:d d:d"},
		{"b:p e:p", "a:d b:i c:d d:d e:p"},
		{"b:d", "a:d b:d c:d d:d"},
	}
	var plays []play
	for i, l := range lists {
		plays = append(plays, answers(calls(fmt.Sprint("t", i), "write_todos", todos(l.sent)), reads("w"), tools()))
	}
	tr := try(t, planning.Classic, append(plays, answers(say("Done."), stops()))...)
	tr.ended(part.Finished, part.ReasonStop)
	for i, l := range lists {
		p := tr.tool(fmt.Sprint("t", i))
		plan, _ := planning.ParseOutput("write_todos", p.Tool.Output)
		if got := listed(plan.Stages); got != l.settled {
			t.Errorf("list %d settled as %s, want %s", i+1, got, l.settled)
		}
		if string(p.Tool.Input) != todos(l.sent) {
			t.Errorf("list %d is stored as %s", i+1, p.Tool.Input)
		}
	}
}

func TestOveruse(t *testing.T) {
	list := func(id, l string) []Chunk { return calls(id, "write_todos", todos(l)) }
	tr := try(t, planning.Classic,
		answers(list("t1", "a:i b:p"), tools()),
		answers(list("t2", "a:d b:i"), tools()),
		answers(list("t3", "a:d b:d"), tools()),
		answers(reads("w"), list("t4", "a:d b:d"), tools()),
		answers(say("Done."), stops()))
	tr.ended(part.Finished, part.ReasonStop)
	if p := tr.tool("t3"); p.State != part.StateOutputError || !strings.HasPrefix(p.Tool.ErrorText, "planner_overuse_execute_next_step") {
		t.Errorf("the third is %s: %s", p.State, p.Tool.ErrorText)
	}
	if p := tr.tool("t4"); p.State != part.StateOutputAvailable {
		t.Errorf("the one with work is %s", p.State)
	}
}

// An open plan is carried with its open stages only, makes no debt and gates
// nothing until it is touched.
func TestCarriedPlan(t *testing.T) {
	first := try(t, planning.Metronome,
		answers(calls("p", "plan", stages("a", "b", "c")), reads("w"), calls("v", "advance", `{"evidence":"seen"}`), tools()),
		answers(say("All done."), stops()))
	first.ended(part.Finished, part.ReasonStop)
	state, open := first.log.State()
	if !open {
		t.Fatal("the plan was not kept")
	}

	second := try(t, planning.Metronome, answers(say("Something else, then."), stops()))
	second.job.Plan = state
	second.job.Prior = []Turn{{UserText: "Do it.", Entries: first.log.Entries()}}
	finish := second.ended(part.Finished, part.ReasonStop)
	if len(finish.Debt) != 0 || second.model.calls() != 1 {
		t.Errorf("%d calls, %+v", second.model.calls(), finish)
	}
	head := second.parts()[0]
	var plan planning.Plan
	if err := json.Unmarshal(head.Data, &plan); err != nil || head.DataType != part.DataPlanCarried || listed(plan.Stages) != "b:p c:p" {
		t.Errorf("the head is %s %s (%v)", head.DataType, head.Data, err)
	}
	if req := second.model.requests[0]; !strings.Contains(req.Reminder, "do b") || !strings.Contains(req.Reminder, "re-plan") {
		t.Errorf("reminder %s", req.Reminder)
	}
	if kept, open := second.log.State(); !open || !kept.Carried {
		t.Errorf("untouched, the chat keeps %+v, %v", kept, open)
	}

	third := try(t, planning.Metronome, answers(calls("p", "plan", stages("x")), tools()), answers(say("Done."), stops()))
	third.job.Plan = state
	if f := third.ended(part.Finished, part.ReasonStop); len(f.Debt) != 1 || f.Debt[0].ID != "x" {
		t.Errorf("touched: debt %+v", f.Debt)
	}

	other := try(t, planning.Classic, answers(say("Done."), stops()))
	other.job.Plan = state
	other.ended(part.Finished, part.ReasonStop)
	if parts := other.parts(); parts[0].Kind != part.KindText {
		t.Errorf("another planner's plan was carried: %s", parts[0].Data)
	}
}
