package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"stagefold/internal/part"
)

// HO-15: many writers that read before they write, through the real store, on
// one row: none is refused, no update is lost.
func TestReadersThatWriteAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.chat("c")
		const writers, rounds = 16, 40
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				for n := range rounds {
					if err := w.UpdateChat(w.ctx, "c", func(c *Chat) { c.Allowed = append(c.Allowed, fmt.Sprint(i, "-", n)) }); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		c, err := w.Chat(w.ctx, "c")
		w.must(err)
		seen := map[string]bool{}
		for _, a := range c.Allowed {
			seen[a] = true
		}
		if len(c.Allowed) != writers*rounds || len(seen) != writers*rounds {
			t.Errorf("%d of %d updates are there", len(seen), writers*rounds)
		}
	})
}

// Twenty runs append while lists, logs and searches are read, chats are posted
// to and settings stored: no error, every log whole and in order.
func TestRunsAppendWhileOthersRead(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		o := w.o
		o.CommitEvery = 5 * time.Millisecond
		w.must(w.Close())
		w.o = o
		w.open()
		const runs, parts = 20, 60
		logs := make([]*RunLog, runs)
		for i := range logs {
			logs[i] = w.started(fmt.Sprint("r", i))
		}
		stop := make(chan struct{})
		var readers, owners sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					_, _, err := w.Runs(w.ctx, RunFilter{Query: []string{"", "text", "word"}[n%3], Limit: 20})
					if err == nil {
						_, _, err = w.Chats(w.ctx, "", 20)
					}
					if err == nil {
						_, err = w.Entries(w.ctx, fmt.Sprint("r", n%runs), 0, 0)
					}
					if err == nil {
						err = w.SetSetting(w.ctx, fmt.Sprint("key", i), fmt.Sprint(n))
					}
					if err == nil {
						_, err = w.PostMessage(w.ctx, Post{ChatID: fmt.Sprint("chat-r", n%runs), MessageID: fmt.Sprint("m", i, "-", n), Text: "more", NewRunID: w.id()})
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for i, l := range logs {
			owners.Go(func() {
				if err := busy(w.ctx, l, parts); err != nil {
					t.Errorf("run %d: %v", i, err)
				}
			})
		}
		owners.Wait()
		close(stop)
		readers.Wait()
		for i := range runs {
			id := fmt.Sprint("r", i)
			inOrder(t, w.committedOf(id))
			n := 0
			for _, p := range part.Build(w.entries(id, 0)) {
				if want := strings.Repeat("word ", 3); p.Kind != part.KindText || p.Text != want || p.ID != fmt.Sprint("t", n) {
					t.Fatalf("%s: part %s %q", id, p.ID, p.Text)
				}
				n++
			}
			if r := w.run(id); n != parts || r.State != part.Finished || r.StagesDone != parts {
				t.Errorf("%s: %d parts, %s, %d stages done", id, n, r.State, r.StagesDone)
			}
		}
	})
}

// busy is an owner that writes texts, plans and steps, and ends.
func busy(ctx context.Context, l *RunLog, parts int) error {
	for n := range parts {
		id := fmt.Sprint("t", n)
		if err := l.Append(textStart(n+1, id), delta(n+1, id, "word "), delta(n+1, id, "word ")); err != nil {
			return err
		}
		if err := l.Append(delta(n+1, id, "word "), textEnd(n+1, id)); err != nil {
			return err
		}
		if n%10 == 0 {
			p := plan(n, n, parts)
			if err := l.CommitPlan(ctx, p, change(p)); err != nil {
				return err
			}
		}
	}
	p := plan(parts, parts, parts)
	if err := l.CommitStep(ctx, parts, p, finishStep(parts, 1)); err != nil {
		return err
	}
	return l.Finish(ctx, &p, finish(part.Finished))
}

// Claims of one run at once: each is an owner of its own epoch, the last one
// writes, the log is one.
func TestClaimsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.started("r")
		const claims = 8
		epochs := make(chan int64, claims)
		var group sync.WaitGroup
		for range claims {
			group.Go(func() {
				l, run, err := w.Claim(w.ctx, "r")
				if err != nil {
					t.Error(err)
					return
				}
				epochs <- run.Epoch
				for range 5 {
					if err := l.Append(textStart(1, fmt.Sprint("e", run.Epoch)), textEnd(1, "x")); err != nil {
						return
					}
					if err := l.Sync(w.ctx); err != nil {
						return
					}
				}
			})
		}
		group.Wait()
		close(epochs)
		seen := map[int64]bool{}
		for e := range epochs {
			seen[e] = true
		}
		if len(seen) != claims {
			t.Errorf("%d epochs of %d claims", len(seen), claims)
		}
		log := w.entries("r", 0)
		inOrder(t, log)
		equal(t, "told", w.committedOf("r"), log)
		newest := ""
		for i := 0; i < len(log); i += 2 { // an epoch that was fenced never comes back
			if log[i].ID < newest {
				t.Errorf("%s behind %s", log[i].ID, newest)
			}
			newest = log[i].ID
		}
	})
}

// Settling, claiming and finishing one run at once ends it once.
func TestEndsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for round := range 10 {
			id := fmt.Sprint("r", round)
			l := w.started(id)
			var group sync.WaitGroup
			group.Go(func() { _ = l.Finish(w.ctx, nil, finish(part.Finished)) })
			group.Go(func() {
				if err := w.SettleInterrupted(w.ctx, id, "why"); err != nil {
					t.Error(err)
				}
			})
			group.Go(func() {
				if other, _, err := w.Claim(w.ctx, id); err == nil && rand.IntN(2) == 0 {
					_ = other.Finish(w.ctx, nil, finish(part.Stopped))
				}
			})
			group.Wait()
			if err := w.SettleInterrupted(w.ctx, id, "why"); err != nil {
				t.Error(err)
			}
			ends := 0
			for _, e := range w.entries(id, 0) {
				if e.Type == part.Finish {
					ends++
					if run := w.run(id); e.State != run.State {
						t.Errorf("the log ends as %s, the run is %s", e.State, run.State)
					}
				}
			}
			if ends != 1 {
				t.Errorf("%d ends", ends)
			}
			inOrder(t, w.committedOf(id))
			equal(t, "told", w.committedOf(id), w.entries(id, 0))
		}
	})
}
