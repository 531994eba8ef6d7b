package store

import (
	"errors"
	"fmt"
	"testing"

	"stagefold/internal/part"
)

// HO-16: wherever a process dies, the next one settles the run honestly in one
// transaction: everything that was stored stays, what is open is closed with a
// reason, the state is interrupted, the chat takes the next message.
func TestInterruptedAtEveryPoint(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		steps := script()
		for n := -1; n < len(steps)-1; n++ {
			id := fmt.Sprint("r", n)
			w.chat("chat-" + id)
			w.post("chat-"+id, "m", "text", id)
			w.post("chat-"+id, "next", "next text", "x")
			if n >= 0 { // else it dies before its claim
				l, _, err := w.Claim(w.ctx, id)
				w.must(err)
				for _, do := range steps[:n+1] {
					w.must(do(w.ctx, l))
				}
				if err := l.Sync(w.ctx); err != nil {
					t.Fatal(err)
				}
			}
			before := w.entries(id, 0)
			run := w.run(id)
			w.reopen() // the owner is gone
			w.must(w.SettleInterrupted(w.ctx, id, "The server was restarted."))
			after := w.run(id)
			if after.State != part.Interrupted || after.FinishReason != part.ReasonAbort || after.Note != "The server was restarted." || after.FinishedAt.IsZero() ||
				after.Usage != run.Usage || after.Epoch != run.Epoch+1 || len(after.Waiting) > 0 {
				t.Errorf("%s: %+v", id, after)
			}
			chat, err := w.Chat(w.ctx, "chat-"+id)
			w.must(err)
			equal(t, id+": the chat's plan", chat.Plan, run.Plan)
			equal(t, id+": debt", len(after.Debt), len(run.Plan.Owes()))
			log := w.entries(id, 0)
			last := log[len(log)-1]
			if last.Type != part.Finish || last.State != part.Interrupted || last.Seq != after.LastSeq || log[0].Type != part.Start {
				t.Errorf("%s: log %v", id, brief(log))
			}
			had := part.Build(before)
			for i, p := range part.Build(log) {
				if !p.Terminal() {
					t.Errorf("%s: part %s is %s", id, p.ID, p.State)
				}
				if i < len(had) && (p.Text != had[i].Text || had[i].Terminal() && p.State != had[i].State) {
					t.Errorf("%s: part %s is another: %q", id, p.ID, p.Text)
				}
			}
			told := w.commits[len(w.commits)-1]
			if told.RunID != id || told.State != part.Interrupted || told.Entries[len(told.Entries)-1].Seq != after.LastSeq {
				t.Errorf("%s: told %+v", id, told)
			}
			equal(t, id+": queue", w.states("chat-"+id), []string{"m sent " + id, "next held "})
			if r := w.post("chat-"+id, "again", "more", "n"+id); r.State != "started" {
				t.Errorf("%s: the next message: %+v", id, r)
			}
			w.must(w.SettleInterrupted(w.ctx, id, "twice")) // changes nothing
			equal(t, id+": twice", w.run(id), after)
		}
		left, err := w.Leftovers(w.ctx)
		w.must(err)
		if len(left) != len(steps) {
			t.Errorf("%d runs are open, %d were sent", len(left), len(steps))
		}
	})
}

// An owner that lives is fenced by the settling, also with something pending.
func TestInterruptFencesTheOwner(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Append(delta(1, "a", "x")))
		w.must(w.SettleInterrupted(w.ctx, "r", "why"))
		if err := l.Sync(w.ctx); !errors.Is(err, ErrFenced) {
			t.Errorf("sync: %v", err)
		}
		equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 finish"})
	})
}

// A complete plan is retired.
func TestInterruptRetiresACompletePlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.CommitPlan(w.ctx, plan(1, 2, 2), nil, start()))
		w.must(w.SettleInterrupted(w.ctx, "r", "why"))
		c, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		if c.Plan.HasPlan {
			t.Errorf("plan: %+v", c.Plan)
		}
	})
}

// The chat's open plan outlives a run that had not begun.
func TestInterruptKeepsTheChatsPlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		p := plan(1, 0, 2)
		w.must(l.CommitPlan(w.ctx, p, nil, start()))
		w.must(l.Finish(w.ctx, &p, finish(part.Stopped)))
		w.post("chat-r", "m2", "go on", "r2")
		w.must(w.SettleInterrupted(w.ctx, "r2", "why"))
		c, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		equal(t, "plan", c.Plan, p)
	})
}

// Many runs are settled as each alone would be; a damaged entry does not keep a
// run open, and what has ended or is gone is left.
func TestSettleAllInterrupted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var ids []string
		for i := range settledAtOnce + 3 {
			id := fmt.Sprintf("r%03d", i)
			w.must(w.started(id).Append(textStart(1, "t"), delta(1, "t", id)))
			ids = append(ids, id)
		}
		l := w.started("ended")
		w.must(l.Finish(w.ctx, nil, start(), finish(part.Finished)))
		w.reopen()
		w.must(w.write.Exec("UPDATE entries SET body = '{broken' WHERE run_id = 'r007' AND seq = 2").Error)
		w.must(w.SettleAllInterrupted(w.ctx, append(ids, "ended", "gone"), "why"))
		for _, id := range ids {
			r := w.run(id)
			if r.State != part.Interrupted || r.LastSeq != 4 || r.Note != "why" {
				t.Errorf("%s: %s, %d entries", id, r.State, r.LastSeq)
			}
			equal(t, id, brief(w.committedOf(id)), []string{"1 text-start t", "2 text-delta t " + id, "3 text-end t", "4 finish"})
		}
		if r := w.run("ended"); r.State != part.Finished {
			t.Errorf("an ended run is %s", r.State)
		}
	})
}
