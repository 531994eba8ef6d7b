package tools

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSearch(t *testing.T) {
	s := folder(t, Limits{Searched: 10_000}, map[string]string{
		"a.txt":          "Alpha\nbeta alpha\n\n",
		"b/c.txt":        "x\r\n  alpha.beta  \r\n",
		"b/d.bin":        "alpha\x00",
		".git/x":         "alpha\n",
		"node_modules/x": "alpha\n",
		"umlaut.txt":     "ÄPFEL und äpfel\n",
		"bad.txt":        "\xffmark\xfe\n",
		"wide.txt":       strings.Repeat("w", 400) + "end\n",
		"big.txt":        strings.Repeat("alpha\n", 2000),
		"two\nlines":     "needle\n",
	})
	tail := "; 6 files searched, 1 too large or not readable]"
	for _, c := range []struct {
		query, path, want string
	}{
		{"alpha", "", "a.txt:1: Alpha\na.txt:2: beta alpha\nb/c.txt:2: alpha.beta\n[3 matches in 2 files" + tail},
		{"Alpha", "", "a.txt:1: Alpha\n[1 match in 1 file" + tail},
		{"a.b", "", "b/c.txt:2: alpha.beta\n[1 match in 1 file" + tail},
		{"/^al?pha.b/", "", "[0 matches in 0 files" + tail},
		{"/(?i)^alpha$/", "", "a.txt:1: Alpha\n[1 match in 1 file" + tail},
		{"/al.ha$/", "a.txt", "a.txt:2: beta alpha\n[1 match in 1 file; 1 file searched]"},
		{"alpha", "b", "b/c.txt:2: alpha.beta\n[1 match in 1 file; 1 file searched]"},
		{"alpha", ".git", ".git/x:1: alpha\n[1 match in 1 file; 1 file searched]"},
		{"alpha", "b/d.bin", "[0 matches in 0 files; 0 files searched]"},
		{"äpfel", "", "umlaut.txt:1: ÄPFEL und äpfel\n[1 match in 1 file" + tail},
		{"mark", "", "bad.txt:1: \uFFFDmark\uFFFD\n[1 match in 1 file" + tail},
		{"www", "", "wide.txt:1: " + strings.Repeat("w", 300) + " [...]\n[1 match in 1 file" + tail},
		{"end", "", "wide.txt:1: [...] " + strings.Repeat("w", 100) + "end\n[1 match in 1 file" + tail},
		{"needle", "", "\"two\\nlines\":1: needle\n[1 match in 1 file" + tail},
		{"/", "", "[0 matches in 0 files" + tail},
		{"nowhere", "", "[0 matches in 0 files" + tail},
	} {
		t.Run(c.query+" "+c.path, func(t *testing.T) {
			if diff := cmp.Diff(c.want, said(t, s, "search_files", args("query", c.query, "path", c.path))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearchIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("%02d.txt", i)] = strings.Repeat("alpha "+strings.Repeat("x", 20)+"\n", 20)
	}
	dir := folder(t, Limits{}, files).Dir()
	for _, c := range []struct {
		name   string
		limits Limits
		lines  int
		says   string
	}{
		{"matches", Limits{}, 200, "[200 matches in 10 files; 11 files searched; there are more matches: search for a longer text or in one folder]"},
		{"output", Limits{Output: 1000}, 18, "[18 matches in 1 file; 1 file searched; there are more matches: search for a longer text or in one folder]"},
		{"entries", Limits{Entries: 5}, 100, "[100 matches in 5 files; 5 files searched; not all, there are too many files: name a folder as path]"},
		{"time", Limits{Search: time.Nanosecond}, 0, "[0 matches in 0 files; 0 files searched; not all, the search ended after 1ns]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Workspace(dir, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got := said(t, s, "search_files", args("query", "alpha"))
			lines := strings.Split(got, "\n")
			if len(lines)-1 != c.lines || lines[len(lines)-1] != c.says {
				t.Errorf("%d lines and %s", len(lines)-1, lines[len(lines)-1])
			}
		})
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{"a.txt": "x", "b.txt": "x"})
	ctx, cancel := context.WithCancel(t.Context())
	visited := 0
	_, bad := s.walk(ctx, ".", 100, func(entry) error {
		visited++
		cancel()
		return nil
	})
	if bad == nil || bad.Code != "cancelled" || visited != 1 {
		t.Errorf("%d visited, %v", visited, bad)
	}
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	if got := callCtx(late, t, s, "search_files", args("query", "x")); got.Err == nil || got.Err.Code != "timeout" {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkSearch(b *testing.B) {
	files := map[string]string{}
	body := strings.Repeat("A line of ordinary text that says nothing at all.\n", 80)
	for i := range 2000 {
		files[fmt.Sprintf("d%d/e%d/%d.txt", i%20, i%7, i)] = body
	}
	files["d3/last.txt"] = body + "needle\nNeedle\n"
	s := folder(b, Limits{}, files)
	for _, query := range []string{"Needle", "needle", "/ne+dle$/"} {
		b.Run(strings.Trim(query, "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := said(b, s, "search_files", args("query", query)); !strings.Contains(got, "d3/last.txt:8") {
					b.Fatal(got)
				}
			}
		})
	}
}
