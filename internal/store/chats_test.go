package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func TestChats(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		made, err := w.CreateChat(w.ctx, Chat{Title: "A \x00 title", PlanningMode: planning.Steps, Model: "m", ApproveAll: true, Allowed: []string{"a", "b"}})
		w.must(err)
		read, err := w.Chat(w.ctx, made.ID)
		w.must(err)
		made.Title = "A \ufffd title"
		equal(t, "chat", read, made)
		if _, err := w.CreateChat(w.ctx, Chat{ID: made.ID}); !errors.Is(err, ErrConflict) {
			t.Errorf("the same id: %v", err)
		}
		w.must(w.UpdateChat(w.ctx, made.ID, func(c *Chat) {
			c.Title, c.PlanningMode, c.Model, c.ApproveAll, c.Allowed = "Other", planning.Classic, "", false, nil
			c.ID, c.Plan, c.UpdatedAt = "no", plan(1, 0, 1), begin // not settings
		}))
		made.Title, made.PlanningMode, made.Model, made.ApproveAll, made.Allowed = "Other", planning.Classic, "", false, nil
		read, err = w.Chat(w.ctx, made.ID)
		w.must(err)
		equal(t, "changed", read, made)
	})
}

// What is not there is ErrNotFound, whatever the id.
func TestNothingThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.chat("c")
		for _, id := range []string{"", "no", "a\x00b", "\xff", "' OR 1=1 --", "%"} {
			_, chatErr := w.Chat(w.ctx, id)
			_, runErr := w.Run(w.ctx, id)
			_, stopErr := w.RequestStop(w.ctx, id)
			_, againErr := w.RunAgain(w.ctx, id, "x")
			_, postErr := w.PostMessage(w.ctx, Post{ChatID: id, MessageID: "m", NewRunID: "r"})
			_, sendErr := w.SendQueued(w.ctx, "c", id, "x", "m")
			_, _, outputErr := w.ToolOutput(w.ctx, id, id)
			for what, err := range map[string]error{"chat": chatErr, "run": runErr, "stop": stopErr, "again": againErr, "post": postErr, "send": sendErr, "output": outputErr,
				"update": w.UpdateChat(w.ctx, id, func(*Chat) {}), "delete": w.DeleteChat(w.ctx, id), "edit": w.EditQueued(w.ctx, "c", id, "x"),
				"drop": w.DeleteQueued(w.ctx, id, "m"), "child": w.CreateChildRun(w.ctx, Run{ID: "k", ChatID: "c", ParentRunID: id})} {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("%s %q: %v", what, id, err)
				}
			}
			runs, err := w.ChatRuns(w.ctx, id)
			children, err2 := w.Children(w.ctx, id)
			entries, err3 := w.Entries(w.ctx, id, 0, 0)
			messages, err4 := w.Messages(w.ctx, id)
			answers, err5 := w.PendingAnswers(w.ctx, id)
			revisions, err6 := w.Revisions(w.ctx, id)
			_, next, err7 := w.NextQueued(w.ctx, id, "x")
			_, setting, err8 := w.Setting(w.ctx, id)
			if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8, w.HoldQueued(w.ctx, id), w.SettleInterrupted(w.ctx, id, "")); err != nil {
				t.Errorf("%q: %v", id, err)
			}
			if len(runs)+len(children)+len(entries)+len(messages)+len(answers)+len(revisions) > 0 || next || setting {
				t.Errorf("%q has something", id)
			}
		}
	})
}

// Pages of chats come newest first, each chat once, also where many changed in
// the same moment and where the cursor or the limit is nonsense.
func TestChatPages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var want []string
		for i := range 7 {
			id := fmt.Sprintf("c.%d", i)
			w.chat(id)
			want = append(want, id)
		}
		w.must(w.write.Exec("UPDATE chats SET updated_at = 5 WHERE id IN ('c.2', 'c.3', 'c.4')").Error)
		w.post("c.0", "m", "text", "r") // the newest activity
		want = []string{"c.0", "c.6", "c.5", "c.1", "c.4", "c.3", "c.2"}
		for limit := 1; limit < 9; limit++ {
			var got []string
			cursor := ""
			for {
				list, next, err := w.Chats(w.ctx, cursor, limit)
				w.must(err)
				if len(list) > limit || next != "" && len(list) < limit {
					t.Fatalf("a page of %d, limit %d", len(list), limit)
				}
				for _, c := range list {
					got = append(got, c.ID)
				}
				if cursor = next; next == "" {
					break
				}
			}
			equal(t, fmt.Sprintf("pages of %d", limit), got, want)
		}
		for _, cursor := range []string{"x", ".", "5.", "-1.x", "9999999999999999999999.c", "1'.c", "5.\x00"} {
			if _, _, err := w.Chats(w.ctx, cursor, -1); err != nil {
				t.Errorf("cursor %q: %v", cursor, err)
			}
		}
	})
}

// The list shows each chat's newest root run.
func TestChatsShowTheirLastRun(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("one")
		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		_, err := w.RunAgain(w.ctx, "one", "two")
		w.must(err)
		w.must(w.CreateChildRun(w.ctx, Run{ID: "child", ChatID: "chat-one", ParentRunID: "two"}))
		list, _, err := w.Chats(w.ctx, "", 10)
		w.must(err)
		if len(list) != 1 || list[0].LastRunID != "two" || list[0].LastRunState != part.Queued {
			t.Errorf("chats: %+v", list)
		}
	})
}

// Deleting takes everything along, but not under a live run.
func TestDeleteChat(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(w.CreateChildRun(w.ctx, Run{ID: "child", ChatID: "chat-r", ParentRunID: "r"}))
		child, _, err := w.Claim(w.ctx, "child")
		w.must(err)
		w.must(l.CommitPlan(w.ctx, plan(1, 0, 1), change(plan(1, 0, 1)), start()))
		w.must(l.SaveOutput(w.ctx, "c", "text/plain", nil))
		for _, end := range []*RunLog{l, child} {
			if err := w.DeleteChat(w.ctx, "chat-r"); !errors.Is(err, ErrBusy) {
				t.Errorf("deleted under a live run: %v", err)
			}
			w.must(end.Finish(w.ctx, nil, finish(part.Finished)))
		}
		other := w.started("other")
		w.must(w.DeleteChat(w.ctx, "chat-r"))
		for table, want := range map[string]int64{"chats": 1, "messages": 1, "runs": 1, "entries": 0, "plans": 0, "tool_outputs": 0, "search": 1} {
			var n int64
			w.must(w.read.Table(table).Count(&n).Error)
			if n != want {
				t.Errorf("%d rows in %s, want %d", n, table, want)
			}
		}
		late := callOutput(1, "c", `1`)
		late.Late = true
		if err := errors.Join(l.Append(late), l.Sync(w.ctx)); !errors.Is(err, ErrFinished) {
			t.Errorf("late entry of a deleted run: %v", err)
		}
		w.must(other.Append(start()))
		w.must(other.Sync(w.ctx))
	})
}

func TestSettings(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.must(w.SetSetting(w.ctx, "other", "x"))
		for _, key := range []string{"a", "", "k\x00"} {
			if _, ok, err := w.Setting(w.ctx, key); ok || err != nil {
				t.Errorf("%q before: %v %v", key, ok, err)
			}
			for _, v := range []string{"1", "", "2\x00"} {
				w.must(w.SetSetting(w.ctx, key, v))
				got, ok, err := w.Setting(w.ctx, key)
				if got != text(v) || !ok || err != nil {
					t.Errorf("%q is %q, %v, %v", key, got, ok, err)
				}
			}
		}
	})
}

func TestToolOutputs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		for _, b := range [][]byte{[]byte("first"), all, {}, nil} {
			w.must(l.SaveOutput(w.ctx, "call\x00", "text/plain", b))
			kind, got, err := w.ToolOutput(w.ctx, "r", "call\x00")
			w.must(err)
			if kind != "text/plain" || !slices.Equal(got, b) {
				t.Errorf("%q came back as %q, %s", b, got, kind)
			}
		}
	})
}
