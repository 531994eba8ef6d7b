package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// stream is an open page stream that is read to its end.
type stream struct {
	body io.ReadCloser
	done chan struct{} // closed at its end

	mu   sync.Mutex
	seen bytes.Buffer // as text
	err  error        // io.EOF where it ended in order
}

// openPage opens a chat's page stream, as a browser does with gzip.
func (s *server) openPage(chat string, compressed bool) *stream {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), "GET", s.url+"/chats/"+chat+"/stream", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if compressed {
		req.Header.Set("Accept-Encoding", "gzip")
	} else {
		req.Header.Set("Accept-Encoding", "identity")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		s.t.Fatalf("stream: %d", res.StatusCode)
	}
	v := &stream{body: res.Body, done: make(chan struct{})}
	go v.read(compressed)
	s.t.Cleanup(v.close)
	return v
}

func (v *stream) read(compressed bool) {
	defer close(v.done)
	in := io.Reader(v.body)
	if compressed {
		z, err := gzip.NewReader(v.body)
		if err != nil {
			v.fail(err)
			return
		}
		in = z
	}
	buffer := make([]byte, 32<<10)
	for {
		n, err := in.Read(buffer)
		v.mu.Lock()
		v.seen.Write(buffer[:n])
		v.mu.Unlock()
		if err != nil {
			v.fail(err)
			return
		}
	}
}

func (v *stream) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = err
}

func (v *stream) text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen.String()
}

func (v *stream) close() {
	v.body.Close()
	<-v.done
}

// inOrder: the stream ended as a whole answer does, with its last event whole.
func (v *stream) inOrder(t *testing.T) {
	t.Helper()
	<-v.done
	if v.err != io.EOF {
		t.Errorf("a stream ended with %v", v.err)
	}
	if text := v.text(); !strings.HasSuffix(text, "\n\n") {
		t.Errorf("the last event is cut: %q", text[max(0, len(text)-80):])
	}
}

// SIGTERM: streams end in order, the process ends within 5 s, the run goes on
// at the next start.
func TestSigtermHandsTheRunToTheNextStart(t *testing.T) {
	model := newStagehand(t)
	s := newSetup(t, model.OpenAI())
	p := s.start(t)
	chat := p.newChat(planning.Metronome)
	model.hold(placeWord(model.callOf(1), 20))
	viewers := []*stream{p.openPage(chat, true), p.openPage(chat, false), p.openPage(chat, true)}
	id := p.send(chat, "m1", "task: plan").RunID
	before := p.seen(id, "text of stage 1", textHas("w1-20 "))
	for _, v := range viewers {
		eventually(t, "the page shows the text", func() bool { return strings.Contains(v.text(), "w1-20") })
	}
	if d := p.terminate(); d > 5*time.Second {
		t.Errorf("SIGTERM took %s", d)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.log)
	}
	for _, v := range viewers {
		v.inOrder(t)
	}
	model.hold("")
	p = s.start(t)
	if lost := lostText(before, p.entriesAfter(id, 0)); lost != "" {
		t.Errorf("text is gone: %q", lost)
	}
	if r := p.wait(id, ended); r.State != "finished" || len(r.Stages) != model.stages {
		t.Errorf("%s with %d stages", r.State, len(r.Stages))
	}
	after := p.entriesAfter(id, 0)
	checkNotRunAgain(t, "after SIGTERM", before, after)
	checkFolds(t, "after SIGTERM", after)
	checkIntegrity(t, s.data)
}

// SIGTERM during a start, and twice, ends the process too.
func TestSigtermTwice(t *testing.T) {
	s := newSetup(t, "")
	p := s.start(t)
	p.signal(syscall.SIGTERM)
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	<-p.ended
	p = s.start(t)
	p.terminate()
}

// SIGTERM while neither database nor NATS answers ends the process in time too.
func TestSigtermWithNothingAround(t *testing.T) {
	c := newCluster(t)
	p := c.process()
	c.model.hold(placeWord(c.model.callOf(0), 10))
	chat := p.newChat(planning.Metronome)
	viewer := p.openPage(chat, true)
	id := p.send(chat, "m1", "task: plan").RunID
	p.seen(id, "text", textHas("w0-10 "))
	c.db.shut()
	c.nats.shut()
	c.model.hold(placeBefore(c.model.callOf(1)))
	eventually(t, "healthz says so", func() bool { return p.call("GET", "/healthz", nil, nil) == 503 })
	if d := p.terminate(); d > 6*time.Second {
		t.Errorf("SIGTERM took %s", d)
	}
	<-viewer.done
	c.db.open()
	c.nats.open()
	c.model.hold("")
	if r := c.process().wait(id, ended); r.State != "finished" {
		t.Errorf("ended as %s", r.State)
	}
}

// The same inside this process: nothing that was started is left.
func TestServeLeavesNothingBehind(t *testing.T) {
	model := newStagehand(t)
	before := goleak.IgnoreCurrent()
	cfg := withProvider(t, model)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, in := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(ctx, cfg, in, io.Discard) }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s := &server{t: t, url: strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "listening on "))}
	chat := s.newChat(planning.Metronome)
	model.hold(placeWord(model.callOf(0), 5))
	viewer := s.openPage(chat, true)
	id := s.send(chat, "m1", "task: plan").RunID
	s.seen(id, "text", textHas("w0-5 "))
	cancel()
	from := time.Now()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if d := time.Since(from); d > 5*time.Second {
		t.Errorf("it took %s", d)
	}
	viewer.inOrder(t)
	in.Close()
	model.Idle()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	goleak.VerifyNone(t, before)
}

// A stop that finds its run waiting ends it; so does one that was stored while
// the owner was dead.
func TestStopOfAWaitingRun(t *testing.T) {
	model := newStagehand(t)
	s := newSetup(t, model.OpenAI())
	p := s.start(t)
	chat := p.newChat(planning.Metronome)
	id := p.send(chat, "m1", "task: ask").RunID
	p.wait(id, waits)
	var out struct{ Result string }
	p.call("POST", "/api/runs/"+id+"/stop", nil, &out)
	if r := p.wait(id, ended); r.State != "stopped" || out.Result != "delivered" {
		t.Errorf("%s, the stop was %s", r.State, out.Result)
	}
	id = p.send(p.newChat(planning.Metronome), "m1", "task: close").RunID
	p.wait(id, waits)
	p.kill()
	requestStop(t, s.data, id)
	p = s.start(t)
	if r := p.wait(id, ended); r.State != "stopped" {
		t.Errorf("a stop that was stored: %s", r.State)
	}
	if open := part.Build(p.entriesAfter(id, 0)); len(open) == 0 || !open[len(open)-1].Terminal() {
		t.Error("a part is still open")
	}
}
