package openai

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"stagefold/internal/agent"
	. "stagefold/internal/agent/fakeprovider"
)

// describe writes an error down: its kind, whether it may be retried, its words.
func describe(err error) string {
	p, ok := agent.AsProviderError(err)
	if !ok {
		if err == nil {
			return ""
		}
		return "plain: " + err.Error()
	}
	kind := string(p.Kind)
	if p.Retryable {
		kind += ", retryable"
	}
	return kind + ": " + p.Error()
}

func TestFailedAnswers(t *testing.T) {
	const json = "application/json"
	for _, c := range []struct {
		name   string
		script Script
		want   string
		wait   time.Duration
	}{
		{"an error body inside a 200", Reply(200, json, `{"error":{"message":"model is loading"}}`), "request: model is loading", 0},
		{"the same over several lines", Reply(200, json, "{\n  \"error\": {\n    \"message\": \"model is loading\",\n    \"type\": \"server_error\"\n  }\n}\n"), "server, retryable: model is loading (server_error)", 0},
		{"an error body named a stream", Reply(200, "text/event-stream", `{"error":"no GPU"}`), "request: no GPU", 0},
		{"a page inside a 200", Reply(200, "text/html; charset=utf-8", "<html><title>Login</title></html>"), "broken: the provider answered with text/html instead of an event stream (broken_stream)", 0},
		{"words inside a 200", Reply(200, "text/plain", "upstream is down"), "broken: the provider answered with text/plain instead of an event stream: upstream is down", 0},
		{"an answer that is no stream", Reply(200, json, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`), "broken: the provider answered with application/json instead of an event stream", 0},
		{"400", Reply(400, json, `{"error":{"message":"bad field","type":"invalid_request_error","code":null}}`), "request: bad field (invalid_request_error)", 0},
		{"400 too long", Reply(400, json, `{"error":{"message":"too long","code":"context_length_exceeded"}}`), "context: too long (context_length_exceeded)", 0},
		{"401", Reply(401, json, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`), "auth: Incorrect API key provided (invalid_api_key)", 0},
		{"403 without words", Reply(403, json, ``), "auth: the provider answered 403 Forbidden (403)", 0},
		{"404", Reply(404, json, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`), "request: The model does not exist (model_not_found)", 0},
		{"404 of another server", Reply(404, "text/plain", "404 page not found"), "request: the provider answered 404 Not Found; check the base address: 404 page not found (404)", 0},
		{"408", Reply(408, json, `{}`), "server, retryable: the provider answered 408 Request Timeout (408)", 0},
		{"409", Reply(409, json, `{"error":"busy"}`), "server, retryable: busy (409)", 0},
		{"413", Reply(413, "text/plain", `too big`), "context: the provider answered 413 Request Entity Too Large: too big (413)", 0},
		{"429", Reply(429, json, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`).With("Retry-After", "7"), "overloaded, retryable: Rate limit reached (rate_limit_exceeded)", 7 * time.Second},
		{"429 in milliseconds", Reply(429, json, `{}`).With("Retry-After-Ms", "1500"), "overloaded, retryable: the provider answered 429 Too Many Requests (429)", 1500 * time.Millisecond},
		{"429 without money", Reply(429, json, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), "request: You exceeded your current quota (insufficient_quota)", 0},
		{"500", Reply(500, json, `{"error":{"message":"oops","type":"server_error"}}`), "server, retryable: oops (server_error)", 0},
		{"500 that says no", Reply(500, json, `{"error":{"message":"oops"}}`).With("X-Should-Retry", "false"), "server: oops (500)", 0},
		{"502 with a page", Reply(502, "text/html", "<html>Bad gateway</html>"), "server, retryable: the provider answered 502 Bad Gateway (502)", 0},
		{"503 loading", Reply(503, json, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`).With("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), "server, retryable: Loading model (unavailable_error)", 0},
		{"529", Reply(529, json, `{"error":{"message":"Overloaded","type":"overloaded_error"}}`).With("Retry-After", "nonsense"), "overloaded, retryable: Overloaded (overloaded_error)", 0},
		{"a redirect is not followed", Reply(307, "text/plain", "").With("Location", "https://elsewhere.example/"), "request: the provider answered 307 Temporary Redirect; check the base address (307)", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Start(t, c.script)
			chunks, err := ask(connect(t, s), hello())
			if got := tell(chunks); got != "" {
				t.Errorf("answer: %s", got)
			}
			if got := describe(err); !strings.HasPrefix(got, c.want) {
				t.Errorf("error  %s\nwant   %s", got, c.want)
			}
			if p, ok := agent.AsProviderError(err); ok && p.RetryAfter != c.wait {
				t.Errorf("wait %s, want %s", p.RetryAfter, c.wait)
			}
			if s.Calls() != 1 {
				t.Errorf("%d requests, want 1: the adapter never retries", s.Calls())
			}
		})
	}
}

func TestBrokenConnections(t *testing.T) {
	for _, c := range []struct {
		name, want string
		steps      []Step
	}{
		{"reset in the middle", `text "Half"`, []Step{T("Half"), RST()}},
		{"dropped in the middle", `text "Half"`, []Step{T("Half"), Drop()}},
		{"dropped inside a frame", `text "Half"`, []Step{T("Half"), Bytes(`data: {"choi`), Drop()}},
		{"reset before anything", ``, []Step{RST()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Start(t, Play(c.steps...))
			chunks, err := ask(connect(t, s), hello())
			if got := tell(chunks); got != c.want {
				t.Errorf("answer %s, want %s", got, c.want)
			}
			if got := describe(err); !strings.HasPrefix(got, "broken, retryable: ") {
				t.Errorf("error %s", got)
			}
			s.Idle()
		})
	}
	t.Run("reset after the finish reason", func(t *testing.T) {
		s := Start(t, Play(T("Done."), F("stop"), RST()))
		chunks, err := ask(connect(t, s), hello())
		if got, want := tell(chunks), "text \"Done.\"\nfinish stop in=0 out=0"; got != want || err != nil {
			t.Errorf("answer %s, %v", got, err)
		}
	})
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	m := New(Options{BaseURL: "http://sk-user-name-1:pw-2277@" + address + "/v1?key=qk-5511", APIKey: "sk-test-7Qzz9", HTTPClient: client(t)})
	_, err = ask(m, hello())
	want := "connect, retryable: no connection to the provider at http://" + address + "/v1: "
	if got := describe(err); !strings.HasPrefix(got, want) || !strings.Contains(got, "refused") {
		t.Errorf("error %s, want %s", got, want)
	}
	for _, secret := range []string{"sk-user", "pw-2277", "qk-5511", "sk-test"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %s: %v", secret, err)
		}
	}
}

func TestBadBaseAddress(t *testing.T) {
	for _, base := range []string{"ht!tp://sk-secret@x", "localhost:8080/v1", "ftp://sk-secret/v1", "http://[::1"} {
		_, err := ask(New(Options{BaseURL: base, APIKey: "sk-secret"}), hello())
		if got := describe(err); got != "request: the provider's base address is not an http or https address (base_address)" {
			t.Errorf("%s: %s", base, got)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	const key = "sk-test-7Qzz9"
	body := `{"error":{"message":"Incorrect key: sk-test-7Qzz9 (qk-5511, pw%2F22, cHdVc2VyOnB3LzIy)","code":"bad sk-test-7Qzz9"}}`
	for _, script := range []Script{
		Reply(401, "application/json", body),
		Reply(200, "application/json", body),
		Reply(500, "text/plain", "key sk-test-7Qzz9 and pw/22"),
		Play(Raw("data: " + body)),
		Play(T("x"), Raw("event: error\ndata: sk-test-7Qzz9")),
	} {
		s := Start(t, script)
		base := strings.Replace(s.OpenAI(), "http://", "http://pwUser:pw%2F22@", 1) + "?key=qk-5511"
		_, err := ask(New(Options{BaseURL: base, APIKey: key, HTTPClient: client(t)}), hello())
		p, ok := agent.AsProviderError(err)
		if !ok || !strings.Contains(p.Message, "***") {
			t.Errorf("error %v", err)
			continue
		}
		for _, secret := range []string{key, "qk-5511", "pw/22", "pw%2F22", "cHdVc2VyOnB3LzIy"} {
			if strings.Contains(p.Message+p.Code, secret) {
				t.Errorf("the error holds %s: %v", secret, err)
			}
		}
		r := s.Requests()[0]
		if r.Query != "key=qk-5511" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("query %q, authorization %q", r.Query, r.Header.Get("Authorization"))
		}
	}
}

func TestUserInfoWithoutKey(t *testing.T) {
	s := Start(t, Play(F("stop"), D()))
	base := strings.Replace(s.OpenAI(), "http://", "http://me:pw22@", 1)
	if _, err := ask(New(Options{BaseURL: base, HTTPClient: client(t)}), hello()); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Header.Get("Authorization"); got != "Basic bWU6cHcyMg==" {
		t.Errorf("authorization %q", got)
	}
}

func TestSilence(t *testing.T) {
	for _, steps := range [][]Step{{Hold(nil)}, {T("Half"), Hold(nil)}, {Bytes(": alive\n\n"), Bytes("data: {"), Hold(nil)}} {
		s := Start(t, Play(steps...))
		m := New(Options{BaseURL: s.OpenAI(), HTTPClient: client(t), Silence: 50 * time.Millisecond})
		_, err := ask(m, hello())
		if got, want := describe(err), "silence: the provider sent nothing for 50ms (silence)"; got != want {
			t.Errorf("error %s, want %s", got, want)
		}
		s.Idle()
	}
}

// A server that neither says DONE nor closes does not hold an answer back.
func TestSilenceAfterTheFinishReason(t *testing.T) {
	s := Start(t, Play(T("Done."), F("stop"), Hold(nil)))
	m := New(Options{BaseURL: s.OpenAI(), HTTPClient: client(t), Silence: 50 * time.Millisecond})
	chunks, err := ask(m, hello())
	if got, want := tell(chunks), "text \"Done.\"\nfinish stop in=0 out=0"; got != want || err != nil {
		t.Errorf("answer %s, %v", got, err)
	}
	s.Idle()
}

func TestSilenceBeforeTheHead(t *testing.T) {
	gone := make(chan struct{})
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		close(gone)
		return nil, context.Cause(r.Context())
	})
	m := New(Options{BaseURL: "http://provider.test/v1", HTTPClient: &http.Client{Transport: transport}, Silence: time.Millisecond})
	_, err := ask(m, hello())
	<-gone
	if got := describe(err); got != "silence: the provider sent nothing for 1ms (silence)" {
		t.Errorf("error %s", got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCancelClosesTheConnection(t *testing.T) {
	for _, steps := range [][]Step{{Hold(nil)}, {T("Half"), Hold(nil)}} {
		s := Start(t, Play(steps...))
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() {
			s.Wait(1)
			cancel(errors.New("the user stopped"))
		}()
		var last error
		for _, err := range connect(t, s).Stream(ctx, hello()) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("error %v", last)
		}
		s.Idle()
	}
}

func TestBreakClosesTheConnection(t *testing.T) {
	s := Start(t, Play(T("Half"), Hold(nil)))
	for c, err := range connect(t, s).Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == agent.ChunkText {
			break
		}
	}
	s.Idle()
}

// Bytes that say nothing reset the silence limit of whoever listens.
func TestSignsOfLife(t *testing.T) {
	s := Start(t, Play(Bytes(": one\n\n"), Empty(), T("x"), F("stop"), D()))
	chunks, err := ask(connect(t, s), hello())
	if err != nil {
		t.Fatal(err)
	}
	alive := 0
	for _, c := range chunks {
		if c.Kind == agent.ChunkAlive {
			alive++
		}
	}
	if alive < 2 {
		t.Errorf("%d signs of life, want one for the comment and one for the empty chunk", alive)
	}
}
