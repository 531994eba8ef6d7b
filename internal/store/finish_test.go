package store

import (
	"errors"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// The durable cancel flag reaches the owner at its next commit, wherever it was
// set; entries are stored all the same, an operation is not.
func TestStopReachesTheOwner(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Append(start()))
		w.must(l.Sync(w.ctx))
		state, err := w.RequestStop(w.ctx, "r")
		w.must(err)
		equal(t, "state", state, part.Running)
		w.must(l.Append(delta(1, "a", "x")))
		for range 2 {
			if err := l.Sync(w.ctx); !errors.Is(err, ErrStopRequested) {
				t.Errorf("sync: %v", err)
			}
		}
		if err := l.Append(delta(1, "a", "y")); !errors.Is(err, ErrStopRequested) {
			t.Errorf("append: %v", err)
		}
		if err := l.CommitPlan(w.ctx, plan(1, 0, 1), change(plan(1, 0, 1)), start()); !errors.Is(err, ErrStopRequested) {
			t.Errorf("plan: %v", err)
		}
		w.must(l.Finish(w.ctx, nil, finish(part.Stopped)))
		equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 text-delta a x", "3 text-delta a y", "4 finish"})
		if revisions, _ := w.Revisions(w.ctx, "r"); len(revisions) > 0 {
			t.Error("the plan was stored")
		}
		state, err = w.RequestStop(w.ctx, "r")
		w.must(err)
		equal(t, "state after the end", state, part.Stopped)
		if _, err := w.RequestStop(w.ctx, "gone"); !errors.Is(err, ErrNotFound) {
			t.Errorf("stop of no run: %v", err)
		}
	})
}

// A stop that was stored before the end wins over it.
func TestStopBeforeTheEndWins(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, wait := range map[string]bool{"pending": false, "synced": true} {
			l := w.started(name)
			w.must(l.Append(textStart(1, "a"), delta(1, "a", "x")))
			if wait {
				w.must(l.Sync(w.ctx))
			}
			_, err := w.RequestStop(w.ctx, name)
			w.must(err)
			p := plan(1, 0, 1)
			if err := l.Finish(w.ctx, &p, finish(part.Finished)); !errors.Is(err, ErrStopRequested) {
				t.Fatalf("%s: finish: %v", name, err)
			}
			if r := w.run(name); r.State != part.Running || r.LastSeq != 2 {
				t.Errorf("%s: the run is %s at %d", name, r.State, r.LastSeq)
			}
			w.must(l.Finish(w.ctx, &p, textEnd(1, "a"), finish(part.Stopped)))
			if r := w.run(name); r.State != part.Stopped {
				t.Errorf("%s: the run is %s", name, r.State)
			}
			equal(t, name, brief(w.entries(name, 0)), []string{"1 text-start a", "2 text-delta a x", "3 text-end a", "4 finish"})
		}
	})
}

// An owner that claims a run with the flag set hears of it at once.
func TestClaimOfAStoppedRun(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.chat("c")
		w.post("c", "m", "text", "r")
		state, err := w.RequestStop(w.ctx, "r")
		w.must(err)
		equal(t, "state", state, part.Queued)
		l, run, err := w.Claim(w.ctx, "r")
		w.must(err)
		if err := l.Append(start()); !errors.Is(err, ErrStopRequested) || !run.CancelRequested {
			t.Errorf("append: %v", err)
		}
		w.must(l.Finish(w.ctx, nil, finish(part.Stopped)))
		equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 finish"})
	})
}

// Finish is one transaction and final: a second changes nothing, entries are
// refused, late ones are logged and change nothing.
func TestFinishIsFinal(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.CommitPlan(w.ctx, plan(1, 0, 2), nil, start()))
		w.must(l.Append(delta(1, "a", "x")))
		end := finish(part.FailedRun)
		end.FinishReason, end.Note, end.Time = part.ReasonError, "a note", begin
		end.Error, end.Debt = &part.RunError{Code: "c", Message: "m", Hint: "h"}, []part.Debt{{ID: "s0", Content: "Stage 0"}}
		p := plan(1, 0, 2)
		w.must(l.Finish(w.ctx, &p, textEnd(1, "a"), end))
		before := w.run("r")
		chat, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		if before.State != part.FailedRun || before.FinishReason != part.ReasonError || before.Note != "a note" || !before.FinishedAt.Equal(begin) ||
			before.Usage != *end.Usage || before.Error == nil || *before.Error != *end.Error || len(before.Debt) != 1 || before.Stages != 2 || before.LastSeq != 4 {
			t.Errorf("the run: %+v", before)
		}
		equal(t, "plan", chat.Plan, p)
		if chat.LastRunID != "r" || chat.LastRunState != part.FailedRun || chat.LastRunDebt != 1 {
			t.Errorf("the chat: %+v", chat)
		}

		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		for what, err := range map[string]error{"append": l.Append(start()), "plan": l.CommitPlan(w.ctx, plan(7, 0, 7), nil), "step": l.CommitStep(w.ctx, 4, p), "wait": l.SetWaiting(w.ctx, nil)} {
			if !errors.Is(err, ErrFinished) {
				t.Errorf("%s after the end: %v", what, err)
			}
		}
		late := callOutput(1, "c", `"late"`)
		late.Late = true
		w.must(l.Append(late))
		w.must(l.Sync(w.ctx))
		after := w.run("r")
		after.LastSeq = before.LastSeq
		equal(t, "run after all that", after, before)
		equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 text-delta a x", "3 text-end a", "4 finish", "5 tool-output-available c"})
		again, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		equal(t, "chat after all that", again, chat)
	})
}

// A good end retires the chat's plan.
func TestFinishRetiresThePlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.CommitPlan(w.ctx, plan(1, 2, 2), nil))
		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		c, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		equal(t, "plan", c.Plan, planning.State{})
		if r := w.run("r"); r.StagesDone != 2 || r.Stages != 2 {
			t.Errorf("%d of %d stages", r.StagesDone, r.Stages)
		}
	})
}

// Finish wants a finish entry with a terminal state at the end.
func TestFinishWantsAnEnd(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir()})
	l := w.started("r")
	for _, entries := range [][]*part.Entry{nil, {start()}, {finish(part.Finished), start()}, {finish(part.Running)}} {
		if err := l.Finish(w.ctx, nil, entries...); err == nil {
			t.Errorf("finish with %v", brief(entries))
		}
	}
	if r := w.run("r"); r.State != part.Running {
		t.Errorf("the run is %s", r.State)
	}
}
