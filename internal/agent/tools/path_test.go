package tools

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent"
)

// hostile is a workspace W beside a folder O with a secret.
func hostile(t *testing.T) (s *Set, w, o string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, o = filepath.Join(base, "W"), filepath.Join(base, "O")
	put(t, filepath.Join(o, "secret.txt"), "S3CRET\n")
	put(t, filepath.Join(w, "sub/file"), "inner\n")
	put(t, filepath.Join(w, "plain.txt"), "inner\n")
	link(t, filepath.Join(o, "secret.txt"), filepath.Join(w, "l"))
	link(t, "../O/secret.txt", filepath.Join(w, "rel"))
	link(t, o, filepath.Join(w, "d"))
	link(t, "sub/../../O", filepath.Join(w, "dd"))
	link(t, "l", filepath.Join(w, "chain"))
	link(t, "loop", filepath.Join(w, "loop"))
	link(t, filepath.Join(o, "new.txt"), filepath.Join(w, "dangling"))
	link(t, "/", filepath.Join(w, "slash"))
	link(t, w+"/../O/secret.txt", filepath.Join(w, "round"))
	link(t, "/proc/self/root"+o, filepath.Join(w, "proc"))
	link(t, filepath.Join(w, "sub/file"), filepath.Join(w, "ok"))
	link(t, "sub", filepath.Join(w, "oksub"))
	link(t, filepath.Join(w, "sub"), filepath.Join(w, "okabs"))
	link(t, "../plain.txt", filepath.Join(w, "sub/up"))
	link(t, "../W/plain.txt", filepath.Join(w, "outandin"))
	if s, err = Workspace(w, Limits{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, w, o
}

// onEveryTool calls every file tool with one path.
func onEveryTool(t *testing.T, s *Set, path string) map[string]agent.ToolResult {
	t.Helper()
	return map[string]agent.ToolResult{
		"list_files":   call(t, s, "list_files", args("path", path)),
		"read_file":    call(t, s, "read_file", args("path", path)),
		"search_files": call(t, s, "search_files", args("path", path, "query", "e")),
		"write_file":   call(t, s, "write_file", args("path", path, "content", "overwritten\n")),
		"edit_file":    call(t, s, "edit_file", args("path", path, "old", "S3CRET", "new", "x")),
	}
}

func TestNoWayOut(t *testing.T) {
	s, _, o := hostile(t)
	if err := os.Chmod(o, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"../O/secret.txt", "..", "../", "../O", "/etc/hostname", "/", "//", "/..",
		"sub/../../O/secret.txt", "./../O/secret.txt", "sub/./../.././O/secret.txt", "nothing/../../O/secret.txt",
		"l", "rel", "chain", "dangling", "round", "./l", "sub/../l",
		"d", "d/", "d/secret.txt", "d/new.txt", "d/new/new.txt", "dd/secret.txt", "dd/new.txt", "d/../O/secret.txt",
		"slash", "slash/etc/hostname", "slash" + o + "/secret.txt", "proc", "proc/secret.txt",
		"ok/../../O/secret.txt", "okabs/../../O/secret.txt", "oksub/../../O/secret.txt",
		o + "/secret.txt", o, "outandin", "../W/plain.txt", "../W",
	} {
		for name, got := range onEveryTool(t, s, path) {
			if got.Err == nil {
				t.Errorf("%s %q: succeeded with %s", name, path, got.Output)
				continue
			}
			if got.Err.Code != "outside_workspace" && got.Err.Code != "not_a_folder" {
				t.Errorf("%s %q: %v", name, path, got.Err)
			}
			if text := got.Err.Error(); strings.Contains(text, "S3CRET") || strings.Contains(text, o) {
				t.Errorf("%s %q tells what is outside: %s", name, path, text)
			}
		}
	}
	if left, _ := os.ReadDir(o); len(left) != 1 || get(t, filepath.Join(o, "secret.txt")) != "S3CRET\n" {
		t.Errorf("outside has changed: %v", left)
	}
	for _, tool := range []string{"list_files", "search_files"} {
		got := call(t, s, tool, args("query", "S3CRET"))
		if text := textOf(t, got); strings.Contains(text, "S3CRET") || strings.Contains(text, "secret.txt") || strings.Contains(text, o) {
			t.Errorf("%s goes out: %s", tool, text)
		}
	}
}

func TestImpossiblePaths(t *testing.T) {
	s, _, _ := hostile(t)
	for _, c := range []struct{ path, code string }{
		{"a\x00b", "invalid_path"},
		{"\x00", "invalid_path"},
		{"sub/\x00../file", "invalid_path"},
		{strings.Repeat("a", 5000), "invalid_path"},
		{strings.Repeat("a/", 2500), "invalid_path"},
		{strings.Repeat("../", 1300), "outside_workspace"},
		{strings.Repeat("ü", 200), "invalid_path"},
		{"loop", "invalid_path"},
		{"loop/x", "invalid_path"},
	} {
		for name, got := range onEveryTool(t, s, c.path) {
			if got.Err == nil || got.Err.Code != c.code {
				t.Errorf("%s %.20q: %v", name, c.path, got.Err)
			} else if len(got.Err.Message) > 200 {
				t.Errorf("%s %.20q: the message has %d bytes", name, c.path, len(got.Err.Message))
			}
		}
	}
	if got := call(t, s, "read_file", json.RawMessage("{\"path\":\"a\xffb\"}")); got.Err == nil || got.Err.Code != "not_found" {
		t.Errorf("bad UTF-8: %+v", got) // JSON puts U+FFFD in its place
	}
}

func TestTheRootIsNoFile(t *testing.T) {
	s, w, _ := hostile(t)
	for _, path := range []string{".", "./", "sub/..", w, w + "/", w + "/sub/.."} {
		for _, name := range []string{"read_file", "write_file", "edit_file"} {
			got := call(t, s, name, args("path", path, "content", "x", "old", "a", "new", "b"))
			if got.Err == nil || got.Err.Code != "is_a_folder" {
				t.Errorf("%s %q: %+v", name, path, got)
			}
		}
	}
}

func TestGoodLinks(t *testing.T) {
	for _, path := range []string{
		"ok", "oksub/file", "okabs/file", "sub/up", "okabs/up", "okabs/../ok", "sub//file", "./sub/./file", "sub/../sub/file",
	} {
		t.Run(path, func(t *testing.T) {
			s, w, _ := hostile(t)
			if got := said(t, s, "read_file", args("path", path)); got != "inner\n" {
				t.Errorf("read %q", got)
			}
			if got := said(t, s, "search_files", args("path", path, "query", "inner")); !strings.Contains(got, ":1: inner") {
				t.Errorf("search %q", got)
			}
			said(t, s, "edit_file", args("path", path, "old", "inner", "new", "edited"))
			got := call(t, s, "write_file", args("path", path, "content", "written\n"))
			textOf(t, got)
			real := got.Files[0].Path
			if real != "sub/file" && real != "plain.txt" || get(t, filepath.Join(w, real)) != "written\n" {
				t.Errorf("wrote %v", got.Files)
			}
			if info, err := os.Lstat(filepath.Join(w, "ok")); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v %v", info, err)
			}
		})
	}
}

func TestGoodLinksToFolders(t *testing.T) {
	s, w, _ := hostile(t)
	for _, path := range []string{"oksub", "okabs", "okabs/", w + "/sub", w + "/okabs"} {
		if got := said(t, s, "list_files", args("path", path)); !strings.HasPrefix(got, "sub/file  6 bytes\nsub/up -> plain.txt\n") {
			t.Errorf("%s: %s", path, got)
		}
	}
	got := call(t, s, "write_file", args("path", "okabs/deep/new.txt", "content", "x"))
	if textOf(t, got); got.Files[0].Path != "sub/deep/new.txt" {
		t.Errorf("wrote %v", got.Files)
	}
}

func TestWorkspaceThatIsALink(t *testing.T) {
	_, w, o := hostile(t)
	alias := filepath.Join(filepath.Dir(w), "alias")
	link(t, w, alias)
	link(t, filepath.Join(alias, "sub/file"), filepath.Join(w, "byalias"))
	s, err := Workspace(alias, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Dir() != w {
		t.Errorf("Dir is %s", s.Dir())
	}
	for _, path := range []string{"sub/file", "ok", "byalias", alias + "/ok", w + "/ok"} {
		if got := said(t, s, "read_file", args("path", path)); got != "inner\n" {
			t.Errorf("%s: read %q", path, got)
		}
	}
	for _, path := range []string{"l", "d/secret.txt", alias + "/../O/secret.txt", o + "/secret.txt"} {
		if got := call(t, s, "read_file", args("path", path)); got.Err == nil || got.Err.Code != "outside_workspace" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// TestSwappedLink: what was resolved becomes a link before it is opened.
func TestSwappedLink(t *testing.T) {
	s, w, o := hostile(t)
	if err := os.Remove(filepath.Join(w, "plain.txt")); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(o, "secret.txt"), filepath.Join(w, "plain.txt"))
	if _, _, bad := openFile(s.root, "plain.txt"); bad == nil || bad.Code != "outside_workspace" {
		t.Errorf("opened the link: %v", bad)
	}
	if _, _, bad := openFile(s.root, "d/secret.txt"); bad == nil || bad.Code != "outside_workspace" {
		t.Errorf("opened below the link: %v", bad)
	}
	if _, bad := s.store(t.Context(), "d/new.txt", []byte("x")); bad == nil {
		t.Error("wrote below the link")
	}
	if left, _ := os.ReadDir(o); len(left) != 1 {
		t.Errorf("outside has changed: %v", left)
	}
}

func TestSpecialFiles(t *testing.T) {
	s, w, _ := hostile(t)
	specials := []string{"pipe", "socket", "topipe"}
	if err := syscall.Mkfifo(filepath.Join(w, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	link(t, "pipe", filepath.Join(w, "topipe"))
	listener, err := net.Listen("unix", filepath.Join(w, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if syscall.Mknod(filepath.Join(w, "device"), syscall.S_IFCHR|0o666, 1<<8|5) == nil { // only root may
		specials = append(specials, "device")
	}
	for _, path := range specials {
		for name, got := range onEveryTool(t, s, path) {
			if got.Err == nil || got.Err.Code != "not_a_file" && got.Err.Code != "not_a_folder" {
				t.Errorf("%s %s: %+v", name, path, got)
			}
		}
	}
	if got := said(t, s, "search_files", args("query", "inner")); !strings.Contains(got, "plain.txt:1: inner") {
		t.Errorf("search stopped at a special file: %s", got)
	}
	if got := said(t, s, "list_files", args()); !strings.Contains(got, "pipe  (a pipe, socket or device)") {
		t.Errorf("list: %s", got)
	}
	// Even where it becomes a pipe between the look and the opening.
	file, err := s.root.OpenFile("pipe", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
}

func TestResolve(t *testing.T) {
	s, w, _ := hostile(t)
	got := map[string]string{}
	for _, path := range []string{"", ".", "a/b/../c", "sub/../new", "ok", "oksub/x", "okabs", w, w + "/a", "sub/up"} {
		rel, bad := s.resolve(path)
		if bad != nil {
			t.Fatalf("%q: %v", path, bad)
		}
		got[path] = rel
	}
	want := map[string]string{
		"": ".", ".": ".", "a/b/../c": "a/c", "sub/../new": "new", "ok": "sub/file",
		"oksub/x": "sub/x", "okabs": "sub", w: ".", w + "/a": "a", "sub/up": "plain.txt",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzResolve(f *testing.F) {
	for _, path := range []string{"", "..", "a/../..", "l", "d/x", "okabs/../d", "//", "sub/./up", "loop", "\x00", "round/..", "/etc", "ok/."} {
		f.Add(path)
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	w := filepath.Join(base, "W")
	put(f, filepath.Join(base, "O/secret.txt"), "S3CRET\n")
	put(f, filepath.Join(w, "sub/file"), "inner\n")
	link(f, filepath.Join(base, "O"), filepath.Join(w, "d"))
	link(f, "../O/secret.txt", filepath.Join(w, "l"))
	link(f, filepath.Join(w, "sub"), filepath.Join(w, "okabs"))
	link(f, "sub/file", filepath.Join(w, "ok"))
	link(f, "loop", filepath.Join(w, "loop"))
	link(f, w+"/../O", filepath.Join(w, "round"))
	s, err := Workspace(w, Limits{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, path string) {
		rel, bad := s.resolve(path)
		if (rel == "") != (bad != nil) {
			t.Fatalf("%q: %q and %v", path, rel, bad)
		}
		if bad == nil && rel != "." && !filepath.IsLocal(rel) {
			t.Fatalf("%q leads to %q", path, rel)
		}
		got := call(t, s, "read_file", args("path", path))
		if strings.Contains(string(got.Output), "S3CRET") {
			t.Fatalf("%q reads what is outside", path)
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(w, rel)); bad == nil && err == nil && real != w && !strings.HasPrefix(real, w+"/") {
			t.Fatalf("%q leads to %q, really %s", path, rel, real)
		}
	})
}
