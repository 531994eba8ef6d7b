package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// onSmallDisk has the processes of a setup see a small disk of their own at dir,
// which goes with the process. It needs to be root, or user namespaces.
func (s setup) onSmallDisk(t testing.TB, dir, size string) setup {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	unshare := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		unshare = append(unshare, "--user", "--map-root-user")
	}
	s.wrapper = append(unshare, "sh", "-c", `mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"`, "sh", size, dir)
	return s
}

// inside is a path as the process sees it.
func (p *process) inside(path string) string {
	return filepath.Join(fmt.Sprintf("/proc/%d/root", p.cmd.Process.Pid), path)
}

// The workspace's disk is full: the tool says so, to the model and on the page,
// and leaves no half file; the run goes on.
func TestWorkspaceDiskFull(t *testing.T) {
	model := newStagehand(t)
	model.bytes = 200 << 10
	s := newSetup(t, model.OpenAI())
	s = s.onSmallDisk(t, s.workspace, "512k")
	p := s.start(t)
	id := p.send(p.newChat(planning.Metronome), "m1", "task: plan").RunID
	if r := p.wait(id, ended); r.State != "finished" {
		t.Errorf("ended as %s", r.State)
	}
	failed := 0
	for _, e := range p.entriesAfter(id, 0) {
		if e.Type == part.ToolOutputError && strings.Contains(e.ErrorText, "no space left on device") {
			failed++
		}
	}
	if failed != 4 {
		t.Errorf("%d of 6 writes told that the disk is full", failed)
	}
	if page := p.readPage("/runs/" + id); !strings.Contains(page, "no space left on device") {
		t.Error("the page does not say it")
	}
	list, err := os.ReadDir(p.inside(s.workspace))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if info, err := f.Info(); err != nil || strings.HasPrefix(f.Name(), "part-") && info.Size() != int64(model.bytes) || strings.Contains(f.Name(), "-tmp-") {
			t.Errorf("a half file: %s %v", f.Name(), err)
		}
	}
}

// The database's disk is full: what the user sends is refused with a sentence,
// pages are still there; with space again the run goes on and ends, and the
// file is whole.
func TestDatabaseDiskFull(t *testing.T) {
	model := newStagehand(t)
	s := newSetup(t, model.OpenAI())
	s = s.onSmallDisk(t, s.data, "16m")
	p := s.start(t)
	chat := p.newChat(planning.Metronome)
	model.hold(placeWord(model.callOf(1), 10))
	id := p.send(chat, "m1", "task: plan").RunID
	before := p.seen(id, "text", textHas("w1-10 "))
	filler := p.inside(filepath.Join(s.data, "filler"))
	fill(t, filler)
	model.hold(placeWord(model.callOf(1), 40)) // words that cannot be stored
	var answer struct {
		Error struct{ Code, Message string }
	}
	eventually(t, "a refusal", func() bool {
		return p.call("POST", "/api/chats/"+chat+"/messages", map[string]string{"id": newID(), "text": strings.Repeat("task: talk ", 3000)}, &answer) == http.StatusInsufficientStorage
	})
	if answer.Error.Code != "disk_full" || !strings.Contains(answer.Error.Message, "full") {
		t.Errorf("refused with %+v", answer.Error)
	}
	if page := p.readPage("/chats/" + chat); !strings.Contains(page, "w1-10") {
		t.Error("the page does not show what is stored")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	model.hold("")
	r := p.wait(id, ended)
	if r.State != "finished" || len(r.Stages) != model.stages {
		t.Errorf("ended as %s with %d stages", r.State, len(r.Stages))
	}
	after := p.entriesAfter(id, 0)
	if lost := lostText(before, after); lost != "" {
		t.Errorf("text is gone: %q", lost)
	}
	checkNotRunAgain(t, "disk full", before, after)
	checkFolds(t, "disk full", after)
	checkIntegrity(t, copyOf(t, p.inside(s.data)))
}

// copyOf copies a database that nobody writes now.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"stagefold.db", "stagefold.db-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o644)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return to
}

// fill writes a file until the disk is full.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		switch _, err := f.Write(make([]byte, size)); {
		case err == nil:
		case errors.Is(err, syscall.ENOSPC):
			size /= 16
		default:
			t.Fatal(err)
		}
	}
}

// readPage reads a page as a browser does.
func (s *server) readPage(path string) string {
	s.t.Helper()
	res, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %v", path, res.StatusCode, err)
	}
	return string(b)
}
