package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// parse is what the parser makes of the pieces, one line a frame.
func parse(pieces ...string) (string, *frames) {
	var f frames
	for _, p := range pieces {
		f.push([]byte(p))
	}
	f.flush()
	var out []string
	for _, r := range f.ready {
		out = append(out, r.Event+"|"+string(r.Data))
	}
	return strings.Join(out, "\n"), &f
}

var streams = []struct{ name, in, want string }{
	{"frames", "data: a\n\ndata: b\n\n", "|a\n|b"},
	{"event names", "event: x\ndata: a\n\ndata: b\n\n", "x|a\n|b"},
	{"CR LF", "event: x\r\ndata: a\r\n\r\n", "x|a"},
	{"CR", "event: x\rdata: a\r\r", "x|a"},
	{"mixed ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", "|a\n|b\n|c"},
	{"no space", "data:a\n\ndata:  b\n\n", "|a\n| b"},
	{"several data lines", "data: a\ndata\ndata: b\n\n", "|a\n\nb"},
	{"a comment is a frame without data", ": hi\ndata: a\n\n:\n\n", "|\n|a\n|"},
	{"unknown fields", "id: 1\nretry: 5\nfoo: bar\nbar\ndata: a\n\n", "|a"},
	{"no blank line at the end", "data: a\n\ndata: b", "|a\n|b"},
	{"only an event", "event: x\n\ndata: a\n\n", "|a"},
	{"blank data", "data:\n\ndata: \n\n", ""},
	{"a byte order mark", "\ufeffdata: a\n\n", "|a"},
	{"an error without field", "data: a\n\n{\"error\":\"x\"}\n", "|a\nerror|{\"error\":\"x\"}"},
	{"JSON without field", "{\"ok\":true}\ndata: a\n\n", "|a"},
}

func TestFrames(t *testing.T) {
	for _, c := range streams {
		if got, _ := parse(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for at := range c.in {
			if got, _ := parse(c.in[:at], c.in[at:]); got != c.want {
				t.Errorf("%s cut at %d: %q, want %q", c.name, at, got, c.want)
			}
		}
	}
}

func FuzzFrames(f *testing.F) {
	for _, c := range streams {
		f.Add(c.in, 3)
	}
	f.Fuzz(func(t *testing.T, in string, at int) {
		whole, wf := parse(in)
		at = max(at, 0) % (len(in) + 1)
		cut, cf := parse(in[:at], in[at:])
		if cut != whole || cf.seen != wf.seen || !bytes.Equal(cf.stray, wf.stray) {
			t.Fatalf("%q cut at %d: %q, at once %q", in, at, cut, whole)
		}
		letters, _ := parse(strings.Split(in, "")...)
		if letters != whole {
			t.Fatalf("%q in letters: %q, at once %q", in, letters, whole)
		}
	})
}

func TestFrameTooLong(t *testing.T) {
	var f frames
	line := bytes.Repeat([]byte("x"), 1<<20)
	for range 16 {
		if err := f.push(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.push(line); !errors.Is(err, errFrameTooLong) {
		t.Errorf("17 MiB: %v", err)
	}
}

func response(body io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body)}
}

func quiet() *watch {
	_, cancel := context.WithCancelCause(context.Background())
	return newWatch(time.Hour, cancel)
}

// plain lets every frame pass and drops comments.
func plain(f Frame) (Frame, error) { return f, nil }

func TestBodyIsRepaired(t *testing.T) {
	const in = ": hi\r\nevent: x\r\ndata: a\rdata:b\n\n\ndata: c"
	const want = "event: x\ndata: a\ndata: b\n\ndata: c\n\n"
	for name, reader := range map[string]io.Reader{
		"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)), "data with the end": iotest.DataErrReader(strings.NewReader(in)),
	} {
		got, err := io.ReadAll(iotest.OneByteReader(newBody(response(reader), quiet(), plain)))
		if string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestBodyErrorsComeAfterTheFrames(t *testing.T) {
	broken := errors.New("reset")
	in := io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken))
	got, err := io.ReadAll(newBody(response(in), quiet(), plain))
	if string(got) != "data: a\n\n" || !errors.Is(err, broken) {
		t.Errorf("%q, %v: half a frame before a broken connection is none", got, err)
	}
}

// The limit counts from byte to byte and only while somebody waits.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		in, out := io.Pipe()
		b := newBody(response(in), newWatch(10*time.Second, cancel), plain)
		go func() {
			for range 5 {
				time.Sleep(9 * time.Second)
				out.Write([]byte("data: a\n\n"))
			}
			<-ctx.Done()
			out.CloseWithError(ctx.Err())
		}()
		buf := make([]byte, 64)
		for i := range 5 {
			if _, err := b.Read(buf); err != nil {
				t.Fatalf("read %d: %v", i, err)
			}
			if i == 2 {
				time.Sleep(time.Minute) // a slow reader is not a silent provider
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("cancelled too early: %v", context.Cause(ctx))
		}
		begin := time.Now()
		if _, err := b.Read(buf); err == nil {
			t.Fatal("read on after silence")
		}
		if took := time.Since(begin); took != 10*time.Second || context.Cause(ctx) != errSilence {
			t.Errorf("after %s: %v", took, context.Cause(ctx))
		}
	})
}
