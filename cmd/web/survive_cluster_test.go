package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	natsserver "github.com/nats-io/nats-server/v2/server"

	"stagefold/internal/part"
	"stagefold/internal/pgtest"
)

// gateway is a TCP proxy on loopback that a test can shut and open again.
type gateway struct {
	to       string
	listener net.Listener
	loops    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
}

func newGateway(t testing.TB, to string) *gateway {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{to: to, listener: l, conns: map[net.Conn]bool{}}
	g.loops.Go(g.accept)
	t.Cleanup(func() {
		l.Close()
		g.shut()
		g.loops.Wait()
	})
	return g
}

func (g *gateway) addr() string { return g.listener.Addr().String() }

func (g *gateway) accept() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", g.to)
		if err != nil || !g.keep(in, out) {
			in.Close()
			if out != nil {
				out.Close()
			}
			continue
		}
		g.loops.Go(func() { g.pipe(in, out) })
		g.loops.Go(func() { g.pipe(out, in) })
	}
}

func (g *gateway) keep(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		if !g.closed {
			g.conns[c] = true
		}
	}
	return !g.closed
}

func (g *gateway) pipe(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	from.Close()
	to.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, from)
	delete(g.conns, to)
}

// shut cuts every connection and lets no new one through.
func (g *gateway) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.conns {
		c.Close()
	}
}

func (g *gateway) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
}

// cluster is what the instances share: Postgres and NATS, each behind a
// gateway, a workspace, and the model.
type cluster struct {
	t         testing.TB
	model     *stagehand
	db, nats  *gateway
	dbURL     string
	workspace string
	log       *logBuffer
}

func newCluster(t testing.TB) *cluster {
	address, err := url.Parse(pgtest.NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, model: newStagehand(t), workspace: filepath.Join(t.TempDir(), "workspace"), log: &logBuffer{}}
	c.db = newGateway(t, address.Host)
	address.Host = c.db.addr()
	c.dbURL = address.String()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, NoSystemAccount: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS did not get ready")
	}
	c.nats = newGateway(t, s.Addr().String())
	t.Cleanup(func() {
		if t.Failed() && testing.Verbose() {
			t.Logf("logs:\n%s", c.log)
		}
	})
	return c
}

func (c *cluster) natsURL() string { return "nats://" + c.nats.addr() }

// app starts an instance inside this process, with short intervals.
func (c *cluster) app() *server {
	c.t.Helper()
	return startServer(c.t, c.config())
}

func (c *cluster) config() config {
	cfg := withProvider(c.t, c.model)
	cfg.databaseURL, cfg.natsURL, cfg.workspace = c.dbURL, c.natsURL(), c.workspace
	cfg.ackWait, cfg.lookEvery = 2*time.Second, 200*time.Millisecond
	return cfg
}

// apps are n instances, after NATS has them.
func (c *cluster) apps(n int) []*server {
	c.t.Helper()
	var list []*server
	for range n {
		list = append(list, c.app())
	}
	for _, s := range list {
		eventually(c.t, "NATS", s.bus.Connected)
	}
	return list
}

// process starts an instance in a process of its own.
func (c *cluster) process() *process {
	c.t.Helper()
	s := newSetup(c.t, c.model.OpenAI())
	s.workspace = c.workspace
	s.env = []string{"STAGEFOLD_DATABASE_URL=" + c.dbURL, "STAGEFOLD_NATS_URL=" + c.natsURL()}
	return s.start(c.t)
}

// owner gives the instance that works on the run, and one that does not.
func owner(t testing.TB, list []*server, runID string) (owner, other *server) {
	t.Helper()
	eventually(t, "an owner", func() bool {
		owner, other = nil, nil
		for _, s := range list {
			if s.runs.Live(runID) {
				owner = s
			} else {
				other = s
			}
		}
		return owner != nil
	})
	return owner, other
}

// reader reads a run's log from one instance all the time, whether or not it
// answers, and remembers what it saw.
type reader struct {
	s      *server
	name   string
	runID  string
	cancel context.CancelFunc
	done   chan struct{}
	log    []*part.Entry // after done
}

func (s *server) follow(name, runID string) *reader {
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{s: s, name: name, runID: runID, cancel: cancel, done: make(chan struct{})}
	go r.loop(ctx)
	s.t.Cleanup(func() { cancel(); <-r.done })
	return r
}

func (r *reader) loop(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	after := int64(0)
	for {
		var more []*part.Entry
		code, err := r.s.try(ctx, "GET", fmt.Sprintf("/api/runs/%s/entries?after=%d", r.runID, after), nil, &more)
		if err == nil && code == 200 && len(more) > 0 {
			r.log = append(r.log, more...)
			after = more[len(more)-1].Seq
			if ends(more) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// checkSeen: what the reader saw while it happened is what the log says now.
func (r *reader) checkSeen(t testing.TB, log []*part.Entry) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatalf("%s never saw the end", r.name)
	}
	if d := cmp.Diff(texts(log), texts(r.log)); d != "" {
		t.Errorf("%s saw other text:\n%s", r.name, d)
	}
	if d := cmp.Diff(events(log), events(r.log)); d != "" {
		t.Errorf("%s saw another log:\n%s", r.name, d)
	}
}

// events are a log's entries without the deltas, as lines.
func events(log []*part.Entry) []string {
	var out []string
	for _, e := range log {
		if e.Delta == "" && e.InputTextDelta == "" {
			out = append(out, fmt.Sprintf("%d %s %s %s %s", e.Seq, e.Type, e.ID, e.ToolCallID, e.Output))
		}
	}
	return out
}

// checkSame: every instance tells the same of the run, and its log folds.
func checkSame(t *testing.T, list []*server, runID string) []*part.Entry {
	t.Helper()
	log := list[0].entriesAfter(runID, 0)
	checkFolds(t, runID, log)
	var first any
	for i, s := range list {
		if d := cmp.Diff(log, s.entriesAfter(runID, 0)); d != "" {
			t.Errorf("instance %d has another log:\n%s", i, d)
		}
		var told any
		s.call("GET", "/api/runs/"+runID, nil, &told)
		if i == 0 {
			first = told
		} else if d := cmp.Diff(first, told); d != "" {
			t.Errorf("instance %d tells another run:\n%s", i, d)
		}
	}
	return log
}

// checkFiles: what the task writes is there.
func (c *cluster) checkFiles() {
	c.t.Helper()
	for stage := range c.model.stages {
		if _, err := os.Stat(filepath.Join(c.workspace, fmt.Sprintf("part-%d-0.md", stage))); err != nil {
			c.t.Errorf("a file of the task: %v", err)
		}
	}
}
