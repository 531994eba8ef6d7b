package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stagefold/internal/planning"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"), // the highlighter's clock
		goleak.Cleanup(func(code int) { removeBinary(); os.Exit(code) }))
}

// testConfig is a config on fresh folders with the rehearsal model at full speed.
func testConfig(t testing.TB) config {
	t.Helper()
	dir := t.TempDir()
	cfg, err := readConfig([]string{"--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--workspace", filepath.Join(dir, "workspace"), "--model", rehearsalName},
		func(name string) string { return map[string]string{"STAGEFOLD_REHEARSAL_PACE": "0"}[name] }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func testApp(t testing.TB, cfg config) *app {
	t.Helper()
	a, err := newApp(context.Background(), cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := a.close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return a
}

// server is a running product with a client for its API.
type server struct {
	*app
	t    testing.TB
	url  string
	http *httptest.Server
}

func startServer(t testing.TB, cfg config) *server {
	t.Helper()
	return startServerOf(t, testApp(t, cfg))
}

func startServerOf(t testing.TB, a *app) *server {
	t.Helper()
	s := httptest.NewServer(a.handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		a.endStreams(ctx)
		s.CloseClientConnections()
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return &server{app: a, t: t, url: s.URL, http: s}
}

// call sends JSON and decodes the answer into out (nil to drop it); it returns
// the status.
func (s *server) call(method, path string, in, out any) int {
	s.t.Helper()
	var body io.Reader
	if in != nil {
		body = bytes.NewReader(mustJSON(in))
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			s.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, b)
		}
	}
	return res.StatusCode
}

func (s *server) newChat(mode planning.Mode) string {
	s.t.Helper()
	var out struct{ ID string }
	if code := s.call("POST", "/api/chats", map[string]any{"planningMode": mode}, &out); code != http.StatusCreated {
		s.t.Fatalf("new chat: %d", code)
	}
	return out.ID
}

func (s *server) send(chat, id, text string) posted {
	s.t.Helper()
	var out posted
	if code := s.call("POST", "/api/chats/"+chat+"/messages", map[string]string{"id": id, "text": text}, &out); code != http.StatusAccepted {
		s.t.Fatalf("send: %d", code)
	}
	return out
}

// run is what the tests read of GET /api/runs/{id}.
type run struct {
	ID           string      `json:"id"`
	State        string      `json:"state"`
	FinishReason string      `json:"finishReason"`
	Stages       []stageJSON `json:"stages"`
	Debt         []struct{ ID, Content string }
	Answer       []struct {
		Type string
		Text string
	} `json:"answer"`
	Lead []struct {
		Type string
		Text string
	} `json:"lead"`
	LastSeq int64 `json:"lastSeq"`
	Plan    *struct {
		Mode     string
		Revision int
	} `json:"plan"`
	Activity []activityJSON `json:"activity"`
}

// wait reads the run until ok says yes.
func (s *server) wait(id string, ok func(run) bool) run {
	s.t.Helper()
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var r run
		if code := s.call("GET", "/api/runs/"+id, nil, &r); code != http.StatusOK {
			s.t.Fatalf("read run: %d", code)
		}
		if ok(r) {
			return r
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			s.t.Fatalf("the run did not get there: %s", mustJSON(r))
		}
	}
}

func ended(r run) bool {
	return strings.Contains("finished failed stopped interrupted", r.State)
}

// longPace keeps a run of the rehearsal model alive for as long as a test needs.
const longPace = 5 * time.Millisecond

func testAppWithoutCleanup(t *testing.T, cfg config) *app {
	t.Helper()
	a, err := newApp(context.Background(), cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func serveApp(t *testing.T, a *app) *httptest.Server {
	t.Helper()
	return httptest.NewServer(a.handler())
}
