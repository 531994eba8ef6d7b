package planning

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"
)

// seeded is the source of random inputs; a failing test names its round.
func seeded(round int) *rand.Rand { return rand.New(rand.NewPCG(7, uint64(round))) }

// randomList is a list as a careless model sends it: few ids, repeated.
func randomList(r *rand.Rand) []Stage {
	statuses := []Status{Pending, InProgress, Done}
	var list []Stage
	for range r.IntN(7) {
		list = append(list, Stage{
			ID:      string(rune('a' + r.IntN(6))),
			Content: strconv.Itoa(r.IntN(3)),
			Status:  statuses[r.IntN(3)],
		})
	}
	return list
}

// Merge: at most one active, ids unique, no done item lost by omission,
// Merge(Merge(x)) = Merge(x), arguments not changed in place.
func TestPropertyMerge(t *testing.T) {
	prev := []Stage(nil)
	for round := range 100_000 {
		r := seeded(round)
		if round%10 == 0 {
			prev = nil
		}
		sent := randomList(r)
		sentBefore, prevBefore := fmt.Sprint(sent), fmt.Sprint(prev)
		merged := Merge(prev, sent)
		if fmt.Sprint(sent) != sentBefore || fmt.Sprint(prev) != prevBefore {
			t.Fatalf("round %d: an argument changed", round)
		}
		if problem := mergeFault(prev, sent, merged); problem != "" {
			t.Fatalf("round %d: %s\nprev   %s\nsent   %s\nmerged %s", round, problem, prevBefore, sentBefore, fmt.Sprint(merged))
		}
		prev = merged
	}
}

// mergeFault says which promise of Merge does not hold; "" for none.
func mergeFault(prev, sent, merged []Stage) string {
	seen := map[string]bool{}
	active := 0
	for _, s := range merged {
		if seen[s.ID] {
			return "an id stands twice"
		}
		seen[s.ID] = true
		if s.Status.IsActive() {
			active++
		}
	}
	if active > 1 {
		return "more than one is active"
	}
	for _, s := range sent {
		if !seen[s.ID] {
			return "a sent item is lost"
		}
	}
	first := firstOfEach(sent)
	for _, s := range prev {
		if _, again := byID(first, s.ID); again {
			continue
		}
		kept, there := byID(merged, s.ID)
		if s.Status.IsDone() && (!there || kept != s) {
			return "a done item is lost or changed"
		}
		if !s.Status.IsDone() && there {
			return "a dropped item came back"
		}
	}
	order := -1
	for _, s := range first {
		i := indexOf(merged, s.ID)
		if i < order {
			return "the sent order is lost"
		}
		order = i
		if merged[i].Content != s.Content || s.Status.IsDone() != merged[i].Status.IsDone() {
			return "a sent item is not honoured"
		}
	}
	if !sameStages(Merge(prev, merged), merged) {
		return "merging the merged list onto the old one differs"
	}
	if !sameStages(Merge(merged, merged), merged) {
		return "merging the merged list onto itself differs"
	}
	if !sameStages(Merge(merged, sent), merged) {
		return "sending the same list again differs"
	}
	return ""
}

// Random call sequences of every planner: what holds after each call.
func TestPropertySequences(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			for round := range 400 {
				r := seeded(round)
				s := NewState(mode)
				for n := range 30 {
					before := s
					frozen := string(encodeJSON(t, before))
					next, res, what := randomMove(t, r, s)
					if problem := moveFault(before, next, res); problem != "" {
						t.Fatalf("round %d, move %d (%s): %s\nbefore %s\nafter  %s", round, n, what, problem, frozen, encodeJSON(t, next))
					}
					if string(encodeJSON(t, before)) != frozen {
						t.Fatalf("round %d, move %d (%s): the old state changed", round, n, what)
					}
					s = next
				}
			}
		})
	}
}

// randomMove is a call, some work, or a new run.
func randomMove(t *testing.T, r *rand.Rand, s State) (State, *Result, string) {
	tools := s.Plan.Mode.Tools()
	switch r.IntN(8) {
	case 0:
		return s.Worked(r.IntN(2), r.IntN(250)), nil, "work"
	case 1:
		if next, ok := ResolveChild(s, string(rune('a'+r.IntN(6))), at); ok {
			return next, nil, "child"
		}
		return s, nil, "nothing"
	case 2:
		if r.IntN(10) == 0 {
			next, _ := Carry(s)
			return next, nil, "carry"
		}
	}
	tool := tools[r.IntN(len(tools))]
	input := randomInput(t, r, s.Plan.Mode, tool)
	res := Apply(s, Call{Tool: tool, Input: input, Time: at.Add(time.Duration(r.IntN(1000)) * time.Second)}, NormalLimits())
	return res.State, &res, tool + " " + string(input)
}

// randomInput is mostly good, sometimes not.
func randomInput(t *testing.T, r *rand.Rand, m Mode, tool string) json.RawMessage {
	if r.IntN(20) == 0 {
		odd := []string{``, `{`, `[]`, `{"todos":1}`, `{"stages":null}`, `{"steps":[{}]}`, `{"evidence":""}`, `{"steps":[[]]}`}
		return json.RawMessage(odd[r.IntN(len(odd))])
	}
	if tool == ToolAdvance {
		return json.RawMessage(`{"evidence":"e"}`)
	}
	words := map[Mode][]string{
		Classic:   {"pending", "in_progress", "done", "completed"},
		Metronome: {"done"},
		Checklist: {"pending", "completed", "cancelled", "in_progress"},
		Steps:     {"pending", "running", "done", "failed", "skipped", "odd"},
	}[m]
	items := []obj{}
	for range r.IntN(6) {
		id, content, status := string(rune('a'+r.IntN(6))), "t"+strconv.Itoa(r.IntN(4)), words[r.IntN(len(words))]
		switch m {
		case Checklist:
			items = append(items, obj{"text": content, "status": status})
		case Steps:
			items = append(items, obj{"id": id, "label": content, "status": status})
		default:
			items = append(items, obj{"id": id, "content": content, "deliverable": "d", "status": status})
		}
	}
	key := map[Mode]string{Classic: "todos", Metronome: "stages", Checklist: "steps", Steps: "steps"}[m]
	return encodeJSON(t, obj{key: items})
}

// moveFault says which invariant a move broke; "" for none. res is nil for
// moves that are no calls.
func moveFault(before, after State, res *Result) string {
	p := after.Plan
	if !p.valid() {
		return "the plan is not valid"
	}
	if p.Mode != before.Plan.Mode {
		return "the planner changed"
	}
	for i, s := range p.Stages {
		if p.Mode == Metronome && !after.Carried && s.Status != pointed(p.Stages, p.Pointer)[i].Status {
			return "a status does not follow the pointer"
		}
	}
	if (Directive(after) == "") != after.Complete() {
		return "the directive does not follow the open stages"
	}
	if p.Mode == Steps && p.SettledAt.IsZero() == (len(p.Stages) > 0 && after.Complete()) {
		return "settledAt does not follow the statuses"
	}
	var back State
	if b, err := json.Marshal(after); err != nil || json.Unmarshal(b, &back) != nil || !reflect.DeepEqual(back, after) {
		return "the state's JSON is not lossless"
	}
	if res == nil {
		return ""
	}
	return callFault(before, after, *res)
}

func callFault(before, after State, res Result) string {
	same := before.HasPlan == after.HasPlan && sameStages(before.Plan.Stages, after.Plan.Stages) && before.Plan.Title == after.Plan.Title
	rose := after.Plan.Revision - before.Plan.Revision
	switch {
	case res.Changed == same:
		return "changed does not say whether the list differs"
	case rose != 0 && !res.Changed || res.Changed && rose != 1:
		return "the revision does not follow the list"
	case (res.Err != nil || res.Refused) && (!same || res.Changed || after.Carried != before.Carried):
		return "a call that was not accepted changed the plan"
	case (res.Err == nil) != (res.Output != nil):
		return "a result has an output or an error"
	case after.Plan.Pointer < before.Plan.Pointer:
		return "the pointer fell"
	}
	if res.Err != nil || res.Refused {
		return ""
	}
	if after.Carried || !after.HasPlan {
		return "an accepted call left the plan carried"
	}
	read, ok := ParseOutput(toolOf(res), res.Output)
	if !ok || !sameStages(read.Stages, after.Plan.Stages) {
		return "the output is not the plan"
	}
	if after.Plan.Mode == Metronome {
		for i := range before.Plan.Pointer {
			if before.Plan.Stages[i] != after.Plan.Stages[i] {
				return "a finished stage was not frozen"
			}
		}
	}
	return ""
}

// toolOf is a tool of the result's planner.
func toolOf(res Result) string { return res.State.Plan.Mode.Tools()[0] }
