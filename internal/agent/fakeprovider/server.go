package fakeprovider

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait of a test for the server, in case nothing comes.
const patience = 20 * time.Second

// Request is one recorded request.
type Request struct {
	Path   string
	Query  string
	Header http.Header
	Body   []byte
}

// Server is the model server. Set its fields before the first call.
type Server struct {
	URL string
	// Repeat plays the last script again when there is no further one.
	Repeat bool
	// Choose, if set, finds a call's script in place of the order. It must not
	// call the server.
	Choose func(Request) Script
	// Cut, if set, cuts each frame; every piece is flushed by itself.
	Cut func([]byte) [][]byte
	// CRLF ends the lines of a stream with CR LF, cut between the two.
	CRLF bool
	// Models are listed at /v1/models; nil answers 404 there.
	Models []string

	tb      testing.TB
	http    *httptest.Server
	quit    chan struct{}
	mu      sync.Mutex
	changed *sync.Cond
	scripts []Script
	calls   []Request
	refused []string
	open    int
	signed  map[string]string // thinking by its signature, as the scripts sign it
}

// EachByte cuts after every byte.
func EachByte(b []byte) [][]byte {
	return slices.Collect(slices.Chunk(b, 1))
}

// Start starts a server that lives as long as the test.
func Start(tb testing.TB, scripts ...Script) *Server {
	tb.Helper()
	s := &Server{tb: tb, quit: make(chan struct{}), scripts: scripts, signed: map[string]string{}}
	s.changed = sync.NewCond(&s.mu)
	for _, script := range scripts {
		maps.Copy(s.signed, signatures(script.Steps))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.call(w, r, s.checkOpenAI) })
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { s.call(w, r, s.checkAnthropic) })
	mux.HandleFunc("GET /v1/models", s.list)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	tb.Cleanup(func() {
		close(s.quit)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// OpenAI is the base address for OpenAI-compatible clients.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic is the base address for Anthropic clients.
func (s *Server) Anthropic() string { return s.URL }

// Requests are the model calls so far, refused ones included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Calls is the number of model calls so far.
func (s *Server) Calls() int { return len(s.Requests()) }

// Refused are the messages of the calls that were answered 400.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// Open is the number of model calls that are being answered.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Wait waits until n model calls have come.
func (s *Server) Wait(n int) { s.tb.Helper(); s.await(func() bool { return len(s.calls) >= n }) }

// Idle waits until no model call is open: every client has gone.
func (s *Server) Idle() { s.tb.Helper(); s.await(func() bool { return s.open == 0 }) }

func (s *Server) await(met func() bool) {
	s.tb.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		late = true
		s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !met() {
		if late {
			s.tb.Fatalf("waited %s: %d calls came, %d are open", patience, len(s.calls), s.open)
		}
		s.changed.Wait()
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if s.Models == nil {
		http.NotFound(w, r)
		return
	}
	var items []string
	for _, id := range s.Models {
		items = append(items, `{"id":`+toJSON(id)+`,"object":"model","type":"model"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"object":"list","data":[%s],"has_more":false}`, strings.Join(items, ","))
}

func (s *Server) call(w http.ResponseWriter, r *http.Request, check func([]byte) refusal) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	refused := check(body)
	script, ok := s.begin(Request{Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}, refused.message)
	defer s.end()
	switch {
	case refused.message != "":
		answer(w, http.StatusBadRequest, refused.body())
	case !ok:
		answer(w, http.StatusBadRequest, `{"type":"error","error":{"type":"no_script","message":"there is no script for this call"}}`)
	default:
		s.play(w, r, script)
	}
}

// begin records a call and finds its script.
func (s *Server) begin(r Request, refused string) (Script, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, r)
	s.open++
	s.changed.Broadcast()
	if refused != "" {
		s.refused = append(s.refused, refused)
		return Script{}, false
	}
	if s.Choose != nil {
		return s.Choose(r), true
	}
	n := len(s.calls) - len(s.refused) - 1
	if n >= len(s.scripts) && s.Repeat {
		n = len(s.scripts) - 1
	}
	if n < 0 || n >= len(s.scripts) {
		return Script{}, false
	}
	return s.scripts[n], true
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.changed.Broadcast()
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func (s *Server) play(w http.ResponseWriter, r *http.Request, script Script) {
	w.Header().Set("Content-Type", "text/event-stream")
	for name, values := range script.Header {
		w.Header()[name] = values
	}
	if script.Status != 0 {
		w.WriteHeader(script.Status)
	}
	if len(script.Steps) == 0 {
		io.WriteString(w, script.Body)
		return
	}
	flusher := http.NewResponseController(w)
	flusher.Flush()
	for _, m := range moves(script.Steps) {
		switch m.kind {
		case frameKind:
			s.write(w, flusher, []byte(m.text))
		case flushKind:
			flusher.Flush()
		case holdKind:
			flusher.Flush()
			select {
			case <-m.hold:
			case <-r.Context().Done():
				return
			case <-s.quit:
				return
			}
		case eofKind:
			return
		case dropKind, rstKind:
			flusher.Flush()
			cut(flusher, m.kind == rstKind)
			return
		}
	}
}

func (s *Server) write(w io.Writer, flusher *http.ResponseController, frame []byte) {
	pieces := [][]byte{frame}
	switch {
	case s.CRLF:
		pieces = nil
		for line := range bytes.Lines(frame) {
			text, ended := bytes.CutSuffix(line, []byte("\n"))
			if ended {
				pieces = append(pieces, append(bytes.Clone(text), '\r'), []byte("\n"))
			} else {
				pieces = append(pieces, text)
			}
		}
	case s.Cut != nil:
		pieces = s.Cut(frame)
	}
	for _, p := range pieces {
		w.Write(p)
		flusher.Flush()
	}
}

// cut ends the connection in the middle of the answer.
func cut(flusher *http.ResponseController, reset bool) {
	conn, _, err := flusher.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}
