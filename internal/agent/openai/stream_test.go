package openai

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	. "stagefold/internal/agent/fakeprovider"
	"stagefold/internal/agent/provider"
)

// check asks the model and compares.
func (a answer) check(t *testing.T, got string, err error) {
	t.Helper()
	if want := strings.TrimPrefix(a.want, "\n"); got != want {
		t.Errorf("answer:\n%s\nwant:\n%s", got, want)
	}
	switch {
	case a.fails == "" && err != nil:
		t.Errorf("failed: %v", err)
	case a.fails != "" && !strings.Contains(describe(err), a.fails):
		t.Errorf("failed with %q, want %q", describe(err), a.fails)
	}
}

func TestAnswers(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			s := Start(t, Play(a.steps...))
			chunks, err := ask(connect(t, s), hello())
			a.check(t, tell(chunks), err)
			if s.Calls() != 1 {
				t.Errorf("%d requests, want 1", s.Calls())
			}
		})
	}
}

// The result does not depend on how the bytes are cut: the SDK sees the same
// frames for every cut in two and for single bytes, and the answer of the latter
// is right.
func TestEverySplit(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			wire := Wire(a.steps...)
			r := &Replay{Pieces: EachByte(wire)}
			chunks, err := ask(replay(r), hello())
			a.check(t, tell(chunks), err)
			if r.Open() != 0 {
				t.Error("the answer was not closed")
			}
			want := repaired(t, EachByte(wire))
			for at := range wire {
				if got := repaired(t, Split(wire, at)); got != want {
					t.Fatalf("cut at %d the SDK sees\n%s\nbyte by byte\n%s", at, got, want)
				}
			}
		})
	}
}

// repaired is what the SDK sees of an answer in pieces, without signs of life,
// and how it ends.
func repaired(t *testing.T, pieces [][]byte) string {
	t.Helper()
	call, err := provider.NewEndpoint("http://provider.test", "", nil, 0).Begin(t.Context(), rewrite)
	if err != nil {
		t.Fatal(err)
	}
	defer call.End()
	req, _ := http.NewRequest(http.MethodPost, "http://provider.test", nil)
	res, err := call.Do(req, (&Replay{Pieces: pieces}).RoundTrip)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return strings.ReplaceAll(string(body), "data: "+string(alive.Data)+"\n\n", "") + fmt.Sprint(err)
}

// A server that flushes after every byte, and between CR and LF.
func TestAnswersInPieces(t *testing.T) {
	for _, a := range answers {
		if !strings.Contains(a.name, "letters") && !strings.Contains(a.name, "interleaved") && !strings.Contains(a.name, "think tag in pieces") {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			s := Start(t, Play(a.steps...), Play(a.steps...))
			s.Cut = EachByte
			m := connect(t, s)
			chunks, err := ask(m, hello())
			a.check(t, tell(chunks), err)
			s.CRLF = true
			chunks, err = ask(m, hello())
			a.check(t, tell(chunks), err)
		})
	}
}
