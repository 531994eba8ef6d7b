package fold

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// 'Reference reuse compares ALL of them, and subparts by reference': a row that
// differs in one field, whichever, is another row.
func TestRowsAreComparedInAllFields(t *testing.T) {
	other := map[string]any{
		"Parts":    VecOf(&Part{}),
		"Files":    []part.FileChange{{Path: "a"}},
		"Children": []*Child{{}},
		"Usage":    part.Usage{Output: 1},
		"Started":  epochStart, "Ended": epochStart, "Since": epochStart,
	}
	row := reflect.TypeFor[Row]()
	for i := range row.NumField() {
		name := row.Field(i).Name
		changed := new(Row)
		field := reflect.ValueOf(changed).Elem().Field(i)
		if v, ok := other[name]; ok {
			field.Set(reflect.ValueOf(v))
		} else {
			switch field.Kind() {
			case reflect.String:
				field.SetString("x")
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Int, reflect.Int64:
				field.SetInt(1)
			default:
				t.Fatalf("%s has no other value in this test", name)
			}
		}
		if changed.same(new(Row)) || new(Row).same(changed) {
			t.Errorf("rows that differ in %s are the same", name)
		}
		if !changed.same(changed) {
			t.Errorf("a row with %s is not the same as itself", name)
		}
	}
	a, b := &Row{Parts: VecOf(&Part{})}, &Row{Parts: VecOf(&Part{})}
	if a.same(b) {
		t.Error("parts are compared by value")
	}
}

// 'A failed planner call never changes the plan and never blanks a row', even
// where what it left behind reads like a plan.
func TestAFailedCallNeverChangesThePlan(t *testing.T) {
	list := planOutput("todos", "x:i")
	for name, end := range map[string]part.Entry{
		"an error with an output": {Type: part.ToolOutputError, ErrorText: "no", Output: list},
		"a cancelled one":         {Type: part.ToolOutputError, ErrorText: "no", Reason: part.ReasonCancelled, Output: list},
		"a denied one":            {Type: part.ToolOutputDenied},
	} {
		s := newScript()
		for _, line := range []string{"step", "todos a:d b:i", "call c write_todos"} {
			if err := s.line(line); err != nil {
				t.Fatal(err)
			}
		}
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: "c", Output: list, Preliminary: true})
		end.ToolCallID = "c"
		s.add(end)
		s.show()
		got := s.out.String()
		if !strings.Contains(got, "1/2 a done") || !strings.Contains(got, "2/2 b in_progress") || !strings.Contains(got, "tool write_todos output-") && !strings.Contains(got, "tool write_todos cancelled") {
			t.Errorf("%s:\n%s", name, got)
		}
		checkLog(t, s.log, 1)
	}
}

// 'Outputs are frozen copies': the entries of a log are not changed by folding it.
func TestFoldChangesNoEntry(t *testing.T) {
	log := asLogged(benchLog(60, 6))
	before, _ := json.Marshal(log)
	Fold(log)
	if after, _ := json.Marshal(log); string(after) != string(before) {
		t.Error("an entry changed")
	}
}

// The newest plan that was told is in the snapshot, one that cannot be read is
// not; a runtime's is settled at once and once.
func TestPlansThatAreTold(t *testing.T) {
	told := func(raw string) part.Entry { return part.Entry{Type: part.DataPlan, Data: json.RawMessage(raw)} }
	s := newScript()
	for _, line := range []string{"step", "steps a:i b:i"} {
		if err := s.line(line); err != nil {
			t.Fatal(err)
		}
	}
	s.add(told(string(data(part.PlanData{Tool: "plan", Note: "one"}))))
	s.add(told(string(data(part.PlanData{Tool: "plan", Note: "two"}))))
	s.add(told(`{"plan":7}`))
	if got := s.f.Snapshot().PlanData; got == nil || got.Note != "two" {
		t.Errorf("told %+v", got)
	}
	runtime := data(part.PlanData{Plan: planOf("steps", "a:r b:i"), Tool: planning.ByRuntime})
	s.add(told(string(runtime)))
	s.add(told(`{"plan":7,"tool":"runtime"}`))
	if n := len(s.f.ledger.plans); n != 2 {
		t.Errorf("%d plans were settled", n)
	}
	snap := s.f.Snapshot()
	if snap.PlanData.Tool != planning.ByRuntime || snap.Rows.At(0).ResolvedBy != planning.ByRuntime {
		t.Errorf("told %+v", snap.PlanData)
	}
	checkLog(t, s.log, 1)
}

// L1: without a planner part everything is lead, and what was there stays by
// reference while more comes.
func TestWithoutAPlanPartsPassThrough(t *testing.T) {
	log := benchLog(300, 0)
	f := New()
	var last *Snapshot
	for i, e := range log {
		f.Apply(e)
		now := f.Snapshot()
		if now.Planned || now.Rows.Len()+now.Sink.Len()+now.Answer.Len() != 0 || now.Lead.Len() != now.PartCount {
			t.Fatalf("entry %d: %+v", i, now)
		}
		if last != nil {
			changed := 0
			for k, p := range last.Lead.All() {
				if now.Lead.At(k) != p {
					changed++
				}
			}
			if changed > 1 {
				t.Fatalf("entry %d (%s) changed %d parts", i, e.Type, changed)
			}
		}
		last = now
	}
}

// 'After a terminal state nothing on the page animates': no row is live, open
// or timed, whatever stood open and however the run ended.
func TestNothingGoesOnAfterTheEnd(t *testing.T) {
	for _, list := range []string{"todos a:d b:i c:p", "steps a:i b:i c:f", "checklist a:x b:i", "metronome a:u b:i"} {
		for _, end := range []string{"finished stop", "finished length", "failed error", "stopped abort", "interrupted abort"} {
			s := newScript()
			for _, line := range []string{"step", list, "open t Half", "stream c read_file", "call d read_file", "child r1 running stage=b", "approve d", "wait Which?", "finish " + end} {
				if err := s.line(line); err != nil {
					t.Fatal(err)
				}
			}
			snap := s.f.Snapshot()
			for _, r := range snap.Rows.All() {
				if r.Live || r.Activity != "" || !r.Since.IsZero() || r.Status == RowInProgress || r.Status == RowWaiting {
					t.Errorf("%s, %s: row %+v", list, end, r)
				}
				for _, c := range r.Children {
					if !c.State.Terminal() {
						t.Errorf("%s, %s: child %+v", list, end, c)
					}
				}
			}
			for _, p := range partsOf(snap) {
				if !p.Terminal() {
					t.Errorf("%s, %s: part %d is %s", list, end, p.N, p.State)
				}
			}
			if snap.Waiting != nil {
				t.Errorf("%s, %s: waits for %+v", list, end, snap.Waiting)
			}
		}
	}
}

// A stage's times never run backwards, whatever the clocks say.
func TestElapsedNeverFalls(t *testing.T) {
	s := newScript()
	for _, line := range []string{"step", "todos a:i b:p"} {
		_ = s.line(line)
	}
	s.at = s.at.Add(-time.Hour)
	for _, line := range []string{"todos a:d b:i", "finish finished stop"} {
		_ = s.line(line)
	}
	for _, r := range s.f.Snapshot().Rows.All() {
		if r.Elapsed < 0 {
			t.Errorf("row %s took %s", r.StageID, r.Elapsed)
		}
	}
}

// RunChanged stands for everything of a run outside rows and parts: a field
// that differs, whichever, is told.
func TestEveryFieldOfTheRunIsTold(t *testing.T) {
	elsewhere := map[string]bool{"Seq": true, "PartCount": true, "Lead": true, "Rows": true, "Sink": true, "Answer": true}
	other := map[string]any{
		"Start":   part.StartData{ChatID: "c"},
		"Error":   &part.RunError{},
		"Debt":    []part.Debt{{ID: "a"}},
		"Waiting": []part.Waiting{{}},
		"Started": epochStart, "Finished": epochStart,
		"Usage":      part.Usage{Output: 1},
		"Plan":       &planning.Plan{},
		"PlanData":   &part.PlanData{},
		"Unattached": []*Child{{}},
		"Activity":   VecOf(&Activity{}),
		"Calls":      VecOf(&Part{}),
	}
	snapshot := reflect.TypeFor[Snapshot]()
	for i := range snapshot.NumField() {
		name := snapshot.Field(i).Name
		if elsewhere[name] {
			continue
		}
		now := new(Snapshot)
		field := reflect.ValueOf(now).Elem().Field(i)
		switch v, ok := other[name]; {
		case ok:
			field.Set(reflect.ValueOf(v))
		case field.Kind() == reflect.String:
			field.SetString("x")
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.Kind() == reflect.Int:
			field.SetInt(1)
		default:
			t.Fatalf("%s has no other value in this test", name)
		}
		if changes := Changes(new(Snapshot), now); len(changes) != 1 || changes[0].Kind != RunChanged {
			t.Errorf("%s: told %+v", name, changes)
		}
	}
}

// A part that moves stands nowhere twice: what takes it away is shown first.
func TestWhatTakesPartsAwayComesFirst(t *testing.T) {
	one, two, three := &Part{Part: part.Part{N: 1}}, &Part{Part: part.Part{N: 2}}, &Part{Part: part.Part{N: 3}}
	row := func(id string, parts ...*Part) *Row { return &Row{StageID: id, Parts: VecOf(parts...)} }
	for name, c := range map[string]struct {
		last, now Snapshot
		first     Change
	}{
		"from a row into the lead":  {Snapshot{Rows: VecOf(row("a", one)), Lead: VecOf(two)}, Snapshot{Lead: VecOf(one, two)}, Change{Kind: RowsReset, Region: RegionRows}},
		"from a row into the sink":  {Snapshot{Rows: VecOf(row("a", one), row("b")), Sink: VecOf(two)}, Snapshot{Rows: VecOf(row("b")), Sink: VecOf(one, two)}, Change{Kind: RowsReset, Region: RegionRows}},
		"from the sink into a row":  {Snapshot{Rows: VecOf(row("b")), Sink: VecOf(one, two)}, Snapshot{Rows: VecOf(row("a", one), row("b")), Sink: VecOf(two)}, Change{Kind: RegionReset, Region: RegionSink}},
		"from a row to the answer":  {Snapshot{Rows: VecOf(row("a", one, two)), Answer: VecOf(three)}, Snapshot{Rows: VecOf(row("a", one)), Answer: VecOf(two, three)}, Change{Kind: RegionReset, Region: RegionRows}},
		"from the answer into lead": {Snapshot{Answer: VecOf(one, two), Lead: VecOf(three)}, Snapshot{Answer: VecOf(two), Lead: VecOf(one, three)}, Change{Kind: RegionReset, Region: RegionAnswer}},
	} {
		changes := Changes(&c.last, &c.now)
		for len(changes) > 0 && changes[0].Kind != RowsReset && changes[0].Kind != RegionReset {
			changes = changes[1:]
		}
		if len(changes) < 2 || changes[0].Kind != c.first.Kind || changes[0].Region != c.first.Region {
			t.Errorf("%s: %+v", name, changes)
		}
	}
}

// How the run ended is in the snapshot: its debt, its note and its error.
func TestTheEndIsInTheSnapshot(t *testing.T) {
	s := newScript()
	for _, line := range []string{"step", "todos a:i b:p"} {
		_ = s.line(line)
	}
	end := part.Entry{
		Type: part.Finish, State: part.FailedRun, FinishReason: part.ReasonError, Note: "why",
		Error: &part.RunError{Code: "c"}, Debt: []part.Debt{{ID: "a"}, {ID: "b"}}, Usage: &part.Usage{Input: 7},
	}
	s.add(end)
	snap := s.f.Snapshot()
	if snap.Note != "why" || snap.Error != end.Error || !reflect.DeepEqual(snap.Debt, end.Debt) || snap.Usage != *end.Usage || !snap.Finished.Equal(s.at) {
		t.Errorf("%+v", snap)
	}
}
