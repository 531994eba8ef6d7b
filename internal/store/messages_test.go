package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// states are a chat's messages in order.
func (w *world) states(chat string) (list []string) {
	w.t.Helper()
	messages, err := w.Messages(w.ctx, chat)
	w.must(err)
	for _, m := range messages {
		list = append(list, fmt.Sprintf("%s %s %s", m.ID, m.State, m.RunID))
	}
	return list
}

func TestPostMessage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.chat("c")
		w.chat("other")
		first := w.post("c", "m1", "# Make it\nplease", "r1")
		if first.State != "started" || first.RunID != "r1" || first.Repeated || first.Run == nil {
			t.Fatalf("first: %+v", first)
		}
		run := w.run("r1")
		equal(t, "run of the result", *first.Run, run)
		equal(t, "run", run, Run{ID: "r1", ChatID: "c", UserMessageID: "m1", UserText: "# Make it\nplease", Model: "rehearsal", Mode: planning.Metronome,
			State: part.Queued, NextStep: 1, CreatedAt: run.CreatedAt, ChatTitle: "Make it"})
		if r := w.post("c", "m1", "# Make it\nplease", "r2"); r.State != "started" || r.RunID != "r1" || !r.Repeated || r.Run != nil {
			t.Errorf("again: %+v", r)
		}
		if _, err := w.PostMessage(w.ctx, Post{ChatID: "c", MessageID: "m1", Text: "other", NewRunID: "r2"}); !errors.Is(err, ErrConflict) {
			t.Errorf("the same id with another text: %v", err)
		}
		for range 2 {
			if r := w.post("c", "m2", "second", "r2"); r.State != "queued" || r.RunID != "" || r.Run != nil {
				t.Errorf("second: %+v", r)
			}
		}
		if r := w.post("other", "m1", "another chat's", "r3"); r.State != "started" || r.RunID != "r3" {
			t.Errorf("the id in another chat: %+v", r)
		}
		equal(t, "messages", w.states("c"), []string{"m1 sent r1", "m2 queued "})
		if _, err := w.PostMessage(w.ctx, Post{ChatID: "c", MessageID: "m4", Text: "x", NewRunID: "r1"}); err != nil {
			t.Errorf("a queued message needs no run id: %v", err)
		}
	})
}

// A run id that is taken makes no message.
func TestPostMessageWithATakenRunID(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.started("r")
		w.chat("c")
		if _, err := w.PostMessage(w.ctx, Post{ChatID: "c", MessageID: "m", Text: "x", NewRunID: "r"}); !errors.Is(err, ErrBusy) {
			t.Errorf("post: %v", err)
		}
		equal(t, "messages", w.states("c"), []string(nil))
	})
}

// The same message posted many times at once is one message and one run.
func TestPostsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.chat("c")
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				for _, m := range []string{"m1", "m2"} {
					r, err := w.PostMessage(w.ctx, Post{ChatID: "c", MessageID: m, Text: "text", NewRunID: fmt.Sprintf("r-%s-%d", m, i)})
					if err != nil || r.MessageID != m {
						t.Errorf("post %s: %+v, %v", m, r, err)
					}
				}
			})
		}
		group.Wait()
		runs, err := w.ChatRuns(w.ctx, "c")
		w.must(err)
		messages, err := w.Messages(w.ctx, "c")
		w.must(err)
		if len(runs) != 1 || len(messages) != 2 || messages[0].State != MessageSent || messages[1].State != MessageQueued || messages[0].RunID != runs[0].ID {
			t.Errorf("%d runs, messages %v", len(runs), messages)
		}
	})
}

// A message to a run that waits for an answer is the answer; one that waits for
// an approval only is not.
func TestAnswers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.SetWaiting(w.ctx, []part.Waiting{{Kind: "approval"}}))
		if r := w.post("chat-r", "m1", "one", "x"); r.State != "queued" {
			t.Errorf("while an approval is due: %+v", r)
		}
		w.must(l.SetWaiting(w.ctx, []part.Waiting{{Kind: "approval"}, {Kind: "question"}}))
		for i := range 2 {
			if r := w.post("chat-r", "m2", "two", "x"); r.State != "answered" || r.RunID != "r" || r.Repeated != (i == 1) {
				t.Errorf("while a question is open: %+v", r)
			}
		}
		w.post("chat-r", "m3", "three", "x")
		w.must(l.SetWaiting(w.ctx, nil, &part.Entry{Type: part.DataAnswer, ID: "a", Data: []byte(`{"messageId":"m2","text":"two"}`)}))
		answers, err := w.PendingAnswers(w.ctx, "r")
		w.must(err)
		if len(answers) != 2 || answers[0].ID != "m2" || answers[0].Text != "two" || answers[1].ID != "m3" {
			t.Errorf("answers: %+v", answers)
		}
		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		equal(t, "messages", w.states("chat-r"), []string{"m-r sent r", "m1 queued ", "m2 answer r", "m3 queued "}) // m3 never reached the run
	})
}

// The queue: edited and deleted while it waits, held after a bad end, sent in
// order after a good one.
func TestQueue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		for _, m := range []string{"a", "b", "c", "d"} {
			w.post("chat-r", m, "text "+m, "x")
		}
		w.must(w.EditQueued(w.ctx, "chat-r", "b", "edited \x00"))
		w.must(w.DeleteQueued(w.ctx, "chat-r", "c"))
		for what, err := range map[string]error{"edit": w.EditQueued(w.ctx, "chat-r", "m-r", "x"), "delete": w.DeleteQueued(w.ctx, "chat-r", "m-r")} {
			if !errors.Is(err, ErrConflict) {
				t.Errorf("%s of a sent message: %v", what, err)
			}
		}
		if _, ok, err := w.NextQueued(w.ctx, "chat-r", "n1"); ok || err != nil {
			t.Errorf("next under a live run: %v %v", ok, err)
		}
		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		stranded, err := w.QueuedChats(w.ctx)
		w.must(err)
		equal(t, "chats that wait", stranded, []string{"chat-r"})
		next, ok, err := w.NextQueued(w.ctx, "chat-r", "n1")
		w.must(err)
		if !ok || next.ID != "n1" || next.UserMessageID != "a" || next.Model != "rehearsal" || next.State != part.Queued {
			t.Fatalf("next: %+v, %v", next, ok)
		}
		equal(t, "messages", w.states("chat-r"), []string{"m-r sent r", "a sent n1", "b queued ", "d queued "})
		stranded, err = w.QueuedChats(w.ctx)
		w.must(err)
		equal(t, "chats that wait", stranded, []string{})

		l, _, err = w.Claim(w.ctx, "n1")
		w.must(err)
		w.must(l.Finish(w.ctx, nil, finish(part.Stopped))) // holds in the same transaction
		equal(t, "messages", w.states("chat-r"), []string{"m-r sent r", "a sent n1", "b held ", "d held "})
		if _, ok, err := w.NextQueued(w.ctx, "chat-r", "n2"); ok || err != nil {
			t.Errorf("next of a held queue: %v %v", ok, err)
		}
		if r := w.post("chat-r", "b", "edited \x00", "x"); r.State != "queued" || !r.Repeated {
			t.Errorf("a held message again: %+v", r)
		}
		sent, err := w.SendQueued(w.ctx, "chat-r", "d", "n2", "model")
		w.must(err)
		if sent.State != "started" || sent.RunID != "n2" || sent.Run == nil || sent.Run.Model != "model" || sent.Run.UserText != "text d" {
			t.Errorf("sent: %+v", sent)
		}
		again, err := w.SendQueued(w.ctx, "chat-r", "d", "n3", "model")
		w.must(err)
		if again.State != "started" || again.RunID != "n2" || !again.Repeated || again.Run != nil {
			t.Errorf("sent twice: %+v", again)
		}
		behind, err := w.SendQueued(w.ctx, "chat-r", "b", "n3", "model")
		w.must(err)
		if behind.State != "queued" || behind.Run != nil {
			t.Errorf("sent behind a live run: %+v", behind)
		}
		w.must(w.HoldQueued(w.ctx, "chat-r"))
		equal(t, "messages", w.states("chat-r"), []string{"m-r sent r", "a sent n1", "b held ", "d sent n2"})
	})
}

// A message between a run's end and the next queued one stands behind the queue.
func TestPostBehindAQueueWithoutARun(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.post("chat-r", "a", "text a", "x")
		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		r := w.post("chat-r", "b", "text b", "n")
		if r.State != "queued" || r.RunID != "" || r.Run == nil || r.Run.UserMessageID != "a" {
			t.Errorf("posted: %+v", r)
		}
		equal(t, "messages", w.states("chat-r"), []string{"m-r sent r", "a sent n", "b queued "})
		if _, ok, err := w.NextQueued(w.ctx, "chat-r", "n2"); ok || err != nil {
			t.Errorf("next: %v, %v", ok, err)
		}
	})
}

// A new message does not wait for what is held.
func TestPostBesideAHeldQueue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.post("chat-r", "a", "text a", "x")
		w.must(l.Finish(w.ctx, nil, finish(part.FailedRun)))
		if r := w.post("chat-r", "b", "text b", "n"); r.State != "started" || r.RunID != "n" {
			t.Errorf("posted: %+v", r)
		}
		equal(t, "messages", w.states("chat-r"), []string{"m-r sent r", "a held ", "b sent n"})
	})
}

// The next queued message goes to the chat's model of now.
func TestNextQueuedModel(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.post("chat-r", "a", "text a", "x")
		w.must(w.UpdateChat(w.ctx, "chat-r", func(c *Chat) { c.Model, c.PlanningMode = "better", planning.Steps }))
		w.must(l.Finish(w.ctx, nil, finish(part.Finished)))
		next, ok, err := w.NextQueued(w.ctx, "chat-r", "n")
		w.must(err)
		if !ok || next.Model != "better" || next.Mode != planning.Steps {
			t.Errorf("next: %+v", next)
		}
		if _, _, err := w.NextQueued(w.ctx, "chat-r", "r"); err != nil {
			t.Errorf("nothing queued: %v", err)
		}
	})
}
