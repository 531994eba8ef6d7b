package live

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/views"
)

// chromeShows reads until what stands beside the runs contains the text.
func (r *reader) chromeShows(t testing.TB, id, text string) {
	t.Helper()
	for {
		var out strings.Builder
		r.page.write(&out, find(r.page.body, id), 0)
		if strings.Contains(out.String(), text) {
			return
		}
		if err := r.read(t, context.Background()); err != nil {
			t.Fatalf("next: %v", err)
		}
	}
}

func TestAnyWakeLeadsToTheSamePage(t *testing.T) {
	for name, wake := range map[string]func(l *chatLog, entries []*part.Entry){
		"with its entries": func(l *chatLog, e []*part.Entry) { l.hub.Wake("chat", Wake{RunID: "run", Entries: e}) },
		"without content":  func(l *chatLog, _ []*part.Entry) { l.hub.Wake("chat", Wake{RunID: "run"}) },
		"of the chat only": func(l *chatLog, _ []*part.Entry) { l.hub.Wake("chat", Wake{RunID: "run", Chrome: true}) },
		"twice": func(l *chatLog, e []*part.Entry) {
			l.hub.Wake("chat", Wake{RunID: "run", Entries: e})
			l.hub.Wake("chat", Wake{RunID: "run", Entries: e})
		},
		"with gaps": func(l *chatLog, e []*part.Entry) {
			if e[0].Seq%3 == 0 || e[0].Type == part.Finish {
				l.hub.Wake("chat", Wake{RunID: "run", Entries: e[len(e)-1:]})
			}
		},
		"after another run's": func(l *chatLog, e []*part.Entry) {
			l.hub.Wake("chat", Wake{RunID: "child", Entries: []*part.Entry{{Seq: 1, Type: part.Start}}})
			l.hub.Wake("chat", Wake{RunID: "run", Entries: e})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newChatLog()
			h := newHub(t, l)
			l.begin("run", "Do it")
			r := join(t, h, newPage(t, ""), Cursor{})
			w := &writer{r: rand.New(rand.NewPCG(4, 4))}
			for range 40 {
				entries := w.next()
				l.commit("run", entries...)
				wake(l, entries)
			}
			end := w.finish()
			l.commit("run", end...)
			wake(l, end[len(end)-1:])
			r.readTo(t, "run", l.last("run"))
			if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
				t.Errorf("(-reload +stream):\n%s", diff)
			}
		})
	}
}

func TestWhatStandsBesideTheRuns(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "run", 1)
	r.chromeShows(t, views.StatusLineID, "Working")

	change := func(f func(c *views.ChatState)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		f(&l.chat)
	}
	change(func(c *views.ChatState) { c.Queue = []views.Queued{{ID: "m1", Text: "and then this"}} })
	h.Wake("chat", Wake{Chrome: true})
	r.chromeShows(t, views.QueueID, "and then this")

	change(func(c *views.ChatState) { c.Stopping = true })
	h.Wake("chat", Wake{Chrome: true})
	r.chromeShows(t, views.StatusLineID, "stopping")

	l.add("run", &part.Entry{Step: 1, Type: part.StartStep})
	l.add("run", stages("p1", "in_progress", "pending")...)
	r.chromeShows(t, views.PinnedPlanID, "Stage 1")
	r.chromeShows(t, views.PlanPaneID, "Stage 2")
	l.add("run", &part.Entry{Type: part.Wait, Waiting: []part.Waiting{{Kind: "question", RunID: "run", Question: "Which one?"}}})
	r.chromeShows(t, views.WaitingID, "Which one?")
}

func TestAnotherChatsStateReachesTheList(t *testing.T) {
	l := newChatLog()
	h := NewHub(Config{Entries: l.entries, Chat: l.state, Now: func() time.Time { return testTime }, Tick: time.Millisecond, ListPause: 20 * time.Millisecond})
	l.hub = h
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "run", 1)
	l.mu.Lock()
	l.chat.Chats = []views.ChatItem{{ID: "other", Title: "The other chat", State: part.Finished}}
	l.mu.Unlock()
	h.Wake("other", Wake{RunID: "elsewhere", Chrome: true})
	r.chromeShows(t, views.ChatListID, "The other chat")
}

func TestASilentStreamBeats(t *testing.T) {
	l := newChatLog()
	h := NewHub(Config{Entries: l.entries, Chat: l.state, Heartbeat: 5 * time.Millisecond})
	l.hub = h
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "run", 1)
	for range 3 {
		frames, err := r.viewer.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			if string(f.Plain) != ": \n\n" || len(f.Deflate) == 0 {
				t.Fatalf("frame %q, want a comment", f.Plain)
			}
		}
	}
}

func TestViewsGoAfterTheirLastViewer(t *testing.T) {
	l := newChatLog()
	h := NewHub(Config{Entries: l.entries, Chat: l.state, Grace: time.Millisecond})
	l.hub = h
	t.Cleanup(func() { h.Shutdown(context.Background()) })
	l.begin("run", "Do it")
	v, err := h.Subscribe(context.Background(), "chat", Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	view := v.view
	if chats, viewers := h.Watched(); chats != 1 || viewers != 1 {
		t.Errorf("%d chats with %d viewers, want 1 and 1", chats, viewers)
	}
	v.Close()
	v.Close()
	<-view.ctx.Done()
	if chats, viewers := h.Watched(); chats != 0 || viewers != 0 {
		t.Errorf("%d chats with %d viewers are left", chats, viewers)
	}
	l.add("run", &part.Entry{Step: 1, Type: part.StartStep}) // wakes nobody
	again := join(t, h, newPage(t, ""), Cursor{})
	again.readTo(t, "run", 2)
}

func TestManyCursorsAreNotKept(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	w := &writer{r: rand.New(rand.NewPCG(6, 6))}
	for range 80 {
		l.add("run", w.next()...)
	}
	stay := join(t, h, newPage(t, ""), Cursor{})
	stay.readTo(t, "run", l.last("run"))
	for seq := range l.last("run") {
		v, err := h.Subscribe(context.Background(), "chat", Cursor{RunID: "run", Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		v.Close()
	}
	view := stay.viewer.view
	if n := len(view.pasts.kept); n > maxPasts {
		t.Errorf("%d pasts are kept, want at most %d", n, maxPasts)
	}
	if n := len(view.window.Load().joins.frames); n > maxJoins {
		t.Errorf("%d joins are kept, want at most %d", n, maxJoins)
	}
}
