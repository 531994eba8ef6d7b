package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestList(t *testing.T) {
	s := folder(t, Limits{}, map[string]string{
		"a.txt": "12345", "a/b.txt": "", "a-b/c.txt": "x", "z/y/x.txt": "x", ".hidden": "x",
		".git/config": "x", "web/node_modules/m/index.js": "x", "two\nlines": "x", "two  spaces": "x",
		"bad\xff": "x", `"quoted"`: "x", temporary + "ABC": "half",
	})
	if err := os.Mkdir(filepath.Join(s.Dir(), "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := `"\"quoted\""  1 bytes
.git/  (not entered)
.hidden  1 bytes
a/
a/b.txt  0 bytes
a-b/
a-b/c.txt  1 bytes
a.txt  5 bytes
"bad\xff"  1 bytes
none/
"two\nlines"  1 bytes
"two  spaces"  1 bytes
web/
web/node_modules/  (not entered)
z/
z/y/
z/y/x.txt  1 bytes
[9 files, 8 folders]`
	if diff := cmp.Diff(want, said(t, s, "list_files", args())); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{
		"a":                "a/b.txt  0 bytes\n[1 file, 0 folders]",
		"none":             "[the folder is empty]",
		".git":             ".git/config  1 bytes\n[1 file, 0 folders]",
		"web/node_modules": "web/node_modules/m/\nweb/node_modules/m/index.js  1 bytes\n[1 file, 1 folder]",
	} {
		if got := said(t, s, "list_files", args("path", path)); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestListIsBounded(t *testing.T) {
	files := map[string]string{"top.txt": ""}
	for i := range 600 {
		files[fmt.Sprintf("d/%04d.txt", i)] = ""
	}
	s := folder(t, Limits{}, files)
	got := call(t, s, "list_files", args())
	text := textOf(t, got)
	if !strings.Contains(text, "[... lines 201-302 of 602 left out ...]\n") || !strings.HasSuffix(text, "[601 files, 1 folder]") {
		t.Errorf("got %s", text)
	}
	if strings.Count(string(got.Full), "\n") != 602 || got.MediaType != plainText {
		t.Errorf("the whole has %d lines", strings.Count(string(got.Full), "\n"))
	}

	few, err := Workspace(s.Dir(), Limits{Entries: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer few.Close()
	text = said(t, few, "list_files", args())
	if !strings.Contains(text, "top.txt") || !strings.HasSuffix(text, "[49 files, 1 folder so far; there is more than is listed: name a folder as path]") {
		t.Errorf("got %s", text)
	}
}
