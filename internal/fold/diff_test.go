package fold

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// after is what changes on the page by the lines of a script behind 'then'.
func after(t *testing.T, script string) []string {
	t.Helper()
	before, then, _ := strings.Cut(script, "then\n")
	s := newScript()
	run := func(lines string) *Snapshot {
		for line := range strings.Lines(lines) {
			if err := s.line(strings.TrimSpace(line)); err != nil {
				t.Fatal(err)
			}
		}
		return s.f.Snapshot()
	}
	last := run(before)
	var changes []string
	for _, c := range Changes(last, run(then)) {
		text := kindNames[c.Kind]
		if c.Row != nil {
			text += " " + c.Row.StageID
		} else if c.Region != "" {
			text += " " + string(c.Region)
		}
		if c.Part != nil {
			text += fmt.Sprint(" part ", c.Part.N)
		}
		if c.Block != nil {
			text += fmt.Sprint(" block ", c.Block.N)
		}
		if c.Piece != nil {
			text += fmt.Sprint(" piece ", c.Piece.N)
		}
		changes = append(changes, text)
	}
	return changes
}

var kindNames = map[ChangeKind]string{
	RunChanged: "run", RowsReset: "rows", RowAdded: "row added", RowChanged: "row", RegionReset: "region",
	PartAdded: "added", PartChanged: "head", BlockAdded: "block added", BlockChanged: "block",
	PieceAdded: "piece added", PieceChanged: "piece",
}

func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"a delta without a plan":           {"open t one\nthen\nmore t  two", []string{"block lead part 1 block 0"}},
		"a new block":                      {"open t one\nthen\nmore t \\n\\n# Head\\n", []string{"block lead part 1 block 0", "block added lead part 1 block 1"}},
		"a delta under a stage":            {"todos a:i b:p\nopen t one\nthen\nmore t  two", []string{"row a", "block a part 2 block 0"}},
		"the end of a text":                {"open t one\nthen\nclose t", []string{"head lead part 1", "block lead part 1 block 0"}},
		"a tool begins":                    {"todos a:i b:p\nthen\ncall c1 read_file {\"path\":\"a\"}", []string{"row a", "added a part 2"}},
		"a tool ends":                      {"todos a:i b:p\ncall c1 read_file\nthen\nresult c1 {}", []string{"row a", "head a part 2"}},
		"a tool ends in a run without one": {"call c1 read_file\ntext on\nthen\nresult c1 {}", []string{"head lead part 1"}},
		"a step begins":                    {"text one\nthen\nstep", []string{"run"}},
		"usage after the stage":            {"todos a:i b:p\nstep\ntodos a:d b:i\nthen\nend 10/5\nstep", []string{"run", "row a"}},
		"the first plan":                   {"text one\nthen\ntodos a:i b:p", []string{"run", "row added a", "row added b"}},
		"the next stage":                   {"todos a:i b:p\ntool x\nthen\ntodos a:d b:i", []string{"run", "row a", "row b"}},
		"a stage at the end":               {"todos a:i\nthen\ntodos a:i b:p", []string{"run", "row a", "row added b"}},
		"a stage in the middle":            {"todos a:i c:p\nthen\ntodos a:i b:p c:p", []string{"run", "rows rows"}},
		"a dropped stage with its work":    {"todos a:i b:p\ntool x\nthen\ntodos b:i", []string{"run", "rows rows", "added sink part 2"}},
		"a dropped stage comes back":       {"todos a:i b:p\ntool x\ntodos b:i\nthen\ntodos b:p a:i", []string{"run", "region sink", "row b", "row added a"}},
		"text moves to the answer":         {"step\ntodos a:i\nstep\ntext done\nthen\ntodos a:d", []string{"run", "region a", "row a", "added answer part 2"}},
		"a failed planner call":            {"todos a:i\ncall w write_todos\ntext on\nthen\nfails w no", []string{"region a", "row a"}},
		"a step is taken back":             {"step\ntext one\nstep\ntext two\nthen\nreset 2", []string{"region lead"}},
		"the end":                          {"todos a:i\ntext x\nthen\nfinish finished stop", []string{"run", "row a"}},
		"a late entry":                     {"text x\nfinish finished stop\nthen\ntext late", nil},
		"a stray entry":                    {"text x\nthen\nmore nobody text", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, after(t, c.script)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestChangesOfLongCode: a long block of code changes by its last piece only.
func TestChangesOfLongCode(t *testing.T) {
	for lines, want := range map[int]string{
		4 * pieceLines:     "piece added lead part 1 block 0 piece 4",
		4*pieceLines + 10:  "piece lead part 1 block 0 piece 4",
		40*pieceLines + 10: "piece lead part 1 block 0 piece 40",
	} {
		script := "open t ```go\\n" + strings.Repeat("x := 1\\n", lines) + "\nthen\nmore t y := 2"
		if d := cmp.Diff([]string{want}, after(t, script)); d != "" {
			t.Error(d)
		}
	}
}

// TestChangesFromNothing: a reader without a snapshot is shown everything.
func TestChangesFromNothing(t *testing.T) {
	s := newScript()
	for _, line := range []string{"text lead", "todos a:i b:p", "tool x", "todos b:d", "text answer"} {
		if err := s.line(line); err != nil {
			t.Fatal(err)
		}
	}
	now := s.f.Snapshot()
	shown := &page{}
	for _, c := range Changes(nil, now) {
		if err := shown.show(c, now); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(pageOf(now).String(), shown.String()); d != "" {
		t.Error(d)
	}
}

// TestNothingChanged: L0 costs nothing.
func TestNothingChanged(t *testing.T) {
	f, _ := openFolder(100, 5)
	s := f.Snapshot()
	if n := testing.AllocsPerRun(100, func() {
		if f.Snapshot() != s || len(Changes(s, s)) != 0 {
			t.Fatal("it changed")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestDeltaTouchesOneRow: of a run with 50 stages, a delta makes one row, one
// part and one block anew; a bounded number of allocations, whatever is there.
func TestDeltaTouchesOneRow(t *testing.T) {
	f, seq := openFolder(2000, 50)
	log := deltas(300, seq)
	f.Apply(log[0])
	last := f.Snapshot()
	f.Apply(log[1])
	now := f.Snapshot()
	rows, parts, blocks := 0, 0, 0
	for i, r := range now.Rows.All() {
		old := last.Rows.At(i)
		if r != old {
			rows++
		}
		for k, p := range r.Parts.All() {
			if k < old.Parts.Len() && p != old.Parts.At(k) {
				parts++
				for n, b := range old.Parts.At(k).Blocks.All() {
					if p.Blocks.At(n) != b {
						blocks++
					}
				}
			}
		}
	}
	if rows != 1 || parts != 1 || blocks != 1 {
		t.Errorf("%d rows, %d parts and %d blocks are new", rows, parts, blocks)
	}
	i := 2
	if n := testing.AllocsPerRun(200, func() {
		f.Apply(log[i])
		f.Snapshot()
		i++
	}); n > 12 {
		t.Errorf("%v allocations a delta", n)
	}
}
