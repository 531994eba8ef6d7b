package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func ids(list []Run) (out []string) {
	for _, r := range list {
		out = append(out, r.ID)
	}
	return out
}

func TestRunAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		if _, err := w.RunAgain(w.ctx, "r", "again"); !errors.Is(err, ErrBusy) {
			t.Errorf("under a live run: %v", err)
		}
		w.must(l.Finish(w.ctx, nil, finish(part.FailedRun)))
		if _, err := w.RunAgain(w.ctx, "r", "r"); !errors.Is(err, ErrBusy) {
			t.Errorf("with a taken id: %v", err)
		}
		w.must(w.UpdateChat(w.ctx, "chat-r", func(c *Chat) { c.PlanningMode = planning.Classic }))
		run, err := w.RunAgain(w.ctx, "r", "again")
		w.must(err)
		equal(t, "run", run, w.run("again"))
		if run.UserMessageID != "m-r" || run.UserText != "text of r" || run.Model != "rehearsal" || run.Mode != planning.Classic || run.State != part.Queued {
			t.Errorf("again: %+v", run)
		}
		list, err := w.ChatRuns(w.ctx, "chat-r")
		w.must(err)
		equal(t, "runs", ids(list), []string{"r", "again"})
	})
}

// Many at once start one run.
func TestRunAgainAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Finish(w.ctx, nil, finish(part.FailedRun)))
		var group sync.WaitGroup
		made := make(chan string, 8)
		for i := range 8 {
			group.Go(func() {
				run, err := w.RunAgain(w.ctx, "r", fmt.Sprint("again", i))
				if err == nil {
					made <- run.ID
				} else if !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if len(made) != 1 {
			t.Errorf("%d runs", len(made))
		}
	})
}

func TestChildren(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		for _, id := range []string{"b", "a"} {
			w.must(w.CreateChildRun(w.ctx, Run{ID: id, ChatID: "chat-r", ParentRunID: "r", UserText: "goal", Model: "m", Mode: planning.None, State: part.Finished}))
		}
		if err := w.CreateChildRun(w.ctx, Run{ID: "a", ChatID: "chat-r", ParentRunID: "r"}); !errors.Is(err, ErrConflict) {
			t.Errorf("the same id: %v", err)
		}
		w.started("s")
		if err := w.CreateChildRun(w.ctx, Run{ID: "x", ChatID: "chat-s", ParentRunID: "r"}); !errors.Is(err, ErrNotFound) {
			t.Errorf("a child in another chat: %v", err)
		}
		list, err := w.Children(w.ctx, "r")
		w.must(err)
		equal(t, "children", ids(list), []string{"b", "a"})
		if list[0].State != part.Queued || list[0].UserText != "goal" || list[0].ParentRunID != "r" {
			t.Errorf("child: %+v", list[0])
		}
		left, err := w.Leftovers(w.ctx)
		w.must(err)
		equal(t, "left", ids(left), []string{"r", "b", "a", "s"})
		w.must(l.Finish(w.ctx, nil, finish(part.Finished))) // is possible beside live children
		roots, _, err := w.Runs(w.ctx, RunFilter{})
		w.must(err)
		equal(t, "roots", ids(roots), []string{"s", "r"})
	})
}

func TestLeftoversAndCounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, s := range []part.State{part.Finished, part.FailedRun, part.Stopped} {
			w.must(w.started(string(s)).Finish(w.ctx, nil, finish(s)))
		}
		w.started("running")
		w.must(w.started("waiting").SetWaiting(w.ctx, []part.Waiting{{Kind: "question"}}))
		w.chat("c")
		w.post("c", "m", "x", "queued")
		left, err := w.Leftovers(w.ctx)
		w.must(err)
		equal(t, "left", ids(left), []string{"running", "waiting", "queued"})
		counts, err := w.Counts(w.ctx)
		w.must(err)
		equal(t, "counts", counts, map[part.State]int64{part.Finished: 1, part.FailedRun: 1, part.Stopped: 1, part.Running: 1, part.Waits: 1, part.Queued: 1})
	})
}

// Pages of runs come newest first, each run once.
func TestRunPages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var want []string
		for i := range 7 {
			id := fmt.Sprint("r", i)
			l := w.started(id)
			if i%2 == 0 {
				w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
			}
			want = append([]string{id}, want...)
		}
		for limit := 1; limit < 9; limit++ {
			var got []string
			f := RunFilter{Limit: limit}
			for {
				list, next, err := w.Runs(w.ctx, f)
				w.must(err)
				got = append(got, ids(list)...)
				if f.Cursor = next; next == "" {
					break
				}
			}
			equal(t, fmt.Sprintf("pages of %d", limit), got, want)
		}
		list, next, err := w.Runs(w.ctx, RunFilter{State: "finished", Model: "rehearsal", Limit: 3})
		w.must(err)
		equal(t, "finished", ids(list), []string{"r6", "r4", "r2"})
		list, _, err = w.Runs(w.ctx, RunFilter{State: "finished", Model: "rehearsal", Limit: 3, Cursor: next})
		w.must(err)
		equal(t, "more", ids(list), []string{"r0"})
		for _, f := range []RunFilter{{State: "no\x00"}, {Model: "' --"}, {Cursor: "0"}} {
			if list, _, err := w.Runs(w.ctx, f); err != nil || len(list) > 0 {
				t.Errorf("%+v: %v, %v", f, ids(list), err)
			}
		}
		for _, cursor := range []string{"x", "99999999999999999999", "'", "\x00"} { // as if there were none
			if list, _, err := w.Runs(w.ctx, RunFilter{Cursor: cursor, Limit: -1}); err != nil || len(list) != 7 {
				t.Errorf("cursor %q: %v, %v", cursor, ids(list), err)
			}
		}
		models, err := w.Models(w.ctx)
		w.must(err)
		equal(t, "models", models, []string{"rehearsal"})
	})
}
