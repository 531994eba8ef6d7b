package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"stagefold/internal/planning"
)

func TestMetrics(t *testing.T) {
	s := startServer(t, testConfig(t))
	good := s.send(s.newChat(planning.Metronome), "m1", "Survey the workspace and write survey.md")
	bad := s.send(s.newChat(planning.Metronome), "m1", "Please fail on the way")
	s.wait(good.RunID, ended)
	s.wait(bad.RunID, ended)
	res, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`stagefold_runs{state="finished"} 1`, `stagefold_runs{state="failed"} 1`, `stagefold_runs{state="running"} 0`,
		"stagefold_step_seconds_count", "stagefold_entry_to_viewer_seconds_count", "stagefold_viewers 0", "stagefold_viewers_dropped_total 0",
		"stagefold_writer_lag_seconds", `stagefold_provider_errors_total{outcome="failed"} 1`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(string(b), "Survey") || strings.Contains(string(b), good.RunID) {
		t.Error("metrics tell what users wrote, or run ids")
	}
}
