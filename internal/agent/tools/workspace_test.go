package tools

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorkspaceMakesSample(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "workspace")
	s, err := Workspace(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kinds, todos, files := map[string]bool{}, 0, 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		kinds[filepath.Ext(path)] = true
		todos += strings.Count(get(t, path), "TODO")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files != 8 || len(kinds) < 6 || todos < 5 {
		t.Errorf("%d files, kinds %v, %d TODO", files, kinds, todos)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Errorf("left beside the workspace: %v", left)
	}
	put(t, filepath.Join(dir, "mine.txt"), "mine\n")
	again, err := Workspace(dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := said(t, again, "list_files", args()); !strings.Contains(got, "mine.txt  5 bytes") {
		t.Errorf("second opening lists %s", got)
	}
}

func TestWorkspaceLeavesAnEmptyFolderEmpty(t *testing.T) {
	s := folder(t, Limits{}, nil)
	if got := said(t, s, "list_files", args()); got != "[the folder is empty]" {
		t.Errorf("got %q", got)
	}
}

func TestWorkspaceRefuses(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	link(t, filepath.Join(dir, "gone"), filepath.Join(dir, "dangling"))
	for _, name := range []string{"file", "file/below", "dangling"} {
		if s, err := Workspace(filepath.Join(dir, name), Limits{}); err == nil {
			t.Errorf("%s was opened", name)
			_ = s.Close()
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
