package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"stagefold/internal/part"
)

// An answer to COMMIT that gets lost appends nothing twice: ten rounds of ten,
// for entries, plans, steps, waits and the end.
func TestLostAnswersToCommit(t *testing.T) {
	url, p := behindProxy(t)
	w := newWorld(t, Options{URL: url, Patience: time.Minute})
	clean := w.started("clean")
	w.must(play(w.ctx, clean))
	want, wantRun := gist(w.entries("clean", 0)), w.run("clean")
	for round := range 10 {
		id := fmt.Sprint("r", round)
		l := w.started(id)
		for n, write := range script() {
			p.lose(1 + round/9) // twice in the last round
			if n == output {    // is stored beside the writer: its loss is told
				w.must(l.Sync(w.ctx))
				p.lose(0)
			}
			if err := write(w.ctx, l); err != nil {
				t.Fatalf("%s: write %d: %v", id, n, err)
			}
		}
		p.lose(0)
		w.honest(id, nil)
		equal(t, id, gist(w.entries(id, 0)), want)
		run := w.run(id)
		revisions, err := w.Revisions(w.ctx, id)
		w.must(err)
		if run.Usage != wantRun.Usage || run.NextStep != wantRun.NextStep || run.State != part.Finished || len(revisions) != 2 {
			t.Errorf("%s: %+v, %d revisions", id, run, len(revisions))
		}
	}
	if lost, _ := p.counts(); lost < 80 {
		t.Errorf("only %d answers were lost", lost)
	}
}

// An answer that never comes is waited for in a bounded time.
func TestSilentPostgres(t *testing.T) {
	url, p := behindProxy(t)
	p.silent = true
	w := newWorld(t, Options{URL: url, Patience: 3 * time.Second})
	l := w.started("r")
	p.lose(1)
	w.must(l.CommitPlan(w.ctx, plan(1, 0, 1), change(plan(1, 0, 1)), start()))
	w.honest("r", errors.New("it still runs"))
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 start"})
}

// A message whose first answer was lost is one message when it is posted again.
func TestLostAnswerToAPost(t *testing.T) {
	url, p := behindProxy(t)
	w := newWorld(t, Options{URL: url})
	w.chat("c")
	p.lose(1)
	post := Post{ChatID: "c", MessageID: "m", Text: "text", NewRunID: "r"}
	if _, err := w.PostMessage(w.ctx, post); err == nil {
		t.Error("the loss was not told")
	}
	post.NewRunID = "other"
	r, err := w.PostMessage(w.ctx, post)
	w.must(err)
	if !r.Repeated || r.RunID != "r" || r.State != "started" {
		t.Errorf("posted again: %+v", r)
	}
	left, err := w.Leftovers(w.ctx)
	w.must(err)
	equal(t, "runs", ids(left), []string{"r"})
}

// Postgres is away for a while under writing owners: no owner hears of it, the
// logs are exact.
func TestPostgresAwayForAWhile(t *testing.T) {
	url, p := behindProxy(t)
	w := newWorld(t, Options{URL: url, Patience: time.Minute, CommitEvery: time.Millisecond})
	const runs, texts = 5, 40
	done := make(chan error, runs)
	away := make(chan struct{}, runs)
	for i := range runs {
		l := w.started(fmt.Sprint("r", i))
		go func() {
			for n := range texts {
				id := fmt.Sprint("t", n)
				if n == texts/2 {
					away <- struct{}{}
				}
				if err := l.Append(textStart(1, id), delta(1, id, "a"), delta(1, id, "b"), textEnd(1, id)); err != nil {
					done <- err
					return
				}
				if n%8 == 0 {
					if err := l.CommitStep(w.ctx, n+1, plan(n, 0, 1), finishStep(n+1, 1)); err != nil {
						done <- err
						return
					}
				}
			}
			done <- l.Finish(w.ctx, nil, finish(part.Finished))
		}()
	}
	<-away
	p.close()
	for { // until the store has tried in vain
		if _, refused := p.counts(); refused >= 3 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if w.Ping(w.ctx) == nil {
		t.Error("ping works while Postgres is away")
	}
	p.reopen()
	for range runs {
		w.must(<-done)
	}
	for i := range runs {
		id := fmt.Sprint("r", i)
		w.honest(id, nil)
		log := w.entries(id, 0)
		n := 0
		for _, part := range part.Build(log) {
			if part.Text != "ab" || part.ID != fmt.Sprint("t", n) {
				t.Fatalf("%s: part %s %q", id, part.ID, part.Text)
			}
			n++
		}
		if r := w.run(id); n != texts || r.State != part.Finished || r.LastSeq != int64(len(log)) {
			t.Errorf("%s: %d texts, %s at %d", id, n, r.State, r.LastSeq)
		}
	}
}

// Postgres stays away: owners are told within the patience, and when it is back
// other owners go on.
func TestPostgresStaysAway(t *testing.T) {
	url, p := behindProxy(t)
	w := newWorld(t, Options{URL: url, Patience: 100 * time.Millisecond})
	l := w.started("r")
	w.must(l.Append(start()))
	w.must(l.Sync(w.ctx))
	p.close()
	w.must(l.Append(textStart(1, "a")))
	if err := l.Sync(w.ctx); err == nil {
		t.Error("the owner does not know")
	}
	if err := l.Append(textEnd(1, "a")); err == nil {
		t.Error("the log goes on behind a gap")
	}
	if err := l.Finish(w.ctx, nil, finish(part.FailedRun)); err == nil {
		t.Error("a finish was stored nowhere")
	}
	if w.WriterLag() <= 0 {
		t.Error("no lag")
	}
	p.reopen()
	next, run, err := w.Claim(w.ctx, "r")
	w.must(err)
	if run.Epoch != 2 || run.LastSeq != 1 {
		t.Errorf("claimed: %+v", run)
	}
	w.must(next.Finish(w.ctx, nil, finish(part.Stopped)))
	w.honest("r", nil)
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 finish"})
}

// Whoever waits for Postgres with a context that ends is free again.
func TestPostgresAwayForACaller(t *testing.T) {
	url, p := behindProxy(t)
	w := newWorld(t, Options{URL: url, Patience: time.Minute})
	l := w.started("r")
	p.close()
	w.must(l.Append(start()))
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Millisecond)
	defer cancel()
	if err := l.Sync(ctx); err == nil {
		t.Error("sync")
	}
	if err := l.CommitPlan(ctx, plan(1, 0, 1), change(plan(1, 0, 1))); err == nil {
		t.Error("plan")
	}
	p.reopen()
	w.must(l.Sync(w.ctx))
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 start"})
	if revisions, err := w.Revisions(w.ctx, "r"); err != nil || len(revisions) > 0 {
		t.Errorf("revisions: %v, %v", revisions, err)
	}
}
