package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"stagefold/internal/agent"
)

func TestRead(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{
		"a.txt":     "one\ntwo\nthree\n",
		"open.txt":  "one\ntwo",
		"empty.txt": "",
		"crlf.txt":  "one\r\ntwo\r\n",
		"bom.txt":   "\xef\xbb\xbfone\n",
		"latin.txt": "gr\xfcn\n",
		"late.txt":  strings.Repeat("x", sniffed) + "\x00\n",
		"cr.txt":    "10%\r20%\r\n",
		"tags.txt":  "<b>&\u2028\n",
	})
	for _, c := range []struct {
		input   []any
		want    string
		summary string
	}{
		{[]any{"path", "a.txt"}, "one\ntwo\nthree\n", "3 lines"},
		{[]any{"path", "open.txt"}, "one\ntwo", "2 lines"},
		{[]any{"path", "empty.txt"}, "[the file is empty]", "0 lines"},
		{[]any{"path", "empty.txt", "offset", 1, "limit", 5}, "[the file is empty]", "0 lines"},
		{[]any{"path", "a.txt", "offset", 2}, "two\nthree\n[lines 2-3 of 3]", "lines 2-3 of 3"},
		{[]any{"path", "a.txt", "limit", 1}, "one\n[lines 1-1 of 3]", "lines 1-1 of 3"},
		{[]any{"path", "a.txt", "offset", 2, "limit", 1}, "two\n[lines 2-2 of 3]", "lines 2-2 of 3"},
		{[]any{"path", "a.txt", "offset", 1, "limit", 99}, "one\ntwo\nthree\n", "3 lines"},
		{[]any{"path", "open.txt", "offset", 2}, "two\n[lines 2-2 of 2]", "lines 2-2 of 2"},
		{[]any{"path", "a.txt", "offset", nil, "limit", nil}, "one\ntwo\nthree\n", "3 lines"},
		{[]any{"path", "crlf.txt"}, "one\ntwo\n", "2 lines"},
		{[]any{"path", "bom.txt"}, "one\n", "1 line"},
		{[]any{"path", "latin.txt"}, "gr\uFFFDn\n", "1 line"},
		{[]any{"path", "cr.txt"}, "10%\r20%\n", "1 line"},
		{[]any{"path", "tags.txt"}, "<b>&\u2028\n", "1 line"},
		{[]any{"path", "late.txt", "unknown", true}, strings.Repeat("x", 2000) + " [... 6195 bytes more]\n", "1 line"},
	} {
		t.Run(fmt.Sprint(c.input...), func(t *testing.T) {
			got := call(t, s, "read_file", args(c.input...))
			if text := textOf(t, got); text != c.want || got.Summary != c.summary {
				t.Errorf("got %q, %q", text, got.Summary)
			}
			if len(got.Files) > 0 {
				t.Errorf("reading changed %v", got.Files)
			}
		})
	}
}

func TestReadLongKeepsTheWhole(t *testing.T) {
	text := numbered(1, 5000)
	s := folder(t, Limits{}, map[string]string{"long.txt": text})
	got := call(t, s, "read_file", args("path", "long.txt"))
	if want := numbered(1, 200) + "[... lines 201-4700 of 5000 left out ...]\n" + numbered(4701, 5000); textOf(t, got) != want {
		t.Errorf("shown: %.300q", textOf(t, got))
	}
	if string(got.Full) != text || got.MediaType != plainText || got.Summary != "5000 lines" {
		t.Errorf("%d bytes of %s, %s", len(got.Full), got.MediaType, got.Summary)
	}
	got = call(t, s, "read_file", args("path", "long.txt", "offset", 201, "limit", 400))
	if want := numbered(201, 600) + "[lines 201-600 of 5000]"; textOf(t, got) != want || got.Full != nil {
		t.Errorf("window: %.300q", textOf(t, got))
	}
	got = call(t, s, "read_file", args("path", "long.txt", "offset", 1001, "limit", 1000))
	if text := textOf(t, got); !strings.Contains(text, "[... lines 1201-1700 of 5000 left out ...]") || string(got.Full) != numbered(1001, 2000) {
		t.Errorf("long window: %.300q", text)
	}
}

func TestReadHugeFileIsBounded(t *testing.T) {
	s := folder(t, Limits{File: 1000}, map[string]string{"huge.txt": numbered(1, 1000), "fits.txt": strings.Repeat("x", 1000)})
	got := call(t, s, "read_file", args("path", "huge.txt"))
	if text := textOf(t, got); !strings.HasSuffix(text, "\n[the file has 8893 bytes; only the first 1000 are read]") || len(text) > 1100 {
		t.Errorf("got %q", text)
	}
	if text := said(t, s, "read_file", args("path", "fits.txt")); text != strings.Repeat("x", 1000) {
		t.Errorf("got %q", text)
	}
}

func TestReadBinary(t *testing.T) {
	data := []byte("\x89PNG\r\n\x1a\n\x00\x00\xff\xfe")
	s := folder(t, Limits{}, map[string]string{"p.png": string(data)})
	got := call(t, s, "read_file", args("path", "p.png"))
	if text := textOf(t, got); text != "[a binary file, image/png, 12 bytes; its content is not shown]" {
		t.Errorf("got %q", text)
	}
	if !bytes.Equal(got.Full, data) || got.MediaType != "image/png" || got.Summary != "binary, 12 bytes" {
		t.Errorf("full %q, %s, %s", got.Full, got.MediaType, got.Summary)
	}
}

func TestOutputsAreBounded(t *testing.T) {
	files := map[string]string{"wide.txt": strings.Repeat("match \xff\x01<&>\n", 50_000), "one.txt": strings.Repeat("match", 100_000)}
	for i := range 1500 {
		files[fmt.Sprintf("d%d/%s.txt", i%7, strings.Repeat("n", i%100+1)+fmt.Sprint(i))] = "match\n"
	}
	s := folder(t, Limits{}, files)
	for name, got := range map[string]agent.ToolResult{
		"list":   call(t, s, "list_files", args()),
		"wide":   call(t, s, "read_file", args("path", "wide.txt")),
		"one":    call(t, s, "read_file", args("path", "one.txt")),
		"search": call(t, s, "search_files", args("query", "match")),
	} {
		text := textOf(t, got)
		if len(text) > 32<<10 || !utf8.ValidString(text) || !utf8.Valid(got.Output) {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

// endless is a reader that ends only with its context.
type endless struct{ cancel func() }

func (e endless) Read(p []byte) (int, error) {
	e.cancel()
	return len(p), nil
}

func TestReadAllEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := readAll(ctx, endless{cancel}, 1, 1<<40); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReadNotAllowed(t *testing.T) {
	if os.Geteuid() == 0 {
		return // root may read everything
	}
	s := folder(t, Limits{}, map[string]string{"a.txt": "x"})
	if err := os.Chmod(filepath.Join(s.Dir(), "a.txt"), 0); err != nil {
		t.Fatal(err)
	}
	if got := call(t, s, "read_file", args("path", "a.txt")); got.Err == nil || got.Err.Code != "not_allowed" {
		t.Errorf("got %+v", got)
	}
}
