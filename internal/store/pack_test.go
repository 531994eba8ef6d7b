package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
)

// packedLog is a log as it stands after packing.
func packedLog(log []*part.Entry) []*part.Entry {
	var p packer
	for _, e := range log {
		p.add(e)
	}
	gone := map[int64]bool{}
	stands := map[int64]*part.Entry{}
	for _, g := range p.finish() {
		stands[g.last.Seq] = g.entry()
		for _, piece := range g.pieces[:len(g.pieces)-1] {
			gone[piece.seq] = true
		}
	}
	var list []*part.Entry
	for _, e := range log {
		if p := stands[e.Seq]; p != nil {
			e = p
		}
		if !gone[e.Seq] {
			list = append(list, e)
		}
	}
	return list
}

// Building a packed log equals building the log, for whatever log; only seqs
// and times of deltas differ, which no part shows.
func TestPackingChangesNothing(t *testing.T) {
	packed := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		log := randomLog(r, 5+r.IntN(80))
		for i, e := range log {
			e.Seq, e.Time = int64(i+1), begin.Add(time.Duration(i)*time.Second)
		}
		end := finish(part.Stopped)
		end.Seq, end.Time = int64(len(log)+1), begin
		log = append(log, end)
		got := packedLog(log)
		packed += len(log) - len(got)
		if !slices.IsSortedFunc(got, func(a, b *part.Entry) int { return int(a.Seq - b.Seq) }) {
			t.Fatalf("seed %d: out of order: %v", seed, brief(got))
		}
		equal(t, fmt.Sprintf("seed %d", seed), part.Build(got), part.Build(log))
		if t.Failed() {
			t.Fatal(strings.Join(brief(log), "\n"))
		}
	}
	if packed < 1000 {
		t.Errorf("only %d entries were packed", packed)
	}
}

// A long text costs its length, not the square of it.
func TestPackingIsLinear(t *testing.T) {
	var p packer
	for i := range int64(200_000) {
		e := delta(1, "a", "0123456789")
		e.Seq = i + 1
		p.add(e)
	}
	list := p.finish()
	if len(list) != 1 || list[0].text.Len() != 2_000_000 || cap(list[0].pieces) > 400_000 {
		t.Errorf("packed into %d", len(list))
	}
}

// A finished run's log has one delta a part, in its old place, and a reader that
// knows the log up to any seq gets exactly the rest, in pages of any size.
func TestReadingAPackedLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for seed := range uint64(4) {
			id := fmt.Sprint("r", seed)
			l := w.started(id)
			for _, e := range randomLog(rand.New(rand.NewPCG(seed, 2)), 60) {
				w.must(l.Append(e))
			}
			w.must(l.Sync(w.ctx))
			live := w.entries(id, 0)
			inOrder(t, live)
			w.must(l.Finish(w.ctx, nil, finish(part.Stopped)))
			stored := w.entries(id, 0)
			if len(stored) > len(live)-3 {
				t.Errorf("%d entries of %d are left", len(stored), len(live)+1)
			}
			live = append(live, stored[len(stored)-1])
			for after := int64(0); after <= int64(len(live)); after++ {
				got := append(slices.Clone(live[:after]), w.entries(id, after)...)
				same(t, fmt.Sprintf("%s behind %d", id, after), got, live)
			}
			for limit := 1; limit < 12; limit++ {
				var got []*part.Entry
				after := int64(0)
				for {
					page, err := w.Entries(w.ctx, id, after, limit)
					w.must(err)
					if len(page) == 0 {
						break
					}
					got = append(got, page...)
					after = page[len(page)-1].Seq
				}
				same(t, fmt.Sprintf("%s in pages of %d", id, limit), got, live)
			}
		}
	})
}

// same: the two logs rise in seq and add up to the same parts.
func same(t *testing.T, what string, got, want []*part.Entry) {
	t.Helper()
	for i := 1; i < len(got); i++ {
		if got[i].Seq <= got[i-1].Seq {
			t.Fatalf("%s: seq %d behind %d", what, got[i].Seq, got[i-1].Seq)
		}
	}
	equal(t, what, part.Build(got), part.Build(want))
	if t.Failed() {
		t.Fatalf("%v\nwant\n%v", brief(got), brief(want))
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		after, upto int64
		want        string
	}{
		{0, 100, "9 abcdef"}, {4, 100, "9 abcdef"}, {5, 100, "9 cdef"}, {6, 100, "9 cdef"}, {7, 100, "9 f"}, {9, 100, ""},
		{0, 8, "7 abcde"}, {5, 6, ""}, {5, 7, "7 cde"}, {0, 4, ""}, {0, 5, "5 ab"},
	} {
		e := delta(1, "a", "abcdef")
		e.Seq = 9
		got := ""
		if cut(e, format([]piece{{5, 2}, {7, 3}, {9, 1}}), c.after, c.upto) {
			got = fmt.Sprintf("%d %s", e.Seq, e.Delta)
		}
		if got != c.want {
			t.Errorf("behind %d up to %d: %q, want %q", c.after, c.upto, got, c.want)
		}
	}
	if e := delta(1, "a", "short"); cut(e, "5:2 broken 9:x 3:90", 0, 100) { // damaged: left out, no panic
		t.Errorf("cut a broken row into %q", e.Delta)
	}
}
