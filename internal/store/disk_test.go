package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
)

// room limits the database to pages more than it has; negative takes the limit
// away.
func (w *world) room(pages int) {
	w.t.Helper()
	var have, limit int
	w.must(w.write.Raw("PRAGMA page_count").Scan(&have).Error)
	if pages < 0 {
		have, pages = 1<<30, 0
	}
	w.must(w.write.Raw(fmt.Sprint("PRAGMA max_page_count = ", have+pages)).Scan(&limit).Error)
}

// A full disk is told to the owner and to whoever posts. Once there is room
// again everything goes on without a restart, the run by its next owner.
func TestFullDisk(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir(), Patience: 100 * time.Millisecond})
	w.chat("c")
	l := w.started("r")
	w.must(l.Append(start()))
	w.must(l.Sync(w.ctx))
	w.room(2)
	piece := strings.Repeat("x", 20_000)
	var err error
	for n := 0; err == nil && n < 100; n++ {
		err = errors.Join(l.Append(delta(1, "a", piece)), l.Sync(w.ctx))
	}
	if !Full(err) {
		t.Fatalf("the owner was told %v", err)
	}
	if _, err := w.PostMessage(w.ctx, Post{ChatID: "c", MessageID: "m", Text: piece, NewRunID: "s"}); !Full(err) {
		t.Errorf("a post was told %v", err)
	}
	if _, err := w.Entries(w.ctx, "r", 0, 0); err != nil {
		t.Errorf("reading: %v", err)
	}
	equal(t, "messages", w.states("c"), []string(nil))
	stored := w.committedOf("r")

	w.room(-1)
	if r := w.post("c", "m", piece, "s"); r.State != "started" {
		t.Errorf("post: %+v", r)
	}
	next, _, err := w.Claim(w.ctx, "r")
	w.must(err)
	w.must(next.Append(&part.Entry{Type: part.Resume}))
	w.must(next.Finish(w.ctx, nil, textEnd(1, "a"), finish(part.Finished)))
	inOrder(t, w.committedOf("r"))
	equal(t, "what was stored stays", w.committedOf("r")[:len(stored)], stored)
	w.intact()
}

// The owner itself can end its run when there is room again, although entries
// of it were lost.
func TestFullDiskThenFinish(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir(), Patience: 50 * time.Millisecond})
	l := w.started("r")
	w.must(l.Append(start()))
	w.must(l.Sync(w.ctx))
	w.room(0)
	big := callOutput(1, "c", `"`+strings.Repeat("x", 100_000)+`"`)
	if err := errors.Join(l.Append(big), l.Sync(w.ctx)); !Full(err) {
		t.Fatalf("the owner was told %v", err)
	}
	if err := l.Append(start()); !Full(err) {
		t.Errorf("append: %v", err)
	}
	w.room(-1)
	if err := l.CommitStep(w.ctx, 1, plan(1, 0, 1)); err == nil {
		t.Error("the log goes on behind a gap")
	}
	w.must(l.Finish(w.ctx, nil, &part.Entry{Type: part.StepReset, Step: 1}, finish(part.FailedRun)))
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 step-reset", "3 finish"})
	if r := w.run("r"); r.State != part.FailedRun {
		t.Errorf("the run is %s", r.State)
	}
}

// Room that comes back in time is not even told.
func TestFullDiskInTime(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir(), Patience: time.Minute})
	l, other := w.started("r"), w.started("s")
	w.must(l.Append(start()))
	w.must(l.Sync(w.ctx))
	w.room(0)
	big := callOutput(1, "c", `"`+strings.Repeat("x", 100_000)+`"`)
	w.must(l.Append(big))
	for w.writer.oldestHeld() == 0 { // until it failed once
		time.Sleep(time.Millisecond)
	}
	w.must(other.Append(delta(1, "a", "small")))
	w.room(-1)
	w.must(l.Sync(w.ctx))
	w.must(other.Sync(w.ctx))
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 tool-output-available c"})
	equal(t, "other", brief(w.entries("s", 0)), []string{"1 text-delta a small"})
	w.intact()
}

// oldestHeld is how long a commit waits that failed; 0 where none did.
func (w *writer) oldestHeld() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.oldest.IsZero() {
		return 0
	}
	return time.Since(w.oldest)
}
