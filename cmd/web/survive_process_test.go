package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stagefold/internal/part"
)

// buildOnce is the product's binary, built once for all tests of this package.
var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stagefold-test-")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	file := filepath.Join(dir, "stagefold")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", file, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

// binaryDir holds the built binary; TestMain removes it.
var binaryDir string

func removeBinary() {
	if binaryDir != "" {
		_ = os.RemoveAll(binaryDir)
	}
}

// setup is how a process of the product is started; the same one twice is a
// restart.
type setup struct {
	data, workspace string
	provider        string // base address of the OpenAI-compatible provider; "" is the rehearsal model
	env             []string
	flags           []string
	wrapper         []string // a command that runs the product's; empty for none
}

func newSetup(t testing.TB, provider string) setup {
	dir := t.TempDir()
	return setup{data: filepath.Join(dir, "data"), workspace: filepath.Join(dir, "workspace"), provider: provider}
}

// process is the product in a process of its own.
type process struct {
	*server
	cmd   *exec.Cmd
	log   *logBuffer
	ended chan struct{} // closed when it has ended
	ready time.Duration // from its start to the first 200 of /healthz
}

// start starts the product and waits until it answers.
func (s setup) start(t testing.TB) *process {
	t.Helper()
	file, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--addr", "127.0.0.1:0", "--data", s.data, "--workspace", s.workspace, "--log-level", "debug"}, s.flags...)
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "STAGEFOLD_REHEARSAL_PACE=5"}, s.env...)
	model := rehearsalName
	if s.provider != "" {
		env = append(env, "OPENAI_BASE_URL="+s.provider, "OPENAI_API_KEY=test")
		model = "openai/fake"
	}
	p := &process{log: &logBuffer{}, ended: make(chan struct{})}
	command := append(append(append([]string(nil), s.wrapper...), file), append(args, "--model", model)...)
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Env, p.cmd.Stderr = env, p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("the product did not start: %s", p.log)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() && testing.Verbose() {
			t.Logf("log of process %d:\n%s", p.cmd.Process.Pid, p.log)
		}
	})
	p.server = &server{t: t, url: strings.TrimSpace(strings.TrimPrefix(line, "listening on "))}
	p.healthy()
	p.ready = time.Since(from)
	return p
}

// healthy waits for 200 of /healthz.
func (p *process) healthy() {
	p.t.Helper()
	eventually(p.t, "healthz", func() bool {
		res, err := http.Get(p.url + "/healthz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// terminate is SIGTERM; it gives the time that the process took to end.
func (p *process) terminate() time.Duration {
	p.t.Helper()
	from := time.Now()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		p.t.Fatalf("SIGTERM did not end the process\n%s", p.log)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return time.Since(from)
}

// logBuffer is what a process logs.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// patience bounds every wait for a condition.
const patience = 60 * time.Second

// eventually asks until the condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	within(t, patience, what, holds)
}

func within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited %s for: %s", limit, what)
		}
	}
}

// entriesAfter reads a run's log above a seq through the API.
func (s *server) entriesAfter(runID string, after int64) []*part.Entry {
	s.t.Helper()
	var list []*part.Entry
	if code := s.call("GET", fmt.Sprintf("/api/runs/%s/entries?after=%d", runID, after), nil, &list); code != http.StatusOK {
		s.t.Fatalf("read log: %d", code)
	}
	return list
}

// seen reads a run's log through the API until ok says yes of what there is.
func (s *server) seen(runID, what string, ok func([]*part.Entry) bool) []*part.Entry {
	s.t.Helper()
	var list []*part.Entry
	after := int64(0)
	eventually(s.t, what, func() bool {
		more := s.entriesAfter(runID, after)
		list = append(list, more...)
		if n := len(list); n > 0 {
			after = list[n-1].Seq
		}
		return ok(list)
	})
	return list
}

// try asks without failing the test where the server does not answer.
func (s *server) try(ctx context.Context, method, path string, in, out any) (int, error) {
	var body io.Reader
	if in != nil {
		body = bytes.NewReader(mustJSON(in))
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return 0, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && out != nil && res.StatusCode < 300 {
		err = json.Unmarshal(b, out)
	}
	return res.StatusCode, err
}
