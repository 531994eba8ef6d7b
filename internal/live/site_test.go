package live

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"stagefold/internal/fold"
	"stagefold/internal/planning"
	"stagefold/static"
	"stagefold/views"
)

// policy is the content security policy of the product: no unsafe-eval, no
// inline script without the nonce.
const policy = "default-src 'self'; script-src 'nonce-testnonce'; object-src 'none'; base-uri 'none'"

// site is the chat page of a chatLog, as the product serves it.
type site struct {
	*chatLog
	srv *httptest.Server

	down    atomic.Bool // the stream answers 503
	streams atomic.Int32
	opened  atomic.Int32

	mu     sync.Mutex
	cuts   []context.CancelFunc // of the open streams
	posts  []string             // id and text of each POST
	refuse int                  // status of the next POSTs; 0 accepts
}

func newSite(t testing.TB) *site {
	s := &site{chatLog: newChatLog()}
	newHub(t, s.chatLog)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /chats/chat", s.page)
	mux.HandleFunc("GET /chats/chat/stream", s.stream)
	mux.HandleFunc("GET /chats/chat/state", s.short)
	mux.HandleFunc("POST /chats/chat/messages", s.message)
	mux.HandleFunc("GET /runs/{run}/stages/{key}", s.stage)
	mux.Handle("/static/", static.Handler())
	s.srv = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.cut()
		s.hub.Shutdown(context.Background())
		s.srv.Close()
	})
	return s
}

func (s *site) url() string { return s.srv.URL + "/chats/chat" }

func (s *site) runView(run string) (views.RunView, bool) {
	entries, _ := s.entries(context.Background(), run, 0)
	return views.RunView{Snap: fold.Fold(entries), Now: testTime, Render: s.hub.cfg.Render}, len(entries) > 0
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	chat, _ := s.state(r.Context(), "chat")
	v := views.ChatPageView{Chat: chat, MessageID: "server-made", Page: views.PageView{Nonce: "testnonce", Nav: "chats", CSS: static.CSS(), Client: static.URL("client.js"), App: static.URL("app.js")},
		Modes: []planning.Mode{planning.Metronome}}
	for _, id := range chat.RunIDs {
		if run, ok := s.runView(id); ok {
			v.Runs = append(v.Runs, run)
		}
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = views.ChatPage(v).Render(r.Context(), w)
}

func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	s.opened.Add(1)
	if s.down.Load() {
		http.Error(w, "closing", http.StatusServiceUnavailable)
		return
	}
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	s.mu.Lock()
	s.cuts = append(s.cuts, cut)
	s.mu.Unlock()
	seq, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	viewer, err := s.hub.Subscribe(ctx, "chat", Cursor{RunID: r.URL.Query().Get("run"), Seq: seq})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer viewer.Close()
	s.streams.Add(1)
	defer s.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Encoding", "gzip")
	rc := http.NewResponseController(w)
	_, _ = w.Write(GzipHeader)
	_ = rc.Flush()
	for {
		frames, err := viewer.Next(ctx)
		if err != nil {
			if r.Context().Err() == nil {
				_, _ = w.Write(viewer.GzipTrailer())
			}
			return
		}
		for _, f := range frames {
			if _, err := w.Write(f.Deflate); err != nil {
				return
			}
		}
		_ = rc.Flush()
	}
}

// cut ends every open stream cleanly.
func (s *site) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cut := range s.cuts {
		cut()
	}
	s.cuts = nil
}

func (s *site) short(w http.ResponseWriter, r *http.Request) {
	chat, err := s.state(r.Context(), "chat")
	if err != nil || len(chat.RunIDs) == 0 {
		http.Error(w, "no run", http.StatusServiceUnavailable)
		return
	}
	run := chat.RunIDs[len(chat.RunIDs)-1]
	v, _ := s.runView(run)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"title":"A chat","state":%q,"runId":%q,"seq":%d,"waiting":%d}`, v.Snap.State, run, s.last(run), len(v.Snap.Waiting))
}

func (s *site) message(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts = append(s.posts, r.FormValue("id")+" "+r.FormValue("text"))
	switch s.refuse {
	case 0:
		w.WriteHeader(http.StatusNoContent)
	case http.StatusServiceUnavailable:
		w.WriteHeader(s.refuse)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.refuse)
		fmt.Fprint(w, `{"error":{"code":"too_long","message":"The message is too long.","hint":"Shorten it."}}`)
	}
}

func (s *site) answerWith(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
}

func (s *site) posted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posts)
}

func (s *site) stage(w http.ResponseWriter, r *http.Request) {
	run, _ := s.runView(r.PathValue("run"))
	for _, row := range run.Snap.Rows.All() {
		v := views.RowView{Run: run, Row: row, Body: true}
		if v.Key() == r.PathValue("key") {
			_ = views.RowBody(v).Render(r.Context(), w)
			return
		}
	}
	http.Error(w, "no such stage", http.StatusNotFound)
}

// scripted is a page of its own with a stream that a test writes.
type scripted struct {
	srv  *httptest.Server
	send chan []byte
}

func newScripted(t testing.TB, body string) *scripted {
	s := &scripted{send: make(chan []byte)}
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html data-nonce="testnonce" data-connection="live"><title>the title</title>`+
			`<script type="module" src="%s" nonce="testnonce"></script><body>%s<div id="stream" data-init="@get('/stream')"></div></body></html>`, static.URL("client.js"), body)
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		for {
			select {
			case b := <-s.send:
				if _, err := w.Write(b); err != nil {
					return
				}
				_ = rc.Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		r.Form.Del("id")
		e := NewEncoder()
		e.Elements(Elements{HTML: `<p id="echo">` + r.Method + " " + r.Form.Encode() + " " + r.Header.Get("Datastar-Request") + `</p>`})
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(e.Bytes())
	})
	mux.Handle("/static/", static.Handler())
	s.srv = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.srv.CloseClientConnections()
		s.srv.Close()
	})
	return s
}

// patch sends elements; mode and selector may be empty.
func (s *scripted) patch(mode, selector, elements string) {
	e := NewEncoder()
	e.Elements(Elements{Mode: mode, Selector: selector, HTML: elements})
	s.send <- e.Bytes()
}

func (s *scripted) signals(v any) {
	e := NewEncoder()
	e.Signals(asJSON(v), "")
	s.send <- e.Bytes()
}

func lines(n int, f func(i int) string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(f(i))
	}
	return out.String()
}
