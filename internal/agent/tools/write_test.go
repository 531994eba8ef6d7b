package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
)

func TestWrite(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{"old.txt": "old\n", "run.sh": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(s.Dir(), "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, content, says, summary string
		change                       part.FileChange
		mode                         os.FileMode
	}{
		{"new.txt", "a\nb\n", "created new.txt: 2 lines, 4 bytes", "created, 2 lines", part.FileChange{Path: "new.txt", Op: "created"}, 0o644},
		{"old.txt", "", "modified old.txt: 0 lines, 0 bytes", "modified, 0 lines", part.FileChange{Path: "old.txt", Op: "modified"}, 0o644},
		{"run.sh", "echo\n", "modified run.sh: 1 line, 5 bytes", "modified, 1 line", part.FileChange{Path: "run.sh", Op: "modified"}, 0o750},
		{"./a/b/../c/d.txt", "ü\r\n", "created a/c/d.txt: 1 line, 4 bytes", "created, 1 line", part.FileChange{Path: "a/c/d.txt", Op: "created"}, 0o644},
	} {
		t.Run(c.path, func(t *testing.T) {
			got := call(t, s, "write_file", args("path", c.path, "content", c.content))
			if text := textOf(t, got); text != c.says || got.Summary != c.summary {
				t.Errorf("said %q, %q", text, got.Summary)
			}
			if diff := cmp.Diff([]part.FileChange{c.change}, got.Files); diff != "" {
				t.Error(diff)
			}
			name := filepath.Join(s.Dir(), c.change.Path)
			info, err := os.Stat(name)
			if err != nil || info.Mode().Perm() != c.mode || get(t, name) != c.content {
				t.Errorf("%v, %v, %q", err, info.Mode(), get(t, name))
			}
		})
	}
	if left, _ := os.ReadDir(s.Dir()); len(left) != 4 { // a, new.txt, old.txt, run.sh
		t.Errorf("left: %v", left)
	}
}

func TestWriteRefuses(t *testing.T) {
	s := folder(t, Limits{File: 10}, map[string]string{"fixed.txt": "old\n", "dir/x": ""})
	if err := os.Chmod(filepath.Join(s.Dir(), "fixed.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, content, code, field string }{
		{"fixed.txt", "x", "read_only", "path"},
		{"dir", "x", "is_a_folder", "path"},
		{"big.txt", strings.Repeat("x", 11), "too_large", "content"},
		{"bell\a.txt", "x", "invalid_path", "path"},
		{"dir/" + temporary + "X", "x", "invalid_path", "path"},
	} {
		got := call(t, s, "write_file", args("path", c.path, "content", c.content))
		if got.Err == nil || got.Err.Code != c.code || got.Err.Path != c.field {
			t.Errorf("%s: %+v", c.path, got)
		}
	}
	if get(t, filepath.Join(s.Dir(), "fixed.txt")) != "old\n" {
		t.Error("the read-only file has changed")
	}
}

// TestWriteCutOff: a write that is ended before its rename leaves the old file.
func TestWriteCutOff(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{"a.txt": "old\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, bad := s.store(ctx, "a.txt", []byte("new\n")); bad == nil || bad.Code != "cancelled" {
		t.Errorf("got %v", bad)
	}
	if left, _ := os.ReadDir(s.Dir()); len(left) != 1 || get(t, filepath.Join(s.Dir(), "a.txt")) != "old\n" {
		t.Errorf("left: %v", left)
	}
}

// TestReadersSeeWholeFiles: beside a writer, a reader sees one content or the other.
func TestReadersSeeWholeFiles(t *testing.T) {
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 50_000)}
	s := folder(t, Limits{}, map[string]string{"f.txt": contents[0]})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 40 {
			if _, bad := s.store(context.Background(), "f.txt", []byte(contents[i%2])); bad != nil {
				t.Error(bad)
			}
		}
	})
	for range 200 {
		if got := get(t, filepath.Join(s.Dir(), "f.txt")); got != contents[0] && got != contents[1] {
			t.Fatalf("a torn file of %d bytes", len(got))
		}
	}
	writer.Wait()
}

func TestEditsAtOnceAreAllKept(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "<%d>\n", i)
	}
	s := folder(t, Limits{}, map[string]string{"f.txt": text.String()})
	var edits sync.WaitGroup
	for i := range 20 {
		edits.Go(func() {
			got := call(t, s, "edit_file", args("path", "f.txt", "old", fmt.Sprintf("<%d>", i), "new", fmt.Sprintf("(%d)", i)))
			if got.Err != nil {
				t.Error(got.Err)
			}
		})
	}
	edits.Wait()
	if got := get(t, filepath.Join(s.Dir(), "f.txt")); strings.Contains(got, "<") {
		t.Errorf("an edit is lost: %s", got)
	}
}
