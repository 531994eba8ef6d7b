package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Adjacent deltas of one part become one entry; the log numbers without gaps.
func TestDeltasAreJoined(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Append(delta(1, "a", "x"), delta(1, "a", "y"), delta(1, "b", "1"), delta(1, "a", "z"), callDelta(1, "c", "{"), callDelta(1, "c", "}"), callDelta(1, "d", "[")))
		w.must(l.Append(delta(1, "a", "v"), delta(2, "a", "w")))
		signed := delta(2, "a", "!")
		signed.ProviderMetadata = json.RawMessage(`{"signature":"s"}`)
		w.must(l.Append(signed, delta(2, "a", "?")))
		w.must(l.Sync(w.ctx))
		want := []string{"1 text-delta a xy", "2 text-delta b 1", "3 text-delta a z", "4 tool-input-delta c {}", "5 tool-input-delta d [",
			"6 text-delta a v", "7 text-delta a w", "8 text-delta a !", "9 text-delta a ?"}
		equal(t, "log", brief(w.entries("r", 0)), want)
		equal(t, "told", brief(w.committedOf("r")), want)
	})
}

// A joined delta stays bounded, so that long pending texts cost what they are.
func TestJoinedDeltaIsBounded(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir()})
	l := w.started("r")
	piece := strings.Repeat("x", 10_000)
	for range 10 {
		w.must(l.Append(delta(1, "a", piece)))
	}
	w.must(l.Sync(w.ctx))
	whole := ""
	for _, e := range w.entries("r", 0) {
		if len(e.Delta) > maxJoined {
			t.Errorf("a delta of %d bytes", len(e.Delta))
		}
		whole += e.Delta
	}
	if whole != strings.Repeat(piece, 10) {
		t.Error("the text is another")
	}
}

// What is read back equals what was told: times in milliseconds, raw JSON byte
// for byte, text that no database takes replaced.
func TestEntriesComeBackAsTheyWereTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		yes := true
		w.must(l.Append(
			&part.Entry{Type: part.Start, Time: time.Date(2026, 1, 2, 3, 4, 5, 6_789_000, time.FixedZone("", 3600)), Data: json.RawMessage(`{"userText":"<b>\u0000 & \ud800"}`)},
			&part.Entry{Type: part.ToolInputAvailable, Step: 1, ToolCallID: "c\x00", ToolName: "write_file", Input: json.RawMessage("{ \"a\" : \"<i>\",\n \"a\":1e400, \"n\":\"\\ud83d\\u0000\" }")},
			&part.Entry{Type: part.ToolInputError, Step: 1, ToolCallID: "d", RawInput: "{\x00\xff", ErrorText: "no <JSON>"},
			&part.Entry{Type: part.ToolOutput, Step: 1, ToolCallID: "c\x00", Output: json.RawMessage("not JSON \xff"), Files: []part.FileChange{{Path: "a", Op: "created"}}},
			&part.Entry{Type: part.TextDelta, Step: 1, ID: "t", Delta: "\u2028 \x00 \xed\xa0\x80 \ufffd"},
			&part.Entry{Type: part.Wait, Waiting: []part.Waiting{{Kind: "approval", Input: json.RawMessage("{broken")}}},
			&part.Entry{Type: part.ToolApprovalAnswer, ApprovalID: "p", Approved: &yes, Reason: "ok"},
			&part.Entry{Type: part.ReasoningEnd, ID: "t", ProviderMetadata: json.RawMessage(`{"x": [1, 2]}`)},
			&part.Entry{Type: part.FinishStep, Step: 1, Usage: &part.Usage{Input: 1}},
		))
		w.must(l.Sync(w.ctx))
		read := w.entries("r", 0)
		equal(t, "read", read, w.committedOf("r"))
		equal(t, "time", read[0].Time, time.Date(2026, 1, 2, 2, 4, 5, 6_000_000, time.UTC))
		equal(t, "data", string(read[0].Data), `{"userText":"<b>\u0000 & \ud800"}`)
		equal(t, "input", string(read[1].Input), "{ \"a\" : \"<i>\",\n \"a\":1e400, \"n\":\"\\ud83d\\u0000\" }")
		equal(t, "raw input", read[2].RawInput, "{\x00\ufffd")
		equal(t, "output", string(read[3].Output), `"not JSON \ufffd"`)
		equal(t, "delta", read[4].Delta, "\u2028 \x00 \ufffd\ufffd\ufffd \ufffd")
		if read[4].Time.IsZero() {
			t.Error("an entry without a time")
		}
	})
}

// Nothing is told before it can be read (rule 3).
func TestPersistedBeforeTold(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir()})
	inside := w.o
	inside.Committed = func(c Committed) {
		stored, err := w.Entries(w.ctx, c.RunID, c.Entries[0].Seq-1, 0)
		if err != nil || len(stored) != len(c.Entries) {
			t.Errorf("told of %d entries, %d are stored: %v", len(c.Entries), len(stored), err)
		}
	}
	w.must(w.Close())
	w.o = inside
	w.open()
	l := w.started("r")
	for range 20 {
		w.must(l.Append(delta(1, "a", "x"), textEnd(1, "a")))
	}
	w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
}

// A delta waits for the shared commit, a structural entry starts one.
func TestCommitEvery(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir(), CommitEvery: time.Millisecond})
	l := w.started("r")
	w.must(l.Append(delta(1, "a", "x")))
	equal(t, "told", brief((<-w.told).Entries), []string{"1 text-delta a x"})

	w = newWorld(t, Options{Dir: t.TempDir()}) // every hour
	l = w.started("r")
	w.must(l.Append(delta(1, "a", "x")))
	w.must(l.Append(textEnd(1, "a")))
	equal(t, "told", brief((<-w.told).Entries), []string{"1 text-delta a x", "2 text-end a"})
}

// A second claim fences the first owner: nothing of it is stored any more, in
// whatever way it writes, and it is told so.
func TestSecondClaimFences(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		writes := map[string]func(l *RunLog) error{
			"append": func(l *RunLog) error {
				_ = l.Append(textEnd(1, "late"))
				return l.Sync(w.ctx)
			},
			"plan":   func(l *RunLog) error { return l.CommitPlan(w.ctx, plan(9, 0, 9), change(plan(9, 0, 9))) },
			"step":   func(l *RunLog) error { return l.CommitStep(w.ctx, 9, plan(9, 0, 9)) },
			"wait":   func(l *RunLog) error { return l.SetWaiting(w.ctx, []part.Waiting{{Kind: "question"}}) },
			"output": func(l *RunLog) error { return l.SaveOutput(w.ctx, "c", "text/plain", []byte("late")) },
			"finish": func(l *RunLog) error { return l.Finish(w.ctx, nil, finish(part.Finished)) },
		}
		for name, write := range writes {
			old := w.started(name)
			w.must(old.Append(start()))
			w.must(old.CommitPlan(w.ctx, plan(1, 1, 3), nil))
			w.must(old.Sync(w.ctx))
			owner, run, err := w.Claim(w.ctx, name)
			w.must(err)
			if run.Epoch != 2 || run.Attempts != 2 || run.LastSeq != 1 || run.State != part.Running {
				t.Errorf("%s: claimed %+v", name, run)
			}
			equal(t, name+": plan of the takeover", run.Plan, plan(1, 1, 3))
			if err := write(old); !errors.Is(err, ErrFenced) {
				t.Errorf("%s of a fenced owner: %v", name, err)
			}
			if name != "output" {
				if err := old.Append(start()); !errors.Is(err, ErrFenced) {
					t.Errorf("%s, then append: %v", name, err)
				}
			}
			w.must(owner.Append(&part.Entry{Type: part.Resume}))
			w.must(owner.Sync(w.ctx))
			equal(t, name+": log", brief(w.entries(name, 0)), []string{"1 start", "2 resume"})
			after := w.run(name)
			if after.State != part.Running || after.NextStep != 1 || after.Stages != 3 {
				t.Errorf("%s: the run is %+v", name, after)
			}
			if _, _, err := w.ToolOutput(w.ctx, name, "c"); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: output %v", name, err)
			}
		}
	})
}

// A run that ended or is gone has no owner any more.
func TestClaimOfAnEndedRun(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Finish(w.ctx, nil, finish(part.Stopped)))
		for _, id := range []string{"r", "gone", "a\x00b"} {
			if _, _, err := w.Claim(w.ctx, id); !errors.Is(err, ErrFinished) {
				t.Errorf("claim %q: %v", id, err)
			}
		}
	})
}

// Claim starts the clock once, keeps a wait, and takes waiting and queued runs.
func TestClaimOfAWaitingRun(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		first := w.run("r").StartedAt
		w.must(l.SetWaiting(w.ctx, []part.Waiting{{Kind: "question", RunID: "r", Question: "why?", Options: []string{"a"}}}, &part.Entry{Type: part.Wait}))
		if r := w.run("r"); r.State != part.Waits || len(r.Waiting) != 1 || r.Waiting[0].Question != "why?" {
			t.Errorf("a waiting run: %+v", r)
		}
		_, run, err := w.Claim(w.ctx, "r")
		w.must(err)
		if run.State != part.Waits || len(run.Waiting) != 1 || !run.StartedAt.Equal(first) {
			t.Errorf("taken over: %+v", run)
		}
	})
}

// The state that commits tell follows the wait.
func TestWaitingIsTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.SetWaiting(w.ctx, []part.Waiting{{Kind: "approval", Input: json.RawMessage("{broken")}}, &part.Entry{Type: part.Wait}))
		w.must(l.Append(delta(1, "a", "x")))
		w.must(l.Sync(w.ctx))
		w.must(l.SetWaiting(w.ctx, nil, &part.Entry{Type: part.Resume}))
		var states []part.State
		for _, c := range w.commits {
			states = append(states, c.State)
		}
		equal(t, "states", states, []part.State{part.Waits, part.Waits, part.Running})
		if r := w.run("r"); r.State != part.Running || r.Waiting != nil {
			t.Errorf("the run goes on as %s, %v", r.State, r.Waiting)
		}
	})
}

// A step sets the attempts back, remembers where to go on, and adds its tokens
// while the run lives.
func TestCommitStep(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Append(startStep(1)))
		w.must(l.CommitStep(w.ctx, 1, plan(2, 1, 4), finishStep(1, 5)))
		r := w.run("r")
		if r.NextStep != 2 || r.Attempts != 0 || r.Usage != (part.Usage{Input: 10, Output: 5}) || r.StagesDone != 1 || r.Stages != 4 {
			t.Errorf("after a step: %+v", r)
		}
		l, _, err := w.Claim(w.ctx, "r") // the next owner counts on
		w.must(err)
		w.must(l.CommitStep(w.ctx, 2, plan(2, 2, 4), finishStep(2, 6)))
		r = w.run("r")
		if r.NextStep != 3 || r.Usage != (part.Usage{Input: 20, Output: 11}) || r.StagesDone != 2 {
			t.Errorf("after another: %+v", r)
		}
		c, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		equal(t, "plan of the chat", c.Plan, plan(2, 2, 4))
	})
}

// A plan, its revision and its entries are one.
func TestCommitPlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.CommitPlan(w.ctx, plan(1, 0, 2), change(plan(1, 0, 2)), callOutput(1, "c", `{}`)))
		w.must(l.CommitPlan(w.ctx, plan(2, 1, 2), change(plan(2, 1, 2))))
		w.must(l.CommitPlan(w.ctx, plan(2, 2, 2), nil))
		c, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		equal(t, "plan of the chat", c.Plan, plan(2, 2, 2))
		equal(t, "plan of the run", w.run("r").Plan, plan(2, 2, 2))
		revisions, err := w.Revisions(w.ctx, "r")
		w.must(err)
		for i := range revisions {
			revisions[i].Time = time.Time{}
		}
		equal(t, "revisions", revisions, []Revision{
			{Revision: 1, Tool: "plan", Explanation: "because", Note: "note", Plan: plan(1, 0, 2).Plan},
			{Revision: 2, Tool: "plan", Explanation: "because", Note: "note", Plan: plan(2, 1, 2).Plan},
		})
		equal(t, "log", brief(w.entries("r", 0)), []string{"1 tool-output-available c"})
	})
}

// A child's plan is its own; the chat's stays.
func TestPlanOfAChild(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.CommitPlan(w.ctx, plan(1, 0, 2), nil))
		w.must(w.CreateChildRun(w.ctx, Run{ID: "child", ChatID: "chat-r", ParentRunID: "r", Mode: planning.Metronome}))
		child, _, err := w.Claim(w.ctx, "child")
		w.must(err)
		w.must(child.CommitPlan(w.ctx, plan(5, 5, 6), nil))
		w.must(child.Finish(w.ctx, nil, finish(part.Finished)))
		c, err := w.Chat(w.ctx, "chat-r")
		w.must(err)
		equal(t, "plan of the chat", c.Plan, plan(1, 0, 2))
		equal(t, "plan of the child", w.run("child").Plan, plan(5, 5, 6))
	})
}

// A context that ended stores nothing and leaves the log usable.
func TestEndedContext(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir()})
	l := w.started("r")
	hold := w.hold()
	ctx, cancel := context.WithCancelCause(w.ctx)
	why := errors.New("why")
	w.must(l.Append(start())) // is under way, or will be, and finds the database busy
	cancel(why)
	if err := l.Sync(ctx); !errors.Is(err, why) {
		t.Errorf("sync: %v", err)
	}
	if err := l.CommitPlan(ctx, plan(1, 0, 1), change(plan(1, 0, 1)), start()); err == nil {
		t.Error("a plan was stored in an ended context")
	}
	hold()
	w.must(l.CommitPlan(w.ctx, plan(2, 0, 1), change(plan(2, 0, 1)), textEnd(1, "a")))
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 text-end a"})
	revisions, err := w.Revisions(w.ctx, "r")
	w.must(err)
	if len(revisions) != 1 || revisions[0].Revision != 2 {
		t.Errorf("revisions: %v", revisions)
	}
}

// hold keeps the writer's connection for itself until it is released.
func (w *world) hold() (release func()) {
	w.t.Helper()
	c, err := w.write.DB()
	w.must(err)
	conn, err := c.Conn(w.ctx)
	w.must(err)
	return func() { w.must(conn.Close()) }
}
