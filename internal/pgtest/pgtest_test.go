package pgtest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A database is empty and of its own; it goes with its test.
func TestNewDatabase(t *testing.T) {
	ctx := context.Background()
	var url string
	t.Run("two databases", func(t *testing.T) {
		url = NewDatabase(t)
		other := NewDatabase(t)
		run(t, url, "CREATE TABLE a (n int)")
		run(t, other, "CREATE TABLE a (n int)")
	})
	if c, err := pgx.Connect(ctx, url); err == nil {
		c.Close(ctx)
		t.Error("the database is still there")
	}
}

// The server and its folder go with the process that started it, also where
// that one was killed.
func TestServerGoesWithItsProcess(t *testing.T) {
	if os.Getenv("PGTEST_CHILD") != "" {
		Start(t)
		s, _ := start()
		os.Stdout.WriteString(s.dir + "\n")
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestServerGoesWithItsProcess$")
	cmd.Env = append(os.Environ(), "PGTEST_CHILD=1")
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
	line := make([]byte, 200)
	n, err := out.Read(line)
	dir, _, _ := strings.Cut(string(line[:n]), "\n")
	if err != nil || !strings.Contains(dir, "pgtest") {
		t.Fatalf("the child said %q, %v", line[:n], err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s is still there", dir)
		}
	}
}
