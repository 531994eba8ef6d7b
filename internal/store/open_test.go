package store

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stagefold/internal/part"
	"stagefold/internal/pgtest"
)

// A data folder belongs to one process; the error names it. The lock goes with
// the process, whatever way that ends, and with Close.
func TestDataFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("STORE_TEST_DIR") != "" { // the other process
		_, err := Open(context.Background(), Options{Dir: os.Getenv("STORE_TEST_DIR")})
		if err == nil {
			os.Stdout.WriteString("open\n")
			_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
		}
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(0)
	}
	other := func() (cmd *exec.Cmd, says string) {
		cmd = exec.Command(os.Args[0], "-test.run", "^TestDataFolderIsLocked$")
		cmd.Env = append(os.Environ(), "STORE_TEST_DIR="+dir)
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 1000)
		n, _ := out.Read(line)
		return cmd, string(line[:n])
	}
	here, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("in the same process: %v", err)
	}
	cmd, says := other()
	if !strings.Contains(says, "the data folder "+dir+" is in use") {
		t.Errorf("in another process: %s", says)
	}
	_ = cmd.Wait()
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	cmd, says = other()
	if says != "open\n" {
		t.Errorf("after Close: %s", says)
	}
	if _, err := Open(context.Background(), Options{Dir: dir}); err == nil {
		t.Error("the other process has it")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	here, err = Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatalf("after the other was killed: %v", err)
	}
	if err := errors.Join(here.Close(), here.Close()); err != nil {
		t.Errorf("close twice: %v", err)
	}
}

// Whatever a folder is called, its database is in it and nowhere else.
func TestFolderNames(t *testing.T) {
	parent := t.TempDir()
	for _, name := range []string{"with space", "a?b=c&d", "100%25", "#hash", "naïve 数据", "q'uote\"", "new/nested"} {
		dir := filepath.Join(parent, filepath.FromSlash(name))
		w := newWorld(t, Options{Dir: dir})
		w.chat("c")
		w.reopen()
		if _, err := w.Chat(w.ctx, "c"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		files, err := filepath.Glob(filepath.Join(parent, "*"))
		w.must(err)
		if _, err := os.Stat(filepath.Join(dir, "stagefold.db")); err != nil {
			t.Errorf("%q: %v, there is %q", name, err, files)
		}
	}
}

// An address that cannot work is a clear error without the password.
func TestAddressErrors(t *testing.T) {
	ctx := context.Background()
	for url, want := range map[string]string{
		"mysql://u:secret@h/d":                          `unknown scheme "mysql"`,
		"stagefold.db":                                  `unknown scheme ""`,
		"postgres://u:secret@h:port/d":                  "cannot be read",
		"postgres://u:secret@127.0.0.1:1/d":             "did not answer",
		"postgres://u:secret@127.0.0.1:1/d?sslmode=odd": "cannot be read",
		"postgres://%zz:secret@h/d":                     "cannot be read",
	} {
		_, err := Open(ctx, Options{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, Options{Dir: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file in place of the folder: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stagefold.db"), []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "stagefold.db") {
		t.Errorf("a broken file: %v", err)
	}
}

// Many instances that start at once on an empty Postgres migrate it once.
func TestMigrationsAtOnce(t *testing.T) {
	url := pgtest.NewDatabase(t)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			d, err := Open(context.Background(), Options{URL: url})
			if err != nil {
				t.Error(err)
				return
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// What was stored is there after a restart, and migrating again changes nothing.
func TestReopen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.started("r")
		w.must(l.Append(start(), delta(1, "a", "x")))
		run := w.run("r")
		w.reopen() // commits what waits
		equal(t, "log", brief(w.entries("r", 0)), []string{"1 start", "2 text-delta a x"})
		run.LastSeq = 2
		equal(t, "run", w.run("r"), run)
		w.must(w.Ping(w.ctx))
	})
}

// After Close an owner is told that nothing more is stored; nobody waits for
// ever.
func TestOwnersAfterClose(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir()})
	l, waiting := w.started("r"), w.started("s")
	w.must(l.Append(delta(1, "a", "x")))
	w.must(w.Close())
	writes := map[string]error{"append": l.Append(start()), "sync": l.Sync(w.ctx), "plan": l.CommitPlan(w.ctx, plan(1, 0, 1), nil),
		"finish": l.Finish(w.ctx, nil, finish(part.Finished)), "other": waiting.SetWaiting(w.ctx, nil), "output": l.SaveOutput(w.ctx, "c", "", nil)}
	for what, err := range writes {
		if err == nil {
			t.Errorf("%s after Close was no error", what)
		}
	}
	if err := l.Append(start()); !errors.Is(err, ErrClosed) {
		t.Errorf("append: %v", err)
	}
	w.open()
	equal(t, "log", brief(w.entries("r", 0)), []string{"1 text-delta a x"})
}

// Opening, working and closing leaves no file and no goroutine behind.
func TestNothingIsLeftBehind(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	pgtest.Start(t)
	each(t, func(t *testing.T, w *world) {
		w.must(w.Close())
		before := open()
		for range 3 {
			w.open()
			id := w.id()
			l := w.started(id)
			w.must(play(w.ctx, l))
			if _, _, err := w.Runs(w.ctx, RunFilter{Query: "text"}); err != nil {
				t.Fatal(err)
			}
			w.must(w.Close())
		}
		goleak.VerifyNone(t)
		if after := open(); after > before {
			t.Errorf("%d files are open, %d were", after, before)
		}
		w.DB = nil
	})
}

// Closing ends in bounded time without a database; owners that wait are told.
func TestCloseWithoutADatabase(t *testing.T) {
	w, f := faulty(t, time.Minute)
	l := w.started("r")
	f.set(1, 1<<30, errDisk, false)
	w.must(l.Append(start()))
	waited := make(chan error, 1)
	go func() { waited <- l.Sync(w.ctx) }()
	from := time.Now()
	w.must(w.Close())
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("an owner was told %v", err)
	}
	if d := time.Since(from); d > 3*lastTries {
		t.Errorf("it took %s", d)
	}
	f.heal()
	w.open()
	equal(t, "log", brief(w.entries("r", 0)), []string(nil))
}
