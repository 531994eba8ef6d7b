package anthropic

import (
	"context"
	"errors"
	"net"
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
		{"an error body inside a 200", Reply(200, json, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "overloaded, retryable: Overloaded (overloaded_error)", 0},
		{"an answer that is no stream", Reply(200, json, `{"type":"message","content":[]}`), "broken: the provider answered with application/json instead of an event stream", 0},
		{"400", Reply(400, json, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}}`), "request: max_tokens: Field required (invalid_request_error)", 0},
		{"400 too long", Reply(400, json, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}`), "context: prompt is too long", 0},
		{"400 without money", Reply(400, json, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`), "request: Your credit balance is too low", 0},
		{"401", Reply(401, json, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`), "auth: invalid x-api-key (authentication_error)", 0},
		{"403", Reply(403, json, `{"type":"error","error":{"type":"permission_error","message":"no"}}`), "auth: no (permission_error)", 0},
		{"413", Reply(413, json, `{"type":"error","error":{"type":"request_too_large","message":"too large"}}`), "context: too large (request_too_large)", 0},
		{"429", Reply(429, json, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`).With("Retry-After", "7"), "overloaded, retryable: slow down (rate_limit_error)", 7 * time.Second},
		{"500", Reply(500, json, `{"type":"error","error":{"type":"api_error","message":"oops"}}`), "server, retryable: oops (api_error)", 0},
		{"529", Reply(529, json, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "overloaded, retryable: Overloaded (overloaded_error)", 0},
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
		{"reset in the middle", `text "Half"`, []Step{AText(0, "Half"), RST()}},
		{"dropped in the middle", `text "Half"`, []Step{AText(0, "Half"), Drop()}},
		{"dropped inside a frame", `text "Half"`, []Step{AText(0, "Half"), Bytes(`data: {"ty`), Drop()}},
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
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	m := New(Options{BaseURL: "http://sk-user-name-1:pw-2277@" + address + "?key=qk-5511", APIKey: "sk-test-7Qzz9", HTTPClient: client(t)})
	_, err = ask(m, hello())
	want := "connect, retryable: no connection to the provider at http://" + address + ": "
	if got := describe(err); !strings.HasPrefix(got, want) || !strings.Contains(got, "refused") {
		t.Errorf("error %s, want %s", got, want)
	}
	for _, secret := range []string{"sk-user", "pw-2277", "qk-5511", "sk-test"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %s: %v", secret, err)
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
		Play(AText(0, "x"), Raw("event: error\ndata: sk-test-7Qzz9")),
	} {
		s := Start(t, script)
		base := strings.Replace(s.Anthropic(), "http://", "http://pwUser:pw%2F22@", 1) + "?key=qk-5511"
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
		if r.Query != "key=qk-5511" || r.Header.Get("X-Api-Key") != key {
			t.Errorf("query %q, key %q", r.Query, r.Header.Get("X-Api-Key"))
		}
	}
}

func TestSilence(t *testing.T) {
	for _, steps := range [][]Step{{Hold(nil)}, {AText(0, "Half"), Hold(nil)}, {Bytes(": alive\n\n"), Bytes("data: {"), Hold(nil)}} {
		s := Start(t, Play(steps...))
		m := New(Options{BaseURL: s.Anthropic(), HTTPClient: client(t), Silence: 50 * time.Millisecond})
		_, err := ask(m, hello())
		if got, want := describe(err), "silence: the provider sent nothing for 50ms (silence)"; got != want {
			t.Errorf("error %s, want %s", got, want)
		}
		s.Idle()
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	for _, steps := range [][]Step{{Hold(nil)}, {AText(0, "Half"), Hold(nil)}} {
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
	s := Start(t, Play(AText(0, "Half"), Hold(nil)))
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
	s := Start(t, Play(Bytes(": one\n\n"), APing(), AText(0, "x"), AEnd("end_turn")))
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
		t.Errorf("%d signs of life, want one for the comment and one for the ping", alive)
	}
}
