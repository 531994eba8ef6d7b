// Package pgtest runs a real Postgres for tests: one server a test process, on
// a free loopback port, in a folder of its own, without fsync. A small shell
// process stops it and removes the folder when the test process has ended, in
// whatever way.
package pgtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long the server may take to start.
const patience = 60 * time.Second

var start = sync.OnceValues(newServer)

var databases atomic.Int64

// Start gives the address of the server's first database; it starts the server
// where it is not running. Without Postgres the test fails.
func Start(t testing.TB) string {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return s.address("postgres")
}

// NewDatabase gives the address of an empty database that goes with the test.
func NewDatabase(t testing.TB) string {
	t.Helper()
	first := Start(t)
	s, _ := start()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	run(t, first, "CREATE DATABASE "+name)
	t.Cleanup(func() { run(t, first, "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.address(name)
}

func run(t testing.TB, url, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connect to the test's Postgres: %v", err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// keeper runs the server until its input ends, which it does with the test
// process.
const keeper = `"$1/postgres" -D "$2/data" -p "$3" >"$2/log" 2>&1 & server=$!
read -r _
kill -INT $server
wait $server
rm -rf "$2"`

type server struct {
	dir  string
	port int
	keep *exec.Cmd // its input is open as long as this process lives
}

func (s *server) address(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

func newServer() (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	attr, err := owner(dir)
	if err == nil {
		err = initialise(bin, dir, attr)
	}
	s := &server{dir: dir}
	for tries := 0; err == nil && tries < 3; tries++ {
		if err = s.start(bin, attr); err != nil {
			break
		}
		if err = s.answers(); err == nil {
			return s, nil
		}
		if err == errTaken { // before the server took it
			err = nil
		}
	}
	return nil, errors.Join(cmp.Or(err, errTaken), os.RemoveAll(dir))
}

var errTaken = errors.New("the port of the test's Postgres is another server's")

// start runs the server on a port that was free a moment ago.
func (s *server) start(bin string, attr *syscall.SysProcAttr) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	s.keep = exec.Command("/bin/sh", "-c", keeper, "sh", bin, s.dir, strconv.Itoa(s.port))
	s.keep.SysProcAttr, s.keep.Dir = attr, s.dir
	if _, err := s.keep.StdinPipe(); err != nil {
		return err
	}
	if err := s.keep.Start(); err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	return nil
}

// binaries is the folder of the newest installed Postgres.
func binaries() (string, error) {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(list) == 0 {
		return "", errors.New("there is no Postgres in /usr/lib/postgresql; the script ./test installs it")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	return filepath.Dir(slices.MaxFunc(list, func(a, b string) int { return version(a) - version(b) })), nil
}

// owner makes the folder that of the user who runs Postgres: root may not, the
// user postgres does it in its place.
func owner(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setpgid: true} // an interrupt of the tests is not the server's
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root cannot run Postgres: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}

// initialise makes the server's data.
func initialise(bin, dir string, attr *syscall.SysProcAttr) error {
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.SysProcAttr, cmd.Dir = attr, dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	settings := "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\nfull_page_writes = off\nsynchronous_commit = off\n" +
		"max_connections = 300\nshared_buffers = 16MB\nautovacuum = off\njit = off\nmax_wal_size = 256MB\n"
	f, err := os.OpenFile(filepath.Join(dir, "data", "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Close())
}

// answers waits until the server takes connections.
func (s *server) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := pgx.Connect(ctx, s.address("postgres"))
		if err == nil {
			var data string
			err = c.QueryRow(ctx, "SHOW data_directory").Scan(&data)
			c.Close(ctx)
			if err == nil && data != filepath.Join(s.dir, "data") {
				return errTaken
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the test's Postgres did not start: %w: %s", err, log)
		}
	}
}
