package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/fold"
	"stagefold/internal/planning"
)

// The main job by the API, with every planner: a task is planned, each stage is
// done, the report is on disk, the log folds to what the API tells.
func TestTaskRunsToItsEnd(t *testing.T) {
	for _, mode := range modes() {
		t.Run(string(mode), func(t *testing.T) {
			s := startServer(t, testConfig(t))
			p := s.send(s.newChat(mode), "m1", "Survey the workspace and write survey.md")
			if p.State != "started" {
				t.Fatalf("posted: %+v", p)
			}
			r := s.wait(p.RunID, ended)
			if r.State != "finished" || r.FinishReason != "stop" {
				t.Fatalf("ended as %s %s", r.State, r.FinishReason)
			}
			if mode == planning.None {
				if len(r.Stages) != 0 || r.Plan != nil {
					t.Errorf("a plan without a planner: %d stages", len(r.Stages))
				}
			} else {
				if len(r.Stages) < 4 || r.Plan == nil || r.Plan.Mode != string(mode) {
					t.Fatalf("%d stages, plan %+v", len(r.Stages), r.Plan)
				}
				for _, st := range r.Stages {
					if st.Status != fold.RowDone || st.Icon != "check" || st.Unverified || st.ClosedByRunEnd {
						t.Errorf("stage %s: %s %s unverified=%v closedByRunEnd=%v", st.ID, st.Status, st.Icon, st.Unverified, st.ClosedByRunEnd)
					}
				}
				if len(r.Answer) == 0 {
					t.Error("no answer")
				}
			}
			if _, err := os.Stat(filepath.Join(s.cfg.workspace, "survey.md")); err != nil {
				t.Errorf("report: %v", err)
			}
			s.checkLog(p.RunID)
		})
	}
}

// checkLog holds what must hold after every run: folding entry by entry equals
// folding at once, and numbers rise.
func (s *server) checkLog(runID string) {
	s.t.Helper()
	entries, err := s.db.Entries(s.t.Context(), runID, 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	f := fold.New()
	last := int64(0)
	for _, e := range entries {
		if e.Seq <= last {
			s.t.Errorf("seq %d after %d", e.Seq, last)
		}
		last = e.Seq
		f.Apply(e)
	}
	one, all := outline(f.Snapshot()), outline(fold.Fold(entries))
	if d := cmp.Diff(all, one); d != "" {
		s.t.Errorf("entry by entry differs from at once:\n%s", d)
	}
}

// outline is a snapshot as lines: every row, part and text.
func outline(s *fold.Snapshot) []string {
	lines := []string{fmt.Sprint(s.State, " ", s.FinishReason, " ", s.Done, "/", s.Total, " ", s.Usage)}
	list := func(name string, v fold.Vec[*fold.Part]) {
		for _, p := range v.All() {
			lines = append(lines, fmt.Sprintf("%s %d %s %s %q", name, p.N, p.Kind, p.State, p.Source()))
		}
	}
	list("lead", s.Lead)
	for _, r := range s.Rows.All() {
		lines = append(lines, fmt.Sprint("row ", r.StageID, " ", r.Status, " ", r.Tools, " ", r.Usage, " ", r.Elapsed))
		list("row "+r.StageID, r.Parts)
	}
	list("sink", s.Sink)
	list("answer", s.Answer)
	return lines
}

func TestQuestionGetsAPlainAnswer(t *testing.T) {
	s := startServer(t, testConfig(t))
	p := s.send(s.newChat(planning.Metronome), "m1", "What can you do?")
	r := s.wait(p.RunID, ended)
	if r.State != "finished" || len(r.Stages) != 0 || r.Plan != nil || len(r.Lead) == 0 {
		t.Errorf("%s, %d stages, %d lead parts", r.State, len(r.Stages), len(r.Lead))
	}
}

func TestFailingRunShowsTheX(t *testing.T) {
	s := startServer(t, testConfig(t))
	chat := s.newChat(planning.Metronome)
	p := s.send(chat, "m1", "Please fail on the way")
	r := s.wait(p.RunID, ended)
	icons := map[string]int{}
	for _, st := range r.Stages {
		icons[st.Icon]++
	}
	if r.State != "failed" || r.FinishReason != "error" || icons["x"] != 1 || icons["heartbeat"] != 0 {
		t.Errorf("%s %s %v", r.State, r.FinishReason, icons)
	}
	s.checkLog(p.RunID)
	// The chat goes on.
	p = s.send(chat, "m2", "What can you do?")
	if r := s.wait(p.RunID, ended); r.State != "finished" {
		t.Errorf("after a failure: %s", r.State)
	}
}

func TestStop(t *testing.T) {
	cfg := testConfig(t)
	cfg.pace = longPace
	s := startServer(t, cfg)
	chat := s.newChat(planning.Metronome)
	p := s.send(chat, "m1", "A long survey, please")
	s.wait(p.RunID, working)

	// Two stops at once are harmless and answer the same way.
	var wg sync.WaitGroup
	results := make([]string, 2)
	for i := range results {
		wg.Go(func() {
			var out struct{ Result string }
			s.call("POST", "/api/runs/"+p.RunID+"/stop", nil, &out)
			results[i] = out.Result
		})
	}
	wg.Wait()
	r := s.wait(p.RunID, ended)
	if r.State != "stopped" || r.FinishReason != "abort" {
		t.Errorf("%s %s", r.State, r.FinishReason)
	}
	squares := 0
	for _, st := range r.Stages {
		if st.Icon == "square" {
			squares++
		}
		if st.Icon == "heartbeat" {
			t.Errorf("stage %s still runs", st.ID)
		}
	}
	if squares != 1 {
		t.Errorf("%d squares", squares)
	}
	for _, result := range results {
		if result != "delivered" && result != "finished" {
			t.Errorf("stop answered %q", result)
		}
	}
	var out struct{ Result string }
	s.call("POST", "/api/runs/"+p.RunID+"/stop", nil, &out)
	if out.Result != "finished" {
		t.Errorf("stop of a stopped run answered %q", out.Result)
	}
	s.checkLog(p.RunID)
	if code := s.call("POST", "/api/runs/nope/stop", nil, nil); code != http.StatusNotFound {
		t.Errorf("stop of an unknown run: %d", code)
	}
}

func TestMessagesAreSentOnce(t *testing.T) {
	s := startServer(t, testConfig(t))
	chat := s.newChat(planning.Metronome)
	var wg sync.WaitGroup
	got := make([]posted, 8)
	for i := range got {
		wg.Go(func() { got[i] = s.send(chat, "same", "What can you do?") })
	}
	wg.Wait()
	for _, p := range got {
		if p.RunID != got[0].RunID || p.RunID == "" {
			t.Errorf("answers differ: %+v and %+v", got[0], p)
		}
	}
	s.wait(got[0].RunID, ended)
	var list struct{ Runs []run }
	s.call("GET", "/api/runs", nil, &list)
	if len(list.Runs) != 1 {
		t.Errorf("%d runs for one message", len(list.Runs))
	}
}

func TestSecondMessageIsQueued(t *testing.T) {
	cfg := testConfig(t)
	cfg.pace = longPace
	s := startServer(t, cfg)
	chat := s.newChat(planning.Metronome)
	first := s.send(chat, "m1", "A long survey, please")
	second := s.send(chat, "m2", "And then?")
	third := s.send(chat, "m3", "And after that?")
	if second.State != "queued" || third.State != "queued" {
		t.Fatalf("%+v %+v", second, third)
	}
	if code := s.call("PATCH", "/api/chats/"+chat+"/queue/m2", map[string]string{"text": "What else?"}, nil); code != http.StatusNoContent {
		t.Errorf("edit: %d", code)
	}
	if code := s.call("DELETE", "/api/chats/"+chat+"/queue/m3", nil, nil); code != http.StatusNoContent {
		t.Errorf("take back: %d", code)
	}
	s.call("POST", "/api/runs/"+first.RunID+"/stop", nil, nil)
	s.wait(first.RunID, ended)

	type chatNow struct {
		Queue    []queuedJSON
		Messages []struct{ Role string }
	}
	var c chatNow
	s.call("GET", "/api/chats/"+chat, nil, &c)
	if len(c.Queue) != 1 || c.Queue[0].Text != "What else?" {
		t.Fatalf("queue after Stop: %+v", c.Queue)
	}
	var sent posted
	if code := s.call("POST", "/api/chats/"+chat+"/queue/m2/send", nil, &sent); code != http.StatusAccepted || sent.State != "started" {
		t.Fatalf("send a held message: %d %+v", code, sent)
	}
	if r := s.wait(sent.RunID, ended); r.State != "finished" {
		t.Errorf("the held message's run: %s", r.State)
	}
	s.call("GET", "/api/chats/"+chat, nil, &c)
	if len(c.Queue) != 0 || len(c.Messages) != 4 {
		t.Errorf("queue %+v, %d messages", c.Queue, len(c.Messages))
	}
}

func TestRunAgain(t *testing.T) {
	s := startServer(t, testConfig(t))
	chat := s.newChat(planning.Classic)
	first := s.send(chat, "m1", "Please fail on the way")
	s.wait(first.RunID, ended)
	var again posted
	if code := s.call("POST", "/api/runs/"+first.RunID+"/again", nil, &again); code != http.StatusAccepted || again.RunID == first.RunID {
		t.Fatalf("%d %+v", code, again)
	}
	if r := s.wait(again.RunID, ended); r.State != "failed" {
		t.Errorf("run again: %s", r.State)
	}
}

// working: the plan is accepted and a stage is at work.
func working(r run) bool {
	return r.Plan != nil && slices.ContainsFunc(r.Stages, func(st stageJSON) bool { return st.Icon == "heartbeat" })
}

// A process that ended left a run behind: the next one goes on with it.
func TestARunGoesOnAfterARestart(t *testing.T) {
	cfg := testConfig(t)
	cfg.pace = longPace
	var id string
	func() {
		a := testAppWithoutCleanup(t, cfg)
		srv := serveApp(t, a)
		s := &server{app: a, t: t, url: srv.URL}
		id = s.send(s.newChat(planning.Metronome), "m1", "Survey the workspace and write survey.md").RunID
		s.wait(id, working)
		srv.CloseClientConnections()
		srv.Close()
		if err := a.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	cfg.pace = 0
	s := startServer(t, cfg)
	r := s.wait(id, ended)
	if r.State != "finished" || len(r.Stages) < 4 {
		t.Errorf("%s with %d stages", r.State, len(r.Stages))
	}
	for _, st := range r.Stages {
		if st.Icon != "check" {
			t.Errorf("stage %s: %s", st.ID, st.Icon)
		}
	}
	s.checkLog(id)
}

func TestBadInputGetsASentence(t *testing.T) {
	s := startServer(t, testConfig(t))
	chat := s.newChat(planning.Metronome)
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		code         string
	}{
		{"POST", "/api/chats", map[string]string{"planningMode": "agile"}, 400, "planning_mode"},
		{"POST", "/api/chats", map[string]string{"model": "gpt"}, 400, "model"},
		{"POST", "/api/chats", map[string]string{"colour": "red"}, 400, "bad_json"},
		{"POST", "/api/chats/" + chat + "/messages", map[string]string{"id": "x", "text": "  "}, 400, "empty_message"},
		{"POST", "/api/chats/" + chat + "/messages", map[string]string{"text": "hi"}, 400, "message_id"},
		{"POST", "/api/chats/" + chat + "/messages", map[string]string{"id": "x", "text": strings.Repeat("y", maxMessage+1)}, 400, "message_too_long"},
		{"POST", "/api/chats/nope/messages", map[string]string{"id": "x", "text": "hi"}, 404, "not_found"},
		{"GET", "/api/chats/nope", nil, 404, "not_found"},
		{"GET", "/api/runs/nope", nil, 404, "not_found"},
		{"GET", "/api/runs/nope/entries", nil, 404, "not_found"},
		{"GET", "/api/runs?state=odd", nil, 400, "state"},
		{"GET", "/api/nope", nil, 404, "not_found"},
		{"PUT", "/api/chats", nil, 405, "method"},
		{"PATCH", "/api/chats/" + chat + "/queue/nope", map[string]string{"text": "hi"}, 404, "not_found"},
	} {
		var out struct {
			Error struct{ Code, Message string }
		}
		status := s.call(c.method, c.path, c.body, &out)
		if status != c.status || out.Error.Code != c.code || out.Error.Message == "" {
			t.Errorf("%s %s: %d %+v, want %d %s", c.method, c.path, status, out.Error, c.status, c.code)
		}
	}
}
