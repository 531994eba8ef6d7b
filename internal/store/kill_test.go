package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stagefold/internal/part"
)

// victimFolder names the data folder to a process that is going to be killed.
const victimFolder = "STAGEFOLD_TEST_VICTIM"

// TestVictim is the process that TestKill kills: it writes runs for ever and
// prints the run and the last seq of each commit, after the commit.
func TestVictim(t *testing.T) {
	dir := os.Getenv(victimFolder)
	if dir == "" {
		return // an ordinary run of the tests
	}
	ctx := context.Background()
	db, err := Open(ctx, Options{Dir: dir, CommitEvery: 1, Committed: func(c Committed) {
		fmt.Printf("\n%s %d", c.RunID, c.Entries[len(c.Entries)-1].Seq)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		chat, run := fmt.Sprintf("c%d-%d", os.Getpid(), n), fmt.Sprintf("r%d-%d", os.Getpid(), n)
		if _, err := db.CreateChat(ctx, Chat{ID: chat}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.PostMessage(ctx, Post{ChatID: chat, MessageID: "m", Text: "go", NewRunID: run, Model: "m"}); err != nil {
			t.Fatal(err)
		}
		l, _, err := db.Claim(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Append(start(), textStart(1, "t")); err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if err := l.Append(delta(1, "t", fmt.Sprint(i, " "))); err != nil {
				t.Fatal(err)
			}
			if err := l.Sync(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Finish(ctx, nil, textEnd(1, "t"), finish(part.Finished)); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that is killed wherever it stands leaves a sound database: all that
// it told is stored, each log is a beginning of what was written, and what was
// live is settled by the next process.
func TestKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for round := range 6 {
		told := killed(t, dir, 2+round*13)
		w := newWorld(t, Options{Dir: dir}) // the lock went with the process
		w.intact()
		for run, seq := range told {
			log := w.entries(run, 0)
			inOrder(t, log)
			if int64(len(log)) < seq {
				t.Errorf("round %d: %d entries of %s were told, %d are stored", round, seq, run, len(log))
			}
			text := ""
			for _, e := range log {
				text += e.Delta
			}
			for i, word := range strings.Fields(text) {
				if word != strconv.Itoa(i) {
					t.Errorf("round %d: text of %s is %q", round, run, text)
					break
				}
			}
		}
		left, err := w.Leftovers(w.ctx)
		w.must(err)
		if len(left) > 1 {
			t.Errorf("round %d: %d runs are open, one was live", round, len(left))
		}
		for _, r := range left {
			w.must(w.SettleInterrupted(w.ctx, r.ID, "The server was killed."))
		}
		w.must(w.packEnded(w.ctx))
		w.intact()
		w.must(w.Close())
		w.DB = nil
	}
}

// killed runs the victim until it has told of n commits, kills it, and gives the
// last seq told of each run.
func killed(t *testing.T, dir string, n int) map[string]int64 {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	c.Env = append(os.Environ(), victimFolder+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	told := map[string]int64{}
	for lines := bufio.NewScanner(out); lines.Scan(); n-- {
		if n == 0 {
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		run, seq, _ := strings.Cut(lines.Text(), " ") // the last line may be cut: then it is no number, or a smaller one
		if s, err := strconv.ParseInt(seq, 10, 64); err == nil {
			told[run] = max(told[run], s)
		}
	}
	_ = c.Wait()
	if len(told) == 0 {
		t.Fatal("the victim wrote nothing")
	}
	return told
}
