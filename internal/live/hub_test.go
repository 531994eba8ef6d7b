package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
)

// reader is a viewer with its page and what its connection got.
type reader struct {
	viewer *Viewer
	page   *page
	gzip   bytes.Buffer
	plain  bytes.Buffer
}

func join(t testing.TB, h *Hub, p *page, c Cursor) *reader {
	t.Helper()
	v, err := h.Subscribe(context.Background(), "chat", c)
	if err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	r := &reader{viewer: v, page: p}
	r.gzip.Write(GzipHeader)
	t.Cleanup(v.Close)
	return r
}

// readTo reads until the page shows a seq of the run. An entry that nobody sees
// makes no frame.
func (r *reader) readTo(t testing.TB, run string, seq int64) {
	t.Helper()
	for {
		w := r.viewer.view.window.Load()
		all := r.viewer.joined && r.viewer.n == w.last
		switch {
		case w.err != nil:
			t.Fatalf("the view ended: %v", w.err)
		case all && w.state.run == run && w.state.snap.Seq >= seq:
			return
		case all:
			<-w.changed
		default:
			if err := r.read(t, context.Background()); err != nil {
				t.Fatalf("next: %v", err)
			}
		}
	}
}

func (r *reader) read(t testing.TB, ctx context.Context) error {
	t.Helper()
	frames, err := r.viewer.Next(ctx)
	for _, f := range frames {
		r.plain.Write(f.Plain)
		r.gzip.Write(f.Deflate)
		r.page.receive(t, f.Plain)
	}
	return err
}

// checkGzip unpacks what the connection got.
func (r *reader) checkGzip(t testing.TB) {
	t.Helper()
	r.gzip.Write(r.viewer.GzipTrailer())
	z, err := gzip.NewReader(&r.gzip)
	if err != nil {
		t.Fatalf("gzip header: %v", err)
	}
	got, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("gzip: %v", err)
	}
	if !bytes.Equal(got, r.plain.Bytes()) {
		t.Errorf("unpacked %d bytes, not the %d bytes that were sent", len(got), r.plain.Len())
	}
}

func TestStreamEqualsReload(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newChatLog()
			h := newHub(t, l)
			w := &writer{r: rand.New(rand.NewPCG(seed, 1))}
			l.begin("run", "Do it")
			r := join(t, h, newPage(t, ""), Cursor{})
			r.readTo(t, "run", 1)
			for range 60 {
				l.add("run", w.next()...)
				if w.r.IntN(3) > 0 {
					r.readTo(t, "run", l.last("run"))
				}
			}
			r.readTo(t, "run", l.last("run"))
			if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
				t.Fatalf("while it runs (-reload +stream):\n%s", diff)
			}
			l.add("run", w.finish()...)
			r.readTo(t, "run", l.last("run"))
			if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
				t.Errorf("after the end (-reload +stream):\n%s", diff)
			}
			r.checkGzip(t)
		})
	}
}

func TestLongRunsEqualReload(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	l.add("run", &part.Entry{Step: 1, Type: part.StartStep})
	l.add("run", stages("p", "in_progress", "pending")...)
	for i := range 40 {
		l.add("run", toolOf(fmt.Sprintf("c%d", i), "one")...)
		r.readTo(t, "run", l.last("run"))
	}
	l.add("run", &part.Entry{Step: 1, Type: part.TextStart, ID: "t"})
	for i := range 400 {
		l.add("run", &part.Entry{Step: 1, Type: part.TextDelta, ID: "t", Delta: fmt.Sprintf("half %d, ", i)})
		r.readTo(t, "run", l.last("run"))
		l.add("run", &part.Entry{Step: 1, Type: part.TextDelta, ID: "t", Delta: "and the rest.\n\n"})
		r.readTo(t, "run", l.last("run"))
	}
	if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
		t.Errorf("(-reload +stream):\n%s", diff)
	}
	r.checkGzip(t)
}

func TestJoiningBehindACursorEqualsReload(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newChatLog()
			h := newHub(t, l)
			w := &writer{r: rand.New(rand.NewPCG(seed, 2))}
			l.begin("run", "Do it")
			first := join(t, h, newPage(t, ""), Cursor{})
			for range 1 + w.r.IntN(40) {
				l.add("run", w.next()...)
			}
			p, at := loadedPage(t, l), l.last("run")
			for range 1 + w.r.IntN(40) {
				l.add("run", w.next()...)
			}
			late := join(t, h, p, Cursor{RunID: "run", Seq: at})
			for range w.r.IntN(70) {
				l.add("run", w.next()...)
				late.readTo(t, "run", l.last("run"))
			}
			l.add("run", w.finish()...)
			for name, r := range map[string]*reader{"first": first, "late": late} {
				r.readTo(t, "run", l.last("run"))
				if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
					t.Errorf("%s (-reload +stream):\n%s", name, diff)
				}
				r.checkGzip(t)
			}
		})
	}
}

func TestTheNextRunFollows(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("a", "First")
	stays := join(t, h, newPage(t, ""), Cursor{})
	stays.readTo(t, "a", 1)
	p := loadedPage(t, l)
	for _, run := range []string{"a", "b", "c"} {
		if run != "a" {
			l.begin(run, "Next "+run)
		}
		w := &writer{r: rand.New(rand.NewPCG(7, 7))}
		for range 20 {
			l.add(run, w.next()...)
		}
		l.add(run, w.finish()...)
	}
	back := join(t, h, p, Cursor{RunID: "a", Seq: 1})
	for name, r := range map[string]*reader{"stayed": stays, "came back": back} {
		r.readTo(t, "c", l.last("c"))
		if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
			t.Errorf("%s (-reload +stream):\n%s", name, diff)
		}
		if r.page.id != fmt.Sprint(l.last("c")) {
			t.Errorf("%s: last id %s, want the last seq of the newest run, %d", name, r.page.id, l.last("c"))
		}
		r.checkGzip(t)
	}
}

func TestAQueuedRunAppearsOnce(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("a", "First")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "a", 1)
	// The page was rendered while b was queued: its article is there, at seq 0.
	p := loadedPage(t, l)
	l.mu.Lock()
	l.chat.RunIDs = append(l.chat.RunIDs, "b")
	l.mu.Unlock()
	queued := join(t, h, p, Cursor{RunID: "b", Seq: 0})
	l.add("b", &part.Entry{Type: part.Start, Data: asJSON(part.StartData{RunID: "b", ChatID: "chat", UserText: "Second"})})
	for name, r := range map[string]*reader{"in step": r, "queued": queued} {
		r.readTo(t, "b", 1)
		if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
			t.Errorf("%s (-reload +stream):\n%s", name, diff)
		}
	}
}

func TestUnusableCursorsGetTheNewestRunWhole(t *testing.T) {
	for name, c := range map[string]Cursor{
		"none":         {},
		"unknown run":  {RunID: "nowhere", Seq: 3},
		"newer than":   {RunID: "run", Seq: 99},
		"run, no seq":  {RunID: "run"},
		"other's seq ": {RunID: "", Seq: 5},
	} {
		l := newChatLog()
		h := newHub(t, l)
		l.begin("run", "Do it")
		w := &writer{r: rand.New(rand.NewPCG(3, 3))}
		for range 10 {
			l.add("run", w.next()...)
		}
		p := newPage(t, "")
		if c.RunID == "run" {
			p = loadedPage(t, l)
		}
		r := join(t, h, p, c)
		r.readTo(t, "run", l.last("run"))
		if diff := cmp.Diff(reloaded(t, l), r.page.shown(t)); diff != "" {
			t.Errorf("%s (-reload +stream):\n%s", name, diff)
		}
	}
}

func TestASlowViewerGetsOneFrame(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	fast, slow := join(t, h, newPage(t, ""), Cursor{}), join(t, h, newPage(t, ""), Cursor{})
	fast.readTo(t, "run", 1)
	slow.readTo(t, "run", 1)
	w := &writer{r: rand.New(rand.NewPCG(5, 5))}
	for range 3 * maxFrames {
		l.add("run", w.next()...)
		fast.readTo(t, "run", l.last("run"))
	}
	if n := len(slow.viewer.view.window.Load().frames); n > maxFrames {
		t.Errorf("%d frames are kept, want at most %d", n, maxFrames)
	}
	frames, err := slow.viewer.Next(context.Background())
	if err != nil || len(frames) != 1 {
		t.Fatalf("%d frames, error %v; want one frame", len(frames), err)
	}
	slow.page.receive(t, frames[0].Plain)
	if diff := cmp.Diff(fast.page.shown(t), slow.page.shown(t)); diff != "" {
		t.Errorf("(-fast +slow):\n%s", diff)
	}
}

func TestSubscribersComeAndGo(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	writing, end := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	pages := make([]*page, 50)
	for i := range pages {
		pages[i] = newPage(t, "")
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			cursor := Cursor{}
			for over := false; !over; {
				over = writing.Err() != nil
				r := join(t, h, pages[i], cursor)
				for range 1 + rng.IntN(8) {
					if err := r.read(t, writing); err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("next: %v", err)
						return
					}
				}
				if over {
					r.readTo(t, "run", l.last("run"))
				}
				r.checkGzip(t)
				r.viewer.Close()
				if r.viewer.joined {
					cursor = Cursor{RunID: "run", Seq: r.viewer.base.snap.Seq}
				}
			}
		})
	}
	w := &writer{r: rand.New(rand.NewPCG(11, 11))}
	for range 150 {
		l.add("run", w.next()...)
	}
	l.add("run", w.finish()...)
	end()
	wg.Wait()
	want := reloaded(t, l)
	for i, p := range pages {
		if diff := cmp.Diff(want, p.shown(t)); diff != "" {
			t.Fatalf("subscriber %d (-reload +stream):\n%s", i, diff)
		}
	}
	if _, viewers := h.Watched(); viewers != 0 {
		t.Errorf("%d viewers are left, want 0", viewers)
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "run", 1)
	h.Shutdown(context.Background())
	if err := r.read(t, context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
	r.checkGzip(t)
	if _, err := h.Subscribe(context.Background(), "chat", Cursor{}); !errors.Is(err, ErrClosed) {
		t.Errorf("subscribe after shutdown: error %v, want ErrClosed", err)
	}
}

func TestAFailingStoreEndsTheViewAndTheNextOneWorks(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "run", 1)
	broken := errors.New("disk full")
	l.mu.Lock()
	l.fail = broken
	l.mu.Unlock()
	h.Wake("chat", Wake{Chrome: true})
	if err := r.read(t, context.Background()); !errors.Is(err, broken) {
		t.Errorf("error %v, want the store's", err)
	}
	if _, err := h.Subscribe(context.Background(), "chat", Cursor{}); !errors.Is(err, broken) {
		t.Errorf("subscribe: error %v, want the store's", err)
	}
	l.mu.Lock()
	l.fail = nil
	l.mu.Unlock()
	again := join(t, h, newPage(t, ""), Cursor{})
	again.readTo(t, "run", 1)
	if !strings.Contains(again.page.shown(t), "Do it") {
		t.Error("the view that came after shows nothing")
	}
}

func TestNextEndsWithItsContext(t *testing.T) {
	l := newChatLog()
	h := newHub(t, l)
	l.begin("run", "Do it")
	r := join(t, h, newPage(t, ""), Cursor{})
	r.readTo(t, "run", 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.read(t, ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}
