package fakeprovider

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func post(t *testing.T, address, body string) (*http.Response, error) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return (&http.Client{Transport: transport}).Post(address, "application/json", strings.NewReader(body))
}

func read(t *testing.T, res *http.Response) (string, error) {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

const (
	chat    = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	message = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
)

func TestOpenAIWire(t *testing.T) {
	const head = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"fake","choices":`
	want := head + `[{"index":0,"delta":{"content":"a<b"},"finish_reason":null}]}` + "\n\n" +
		head + `[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c","index":0,"type":"function"},{"function":{"arguments":"x"}}]},"finish_reason":null}]}` + "\n\n" +
		head + `[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		head + `[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}` + "\n\n" +
		"data: [DONE]\n\n"
	got := string(Wire(T("a<b"), Together(Call(0, "c", "f", "{}"), Call(No, "-", "-", "x")), F("stop"), U(12, 5), D()))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wire (-want +got):\n%s", diff)
	}
}

// The start of the message and the stops of blocks are added where the script
// leaves them out, and only there.
func TestAnthropicWire(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []Step
		want  string
	}{
		{"left out", []Step{AText(0, "x"), ATool(1, "t", "f"), AJson(1, "{}"), AEnd("tool_use")},
			"message_start start0 delta0 stop0 start1 delta1 stop1 message_delta message_stop"},
		{"spelled out", []Step{AStart(1, 2, 3), AText(0, "x"), AStop(0), APing(), AEnd("end_turn")},
			"message_start start0 delta0 stop0 ping message_delta message_stop"},
		{"interleaved", []Step{AText(0, "x"), AText(1, "y"), AText(0, "z"), AStop(1), AEnd("end_turn")},
			"message_start start0 delta0 start1 delta1 delta0 stop1 stop0 message_delta message_stop"},
		{"nothing", []Step{AEnd("end_turn")}, "message_start message_delta message_stop"},
		{"cut", []Step{AThink(0, "x", "sig")}, "message_start start0 delta0 delta0"},
		{"error", []Step{AErr("overloaded_error", "no")}, "error"},
	} {
		var got []string
		for line := range strings.Lines(string(Wire(c.steps...))) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			kind := strings.Split(data, `"`)[3]
			if _, rest, ok := strings.Cut(data, `"index":`); ok {
				kind = strings.TrimPrefix(kind, "content_block_") + rest[:1]
			}
			got = append(got, kind)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestScriptsArePlayedInOrder(t *testing.T) {
	s := Start(t, Play(T("one")), Reply(503, "text/plain", "busy").With("Retry-After", "3"), Play(AText(0, "three")))
	for i, want := range []string{`"content":"one"`, "busy", `"text":"three"`, "there is no script"} {
		address, body := s.OpenAI()+"/chat/completions", chat
		if i == 2 {
			address, body = s.Anthropic()+"/v1/messages", message
		}
		res, err := post(t, address, body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, res); !strings.Contains(got, want) || err != nil {
			t.Errorf("call %d: %q, %v", i+1, got, err)
		}
		if i == 1 && (res.StatusCode != 503 || res.Header.Get("Retry-After") != "3") {
			t.Errorf("status %d, headers %v", res.StatusCode, res.Header)
		}
	}
	if s.Calls() != 4 || string(s.Requests()[2].Body) != message {
		t.Errorf("%d calls", s.Calls())
	}
}

func TestRepeat(t *testing.T) {
	s := Start(t, Play(T("one")), Play(T("two")))
	s.Repeat = true
	for i, want := range []string{"one", "two", "two"} {
		res, err := post(t, s.OpenAI()+"/chat/completions", chat)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := read(t, res); !strings.Contains(got, want) {
			t.Errorf("call %d: %s", i+1, got)
		}
	}
}

func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  Step
		want error
	}{
		"EOF": {EOF(), nil}, "Drop": {Drop(), io.ErrUnexpectedEOF}, "RST": {RST(), syscall.ECONNRESET},
	} {
		s := Start(t, Play(T("one"), c.end, T("two")))
		res, err := post(t, s.OpenAI()+"/chat/completions", chat)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, res)
		if !strings.Contains(got, "one") || strings.Contains(got, "two") || !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestHold(t *testing.T) {
	until := make(chan struct{})
	s := Start(t, Play(T("one"), Hold(until), T("two")), Play(T("one"), Hold(nil)))
	res, err := post(t, s.OpenAI()+"/chat/completions", chat)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(res.Body)
	if line, _ := r.ReadString('\n'); !strings.Contains(line, "one") || s.Open() != 1 {
		t.Errorf("first line %q, %d open", line, s.Open())
	}
	close(until)
	if rest, _ := io.ReadAll(r); !strings.Contains(string(rest), "two") {
		t.Errorf("rest %q", rest)
	}
	res.Body.Close()
	s.Idle()

	res, err = post(t, s.OpenAI()+"/chat/completions", chat)
	if err != nil {
		t.Fatal(err)
	}
	s.Wait(2)
	res.Body.Close() // the client goes
	s.Idle()
}

func TestCuts(t *testing.T) {
	s := Start(t, Play(T("é"), D()), Play(T("é"), D()))
	s.Cut = EachByte
	res, _ := post(t, s.OpenAI()+"/chat/completions", chat)
	if got, _ := read(t, res); got != string(Wire(T("é"), D())) {
		t.Errorf("byte by byte: %q", got)
	}
	s.CRLF = true
	res, _ = post(t, s.OpenAI()+"/chat/completions", chat)
	if got, _ := read(t, res); got != strings.ReplaceAll(string(Wire(T("é"), D())), "\n", "\r\n") {
		t.Errorf("CR LF: %q", got)
	}
	if got := Split([]byte("abcdef"), 0, 2, 2, 6); len(got) != 2 || string(got[0]) != "ab" || string(got[1]) != "cdef" {
		t.Errorf("split: %q", got)
	}
}
