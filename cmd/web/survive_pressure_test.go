package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"stagefold/internal/planning"
)

// startBounded is startServer with the product's own bounds on connections.
func startBounded(t testing.TB, cfg config) *server {
	t.Helper()
	a := testApp(t, cfg)
	s := httptest.NewUnstartedServer(a.handler())
	s.Config.ConnContext = boundSendBuffer
	s.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		a.endStreams(ctx)
		s.CloseClientConnections()
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &server{app: a, t: t, url: s.URL}
}

// frozenViewer opens a chat's page stream and reads no more than its headers.
func (s *server) frozenViewer(chat string) *net.TCPConn {
	s.t.Helper()
	host := strings.TrimPrefix(s.url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	tcp := conn.(*net.TCPConn)
	if err := tcp.SetReadBuffer(4 << 10); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /chats/%s/stream HTTP/1.1\r\nHost: %s\r\n\r\n", chat, host)
	status, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	if err != nil || !strings.Contains(status, "200") {
		s.t.Fatalf("stream: %q %v", status, err)
	}
	return tcp
}

const frozenViewers = 50

// flood runs a chat whose text is 2 MB and gives how long it took.
func (s *server) flood(chat string) time.Duration {
	from := time.Now()
	if r := s.wait(s.send(chat, newID(), "task: flood").RunID, ended); r.State != "finished" {
		s.t.Errorf("the flood ended as %s", r.State)
	}
	return time.Since(from)
}

// HO-14 b: viewers that never read are cut, and neither the run nor those who
// read notice.
func TestFrozenViewersAreCut(t *testing.T) {
	cfg := withProvider(t, newStagehand(t))
	cfg.takeTimeout = 2 * time.Second
	s := startBounded(t, cfg)
	alone := s.flood(s.newChat(planning.None))
	chat := s.newChat(planning.None)
	good := []*stream{s.openPage(chat, true), s.openPage(chat, false), s.openPage(chat, true)}
	for range frozenViewers {
		s.frozenViewer(chat)
	}
	if _, viewers := s.hub.Watched(); viewers != frozenViewers+len(good) {
		t.Errorf("%d viewers", viewers)
	}
	if d := s.flood(chat); d > 3*alone+2*time.Second {
		t.Errorf("the run took %s, and %s without viewers", d, alone)
	}
	for _, v := range good {
		eventually(t, "the end at a good viewer", func() bool { return strings.Contains(v.text(), "The end.") })
	}
	eventually(t, "the frozen viewers cut", func() bool {
		_, viewers := s.hub.Watched()
		return viewers == len(good)
	})
}

// Viewers that never read cost little, as long as they stay.
func TestFrozenViewersAreCheap(t *testing.T) {
	cfg := withProvider(t, newStagehand(t))
	cfg.takeTimeout = time.Hour
	s := startBounded(t, cfg)
	chat := s.newChat(planning.None)
	var conns []*net.TCPConn
	for range frozenViewers {
		conns = append(conns, s.frozenViewer(chat))
	}
	before := heap()
	s.flood(chat)
	cost := heap() - before
	t.Logf("%d viewers that never read: %.1f MB with the run of 2 MB", frozenViewers, float64(cost)/(1<<20))
	if cost > 100<<20 {
		t.Errorf("they cost %d MB", cost>>20)
	}
	if _, viewers := s.hub.Watched(); viewers != frozenViewers {
		t.Errorf("%d viewers are there", viewers)
	}
	for _, c := range conns {
		c.Close()
	}
	eventually(t, "the viewers gone", func() bool { _, viewers := s.hub.Watched(); return viewers == 0 })
}

// heap is what is in use after a collection, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// HO-14 d: 300 viewers that come and go, half of them by a reset, leave nothing.
func TestViewersThatGoLeaveNothing(t *testing.T) {
	model := newStagehand(t)
	model.hold(placeWord(model.callOf(0), 5))
	s := startBounded(t, withProvider(t, model))
	chat := s.newChat(planning.Metronome)
	id := s.send(chat, "m1", "task: plan").RunID
	s.seen(id, "text", textHas("w0-5 "))
	s.frozenViewer(chat).Close() // what the first one starts stays for all
	eventually(t, "the first viewer gone", func() bool { _, viewers := s.hub.Watched(); return viewers == 0 })
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for n := range 300 {
		conn := s.frozenViewer(chat)
		if n%2 == 0 {
			if err := conn.SetLinger(0); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
	}
	within(t, 5*time.Second, "goroutines and file handles as at the start", func() bool {
		_, viewers := s.hub.Watched()
		return viewers == 0 && runtime.NumGoroutine() <= goroutines+5 && openFiles(t) <= files+5
	})
	model.hold("")
	if r := s.wait(id, ended); r.State != "finished" {
		t.Errorf("the run: %s", r.State)
	}
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
