package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// Building and folding a packed log equals building and folding the log, for
// whatever log; only seqs and times of deltas differ, which no part shows.
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
		got := pack(log)
		packed += len(log) - len(got)
		if !slices.IsSortedFunc(got, func(a, b *part.Entry) int { return int(a.Seq - b.Seq) }) {
			t.Fatalf("seed %d: out of order: %v", seed, brief(got))
		}
		equal(t, fmt.Sprintf("parts of seed %d", seed), part.Build(got), part.Build(log))
		equal(t, fmt.Sprintf("page of seed %d", seed), folded(got), folded(log))
		if t.Failed() {
			t.Fatal(strings.Join(brief(log), "\n"))
		}
	}
	if packed < 1000 {
		t.Errorf("only %d entries were packed", packed)
	}
}

// folded is all that a page shows of a log.
func folded(log []*part.Entry) string {
	b, err := json.Marshal(fold.Changes(nil, fold.Fold(log)))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// A long text costs its length, not the square of it.
func TestPackingIsLinear(t *testing.T) {
	log := make([]*part.Entry, 200_000)
	for i := range log {
		log[i] = delta(1, "a", "0123456789")
	}
	if got := pack(log); len(got) != 1 || len(got[0].Delta) != 2_000_000 {
		t.Errorf("packed into %d", len(got))
	}
	if log[0].Delta != "0123456789" {
		t.Error("packing changed an entry")
	}
}

// However much of a log the packer has come to, it reads as it was written,
// from every seq and in pages of any size.
func TestReadingAPackedLog(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		for i, e := range randomLog(rand.New(rand.NewPCG(1, 2)), 3*packSize) {
			w.must(l.Append(e))
			if i%20 == 0 {
				w.must(l.Sync(w.ctx))
			}
		}
		w.must(l.Sync(w.ctx))
		written := w.entries("r", 0)
		inOrder(t, written)
		check := func(what string) {
			t.Helper()
			equal(t, what, w.entries("r", 0), written)
			for after := int64(0); after <= int64(len(written)); after += 97 {
				equal(t, fmt.Sprintf("%s, behind %d", what, after), w.entries("r", after), written[after:])
				rest, err := w.Packed(w.ctx, "r", after)
				w.must(err)
				equal(t, fmt.Sprintf("%s, packed behind %d", what, after), rest, pack(written[after:]))
			}
			for _, limit := range []int{7, packSize, packSize + 1, 10 * packSize} {
				var got []*part.Entry
				for page := []*part.Entry{{}}; len(page) > 0; {
					var err error
					page, err = w.Entries(w.ctx, "r", int64(len(got)), limit)
					w.must(err)
					if len(page) > limit {
						t.Fatalf("%s: %d entries, at most %d were asked for", what, len(page), limit)
					}
					got = append(got, page...)
				}
				equal(t, fmt.Sprintf("%s, in pages of %d", what, limit), got, written)
			}
		}
		check("live")
		for i, more := 1, true; more; i++ { // as if it had ended
			var err error
			more, err = w.packSome(w.ctx, "r")
			w.must(err)
			check(fmt.Sprint("after pack ", i))
		}
	})
}

// The packer comes to every run that has ended, also to one that ended before a
// crash, and to no other. Late entries are read behind what is packed.
func TestEndedRunsArePacked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		rows := func(table, run string) (n int64) {
			w.must(w.DB.read.Table(table).Where("run_id = ?", run).Count(&n).Error)
			return n
		}
		ended, live, cut := w.started("ended"), w.started("live"), w.started("cut")
		for _, l := range []*RunLog{ended, live, cut} {
			w.must(l.Append(start(), textStart(1, "a"), delta(1, "a", "x"), textEnd(1, "a")))
			w.must(l.Sync(w.ctx))
		}
		w.must(ended.Finish(w.ctx, nil, finish(part.Finished)))
		w.must(w.SettleInterrupted(w.ctx, "cut", "a restart"))
		w.must(w.packEnded(w.ctx))
		w.must(ended.Append(&part.Entry{Type: part.ToolOutput, ToolCallID: "c", Step: 1, Late: true}))
		w.must(ended.Sync(w.ctx))
		w.reopen()
		w.must(w.packEnded(w.ctx))
		equal(t, "rows", []int64{rows("packs", "ended"), rows("entries", "ended"), rows("packs", "live"), rows("entries", "live"), rows("packs", "cut"), rows("entries", "cut")},
			[]int64{1, 1, 0, 4, 1, 0})
		list := w.entries("ended", 0)
		inOrder(t, list)
		if len(list) != 6 || !list[5].Late {
			t.Errorf("log: %v", brief(list))
		}
	})
}
