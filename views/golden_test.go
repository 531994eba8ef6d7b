package views

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestGoldens: every state of every component, and every page, as it stood when
// somebody looked at it last.
func TestGoldens(t *testing.T) {
	known := map[string]bool{}
	for _, s := range all(nil) {
		file := filepath.Join("testdata", strings.ReplaceAll(strings.ReplaceAll(s.Name, " ", "-"), "'", "")+".html")
		if known[file] {
			t.Errorf("two specimens are called %q", s.Name)
		}
		known[file] = true
		got := lines(markup(t, s.View))
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v; run the test with -update", s.Name, err)
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-golden +now):\n%s", s.Name, diff)
		}
	}
	files, _ := filepath.Glob("testdata/*.html")
	for _, f := range files {
		if !known[f] {
			t.Errorf("%s belongs to no specimen", f)
		}
	}
}

// lines breaks markup before each tag, so that a difference is one line.
func lines(html string) string {
	return strings.TrimPrefix(strings.ReplaceAll(html, "<", "\n<"), "\n") + "\n"
}
