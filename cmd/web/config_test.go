package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stagefold/static"
)

// A wrong setting ends the start with one line that names it.
func TestWrongSettingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{[]string{"--colour"}, nil, "-colour"},
		{[]string{"serve"}, nil, `"serve"`},
		{[]string{"--addr", "8080"}, nil, "--addr"},
		{[]string{"--addr", "0.0.0.0:8080"}, nil, "loopback"},
		{[]string{"--addr", "127.0.0.1:99999"}, nil, "--addr"},
		{[]string{"--model", "gpt"}, nil, "--model"},
		{[]string{"--planning-mode", "agile"}, nil, "--planning-mode"},
		{[]string{"--plan-limits", "huge"}, nil, "--plan-limits"},
		{[]string{"--approve", "never"}, nil, "--approve"},
		{[]string{"--step-limit", "0"}, nil, "--step-limit"},
		{[]string{"--run-timeout", "-1s"}, nil, "--run-timeout"},
		{[]string{"--silence-limit", "soon"}, nil, "silence-limit"},
		{[]string{"--log-level", "loud"}, nil, "--log-level"},
		{[]string{"--database-url", "mysql://x/y"}, nil, "--database-url"},
		{[]string{"--nats-url", "http://x"}, nil, "--nats-url"},
		{[]string{"--nats-url", "nats://x:4222"}, nil, "--database-url"},
		{nil, map[string]string{"STAGEFOLD_REHEARSAL_PACE": "fast"}, "STAGEFOLD_REHEARSAL_PACE"},
		{nil, map[string]string{"OPENAI_BASE_URL": "ftp://x"}, "OPENAI_BASE_URL"},
		{nil, map[string]string{"STAGEFOLD_PLANNING_MODE": "agile"}, "--planning-mode"},
	} {
		_, err := readConfig(c.args, func(name string) string { return c.env[name] }, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v %v: %v, want one line with %s", c.args, c.env, err, c.want)
		}
	}
}

func TestOfficialClientIsServedAtOurAddress(t *testing.T) {
	cfg := testConfig(t)
	cfg.datastarJS = filepath.Join(t.TempDir(), "datastar.js")
	if err := os.WriteFile(cfg.datastarJS, []byte("// official"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := testApp(t, cfg).handler()
	req := httptest.NewRequest(http.MethodGet, static.URL("client.js"), nil)
	req.Host = "localhost:8080"
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	if rec.Body.String() != "// official" || !strings.Contains(rec.Header().Get("Content-Security-Policy"), "'unsafe-eval'") {
		t.Errorf("%q with %s", rec.Body, rec.Header().Get("Content-Security-Policy"))
	}
}
