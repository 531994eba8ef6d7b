package bus

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"stagefold/internal/part"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.init.0.func1"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/internal/fastrand.init"))
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func open(t *testing.T, o Options) *Bus {
	t.Helper()
	o.Logger = quiet
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// external is a NATS server on loopback, as the scale-out mode has one.
func external(t *testing.T, dir string, port int) (string, *server.Server) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true, NoSystemAccount: true, JetStream: true, StoreDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS did not get ready")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL(), s
}

// worker runs Work until the test ends.
func worker(t *testing.T, b *Bus, handle func(context.Context, string) Verdict) context.CancelFunc {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Work(ctx, 8, handle) }()
	stop := func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func TestAJobIsThereOnce(t *testing.T) {
	b := open(t, Options{Instance: "a"})
	for range 3 {
		if err := b.Enqueue(t.Context(), "r1"); err != nil {
			t.Fatal(err)
		}
	}
	var taken atomic.Int32
	first, second := make(chan struct{}), make(chan struct{})
	worker(t, b, func(_ context.Context, id string) Verdict {
		switch id {
		case "r1":
			taken.Add(1)
			close(first)
		case "r2":
			close(second)
		}
		return Done
	})
	<-first
	if err := b.Enqueue(t.Context(), "r2"); err != nil {
		t.Fatal(err)
	}
	<-second
	if n := taken.Load(); n != 1 {
		t.Errorf("the job was taken %d times", n)
	}
}

func TestAJobStaysWithALivingWorkerAndLeavesADeadOne(t *testing.T) {
	url, _ := external(t, t.TempDir(), -1)
	o := Options{URL: url, AckWait: 300 * time.Millisecond}
	o.Instance = "a"
	a := open(t, o)
	o.Instance = "b"
	b := open(t, o)
	if err := a.reconcileOnce(t.Context(), func(context.Context) ([]string, error) { return []string{"r1"}, nil }); err != nil {
		t.Fatal(err)
	}
	taken, leave := make(chan struct{}), make(chan struct{})
	stop := worker(t, a, func(ctx context.Context, id string) Verdict {
		close(taken)
		<-leave
		a.conn.Close() // as after kill -9: nothing is said any more
		return Done
	})
	<-taken
	again := make(chan string, 1)
	worker(t, b, func(_ context.Context, id string) Verdict { again <- id; return Done })
	select {
	case <-again:
		t.Fatal("the job left a worker that says it lives")
	case <-time.After(900 * time.Millisecond): // three leases
	}
	close(leave)
	stop()
	if id := <-again; id != "r1" {
		t.Errorf("took over %q", id)
	}
}

func TestHandOverIsAtOnce(t *testing.T) {
	url, _ := external(t, t.TempDir(), -1)
	a := open(t, Options{URL: url, Instance: "a", AckWait: time.Hour})
	b := open(t, Options{URL: url, Instance: "b", AckWait: time.Hour})
	if err := a.reconcileOnce(t.Context(), func(context.Context) ([]string, error) { return []string{"r1"}, nil }); err != nil {
		t.Fatal(err)
	}
	taken := make(chan struct{})
	stop := worker(t, a, func(ctx context.Context, _ string) Verdict { close(taken); <-ctx.Done(); return HandOver })
	<-taken
	again := make(chan string, 1)
	worker(t, b, func(_ context.Context, id string) Verdict { again <- id; return Done })
	stop()
	if id := <-again; id != "r1" {
		t.Errorf("took over %q", id)
	}
}

// A worker that lost its run to another one says nothing of the job: the other
// one keeps it, and its end is the job's.
func TestALostJobIsTheOthers(t *testing.T) {
	url, _ := external(t, t.TempDir(), -1)
	o := Options{URL: url, AckWait: 300 * time.Millisecond}
	o.Instance = "a"
	a := open(t, o)
	o.Instance = "b"
	b := open(t, o)
	if err := a.reconcileOnce(t.Context(), func(context.Context) ([]string, error) { return []string{"r1"}, nil }); err != nil {
		t.Fatal(err)
	}
	taken := make(chan struct{})
	stop := worker(t, a, func(context.Context, string) Verdict { close(taken); return Lost })
	<-taken
	stop()
	again, end := make(chan string, 8), make(chan struct{})
	worker(t, b, func(_ context.Context, id string) Verdict { again <- id; <-end; return Done })
	if id := <-again; id != "r1" {
		t.Errorf("took over %q", id)
	}
	close(end)
	// The job is gone: the run can have a new one.
	if err := b.Enqueue(t.Context(), "r2"); err != nil {
		t.Fatal(err)
	}
	if id := <-again; id != "r2" {
		t.Errorf("%s came again", id)
	}
}

func TestReconcileMendsALostServer(t *testing.T) {
	url, s := external(t, t.TempDir(), -1)
	b := open(t, Options{URL: url, Instance: "a", AckWait: time.Second, Reconcile: 50 * time.Millisecond})
	got := make(chan string, 16)
	worker(t, b, func(_ context.Context, id string) Verdict { got <- id; return Done })
	var mu sync.Mutex
	list := []string{"r1"}
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() {
		b.Reconcile(ctx, func(context.Context) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return append([]string(nil), list...), nil
		})
	})
	defer loop.Wait()
	defer cancel()
	if id := <-got; id != "r1" {
		t.Fatalf("took %q", id)
	}
	// The server goes, and comes back without its files: the stream is gone.
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	mu.Lock()
	list = []string{"r2"}
	mu.Unlock()
	external(t, t.TempDir(), port)
	for id := range got {
		if id == "r2" {
			break
		}
	}
	mu.Lock()
	list = nil
	mu.Unlock()
}

func TestWakesReachTheOthers(t *testing.T) {
	url, _ := external(t, t.TempDir(), -1)
	a := open(t, Options{URL: url, Instance: "a"})
	b := open(t, Options{URL: url, Instance: "b"})
	got, own := make(chan Wake, 4), make(chan Wake, 4)
	if err := b.OnWake(func(w Wake) { got <- w }); err != nil {
		t.Fatal(err)
	}
	if err := a.OnWake(func(w Wake) { own <- w }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Bus{a, b} {
		if err := c.conn.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	small := &part.Entry{Seq: 1, Type: part.TextDelta, ID: "t", Delta: "hello"}
	big := &part.Entry{Seq: 2, Type: part.TextDelta, ID: "t", Delta: strings.Repeat("x", maxWake)}
	for _, w := range []Wake{{ChatID: "c", RunID: "r", Seq: 1, Entries: []*part.Entry{small}}, {ChatID: "c", RunID: "r", Seq: 2, Entries: []*part.Entry{big}}} {
		if err := a.Wake(w); err != nil {
			t.Fatal(err)
		}
	}
	if w := <-got; w.Seq != 1 || len(w.Entries) != 1 || w.Entries[0].Delta != "hello" {
		t.Errorf("small wake: %+v", w)
	}
	if w := <-got; w.Seq != 2 || len(w.Entries) != 0 {
		t.Errorf("an entry above 64 KB did not go as a bare seq: %d entries", len(w.Entries))
	}
	if len(own) != 0 {
		t.Error("an instance got its own wake")
	}
}

func TestLettersReachTheOwner(t *testing.T) {
	url, _ := external(t, t.TempDir(), -1)
	a := open(t, Options{URL: url, Instance: "a"})
	b := open(t, Options{URL: url, Instance: "b"})
	if ok, err := b.Tell(t.Context(), "r1", Letter{Kind: "stop"}); ok || err != nil {
		t.Errorf("a run without an owner: %v %v", ok, err)
	}
	got := make(chan Letter, 1)
	if err := a.Hold("r1", func(l Letter) bool { got <- l; return true }); err != nil {
		t.Fatal(err)
	}
	if err := a.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if !b.Owned(t.Context(), "r1") {
		t.Error("the owner does not answer")
	}
	if ok, err := b.Tell(t.Context(), "r1", Letter{Kind: "stop"}); !ok || err != nil {
		t.Errorf("tell: %v %v", ok, err)
	}
	if l := <-got; l.Kind != "stop" {
		t.Errorf("letter %+v", l)
	}
	a.Release("r1")
	if err := a.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if b.Owned(t.Context(), "r1") {
		t.Error("a released run is still owned")
	}
}

// Embedded: no port is opened and nothing stays behind.
func TestEmbeddedLeavesNothing(t *testing.T) {
	b, err := Open(t.Context(), Options{Instance: "a", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if addr := b.server.Addr(); addr != nil {
		t.Errorf("the embedded server listens on %v", addr)
	}
	dir := b.dir
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}
