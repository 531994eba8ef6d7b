package fold

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
)

// deep compares snapshots by value, Vecs as slices; it is slow and explains.
var deep = cmp.Options{
	cmp.Transformer("parts", func(v Vec[*Part]) []*Part { return v.Slice() }),
	cmp.Transformer("blocks", func(v Vec[*Block]) []*Block { return v.Slice() }),
	cmp.Transformer("pieces", func(v Vec[*Piece]) []*Piece { return v.Slice() }),
	cmp.Transformer("rows", func(v Vec[*Row]) []*Row { return v.Slice() }),
	cmp.Transformer("activity", func(v Vec[*Activity]) []*Activity { return v.Slice() }),
	cmp.Exporter(func(t reflect.Type) bool { return t == reflect.TypeFor[Part]() || t == reflect.TypeFor[Block]() }),
}

// sameValue: two parts hold the same, whatever their pointers. Like its siblings
// it knows every field, also those that come later.
func sameValue(p, q *Part) bool {
	if p == q {
		return true
	}
	return p.text == q.text && reflect.DeepEqual(p.Part, q.Part) && sameAll(p.Blocks, q.Blocks, sameBlock)
}

func sameBlock(a, b *Block) bool {
	if a == b {
		return true
	}
	x, y := *a, *b
	x.Pieces, y.Pieces = Vec[*Piece]{}, Vec[*Piece]{}
	return reflect.DeepEqual(x, y) && sameAll(a.Pieces, b.Pieces, func(p, q *Piece) bool { return *p == *q })
}

func sameRow(r, q *Row) bool {
	if r == q {
		return true
	}
	x, y := *r, *q
	x.Parts, y.Parts = Vec[*Part]{}, Vec[*Part]{}
	return reflect.DeepEqual(x, y) && sameAll(r.Parts, q.Parts, sameValue)
}

func sameSnapshot(s, u *Snapshot) bool {
	x, y := *s, *u
	for _, c := range []*Snapshot{&x, &y} {
		c.Lead, c.Sink, c.Answer, c.Calls = Vec[*Part]{}, Vec[*Part]{}, Vec[*Part]{}, Vec[*Part]{}
		c.Rows, c.Activity = Vec[*Row]{}, Vec[*Activity]{}
	}
	return reflect.DeepEqual(x, y) && sameAll(s.Rows, u.Rows, sameRow) &&
		sameAll(s.Lead, u.Lead, sameValue) && sameAll(s.Sink, u.Sink, sameValue) &&
		sameAll(s.Answer, u.Answer, sameValue) && sameAll(s.Calls, u.Calls, sameValue) &&
		sameAll(s.Activity, u.Activity, func(a, b *Activity) bool { return reflect.DeepEqual(a, b) })
}

func sameAll[T any](a, b Vec[T], same func(T, T) bool) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i, x := range a.All() {
		if !same(x, b.At(i)) {
			return false
		}
	}
	return true
}

func regions(s *Snapshot) []Vec[*Part] {
	all := []Vec[*Part]{s.Lead}
	for _, r := range s.Rows.All() {
		all = append(all, r.Parts)
	}
	return append(all, s.Sink, s.Answer, s.Calls)
}

// partsOf is the parts by their number.
func partsOf(s *Snapshot) map[int]*Part {
	all := make(map[int]*Part, s.PartCount)
	for _, v := range regions(s) {
		for _, p := range v.All() {
			all[p.N] = p
		}
	}
	return all
}

// checkLog folds a log entry by entry, makes a snapshot after every so many, and
// holds every promise to it: the quick ones to each snapshot, the slow ones to
// every fourth and the last.
func checkLog(t *testing.T, log []*part.Entry, every int) {
	t.Helper()
	f := New()
	var last *Snapshot
	var was map[int]*Part
	var shown *page
	for i, e := range log {
		f.Apply(e)
		if i%every != 0 && i != len(log)-1 {
			continue
		}
		now := f.Snapshot()
		if f.Snapshot() != now {
			t.Fatal("nothing changed, but the snapshot did")
		}
		if last != nil && last.Terminal() && now != last {
			t.Fatal("a terminal snapshot changed")
		}
		parts := partsOf(now)
		checkPlaces(t, now)
		if last == nil {
			shown = pageOf(now)
		} else {
			if every == 1 { // else something may have changed and changed back
				checkStable(t, last, now, was, parts)
			}
			checkRows(t, last, now, log[:i+1])
			for _, c := range Changes(last, now) {
				if err := shown.show(c, now); err != nil {
					t.Fatalf("entry %d: %v", i, err)
				}
			}
		}
		last, was = now, parts
		if (i/every)%4 != 3 && i != len(log)-1 {
			continue
		}
		checkParts(t, now, parts, log[:i+1])
		if once := Fold(log[:i+1]); !sameSnapshot(once, now) {
			t.Fatalf("entry %d: folded at once it differs:\n%s", i, cmp.Diff(once, now, deep))
		}
		if got, want := shown.String(), pageOf(now).String(); got != want {
			t.Fatalf("entry %d: the page differs:\n%s", i, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
	}
}

// checkPlaces: every part stands once, in order in its region, and nothing goes
// on after the end.
func checkPlaces(t *testing.T, s *Snapshot) {
	t.Helper()
	seen := map[int]bool{}
	count := 0
	all := regions(s)
	for k, v := range all {
		n := 0
		calls := k == len(all)-1 // they stand in the order in which they were accepted
		for _, p := range v.All() {
			if p.N <= n && !calls {
				t.Fatalf("part %d stands behind part %d", p.N, n)
			}
			if seen[p.N] {
				t.Fatalf("part %d stands there twice", p.N)
			}
			n, seen[p.N] = p.N, true
			if !calls {
				count++
			}
		}
	}
	if count != s.PartCount {
		t.Fatalf("PartCount %d, %d parts", s.PartCount, count)
	}
	live := 0
	for _, r := range s.Rows.All() {
		if r.Live {
			live++
		}
		if s.Terminal() && (r.Live || r.Status == RowInProgress || r.Status == RowWaiting || r.Activity != "") {
			t.Fatalf("row %s goes on after the end", r.StageID)
		}
	}
	if live > 1 {
		t.Fatal("two live rows")
	}
}

// checkParts: the parts are those of the log, whole, and none besides.
func checkParts(t *testing.T, s *Snapshot, shown map[int]*Part, log []*part.Entry) {
	t.Helper()
	all := maps.Clone(shown)
	for _, p := range part.Build(log) {
		if p.Kind == part.KindChild {
			continue
		}
		q := all[p.N]
		if q == nil {
			if p.Kind == part.KindTool && !p.Terminal() && !s.Terminal() {
				continue // a planner's call that is still open
			}
			t.Fatalf("part %d (%s %s) is lost", p.N, p.Kind, p.ID)
		}
		if p.Tool != nil && q.Tool.InputText != p.Tool.InputText {
			t.Fatalf("part %d: input %q, want %q", p.N, q.Tool.InputText, p.Tool.InputText)
		}
		if q.Source() != p.Text {
			t.Fatalf("part %d: text %q, want %q", p.N, q.Source(), p.Text)
		}
		if s.Terminal() && !q.Terminal() {
			t.Fatalf("part %d is open after the end", p.N)
		}
		delete(all, p.N)
	}
	if len(all) > 0 {
		t.Fatalf("parts that are not in the log: %v", all)
	}
}

// checkStable: what did not change keeps its pointer.
func checkStable(t *testing.T, last, now *Snapshot, was, parts map[int]*Part) {
	t.Helper()
	for n, p := range parts {
		old := was[n]
		if old == nil || old == p {
			continue
		}
		if sameValue(old, p) {
			t.Fatalf("part %d is a new pointer to the same: %q %q %v", n, old.text, p.text, old.Blocks.same(p.Blocks))
		}
		for i, b := range old.Blocks.All() {
			if i < p.Blocks.Len() && p.Blocks.At(i) != b && sameBlock(b, p.Blocks.At(i)) {
				t.Fatalf("block %d is a new pointer to the same", i)
			}
			if b.Closed && p.Blocks.At(i) != b && b.Refs == p.Blocks.At(i).Refs {
				t.Fatalf("block %d changed after it closed", i)
			}
		}
	}
	rows := rowsOf(now)
	for _, r := range last.Rows.All() {
		if q := rows[r.StageID]; q != nil && q != r && sameRow(q, r) {
			t.Fatalf("row %s is a new pointer to the same", r.StageID)
		}
	}
}

func rowsOf(s *Snapshot) map[string]*Row {
	rows := map[string]*Row{}
	for _, r := range s.Rows.All() {
		rows[r.StageID] = r
	}
	return rows
}

// checkRows: rows vanish only where the list, or a step, was replaced.
func checkRows(t *testing.T, last, now *Snapshot, log []*part.Entry) {
	t.Helper()
	rows := rowsOf(now)
	mayVanish := false
	for _, e := range log[last.Seq:] {
		switch e.Type {
		case part.StepReset, part.DataPlanCarried:
			mayVanish = true
		case part.ToolOutput, part.ToolOutputError, part.ToolOutputDenied, part.ToolInputError, part.ToolInputAvailable, part.Finish:
			mayVanish = mayVanish || last.Plan == nil || last.Plan != now.Plan
		}
	}
	for _, r := range last.Rows.All() {
		if rows[r.StageID] == nil && !mayVanish {
			t.Fatalf("row %s vanished", r.StageID)
		}
	}
}
