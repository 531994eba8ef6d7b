package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stagefold/internal/agent"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// A run whose process dies again and again without a step in between is given
// up, with the reason said and every stage settled; running it again works.
func TestARunThatKillsItsServerIsGivenUp(t *testing.T) {
	model := newStagehand(t)
	s := newSetup(t, model.OpenAI())
	model.hold(placeBefore(2)) // in the first stage
	p := s.start(t)
	chat := p.newChat(planning.Metronome)
	id := p.send(chat, "m1", "task: plan").RunID
	model.Wait(3)
	for n := range maxAttempts {
		p.kill()
		p = s.start(t)
		model.Wait(4 + n)
	}
	p.kill()
	p = s.start(t)
	r := p.wait(id, ended)
	var head runJSON
	p.call("GET", "/api/runs/"+id, nil, &head)
	if r.State != "interrupted" || r.FinishReason != "abort" || !strings.Contains(head.Note, "begun 3 times") {
		t.Errorf("%s %s, note %q", r.State, r.FinishReason, head.Note)
	}
	icons := ""
	for _, st := range r.Stages {
		icons += st.Icon + " "
	}
	if icons != "square circle circle " {
		t.Errorf("icons of an interrupted run: %s", icons)
	}
	log := p.entriesAfter(id, 0)
	checkFolds(t, "interrupted", log)
	for _, pt := range part.Build(log) {
		if !pt.Terminal() {
			t.Errorf("part %d (%s) is still %s", pt.N, pt.Kind, pt.State)
		}
	}
	if n := model.Calls(); n != 3+maxAttempts {
		t.Errorf("%d model calls", n)
	}
	model.hold("")
	var again posted
	if code := p.call("POST", "/api/runs/"+id+"/again", nil, &again); code != 202 {
		t.Fatalf("run again: %d", code)
	}
	if r := p.wait(again.RunID, ended); r.State != "finished" || len(r.Stages) != model.stages {
		t.Errorf("run again: %s with %d stages", r.State, len(r.Stages))
	}
}

// withProvider is a test config whose model is the stagehand.
func withProvider(t testing.TB, m *stagehand) config {
	cfg := testConfig(t)
	cfg.model, cfg.openAIBase, cfg.openAIKey = "openai/fake", m.OpenAI(), "test"
	return cfg
}

// A tool that may not be repeated began and its end is not in the log: the
// model is told so, and the tool does not run a second time.
func TestAWriteOfUnknownOutcomeIsNotRepeated(t *testing.T) {
	model := newStagehand(t)
	cfg := withProvider(t, model)
	var id string
	func() { // a first owner that dies while it writes
		a := testAppWithoutCleanup(t, cfg)
		srv := serveApp(t, a)
		s := &server{app: a, t: t, url: srv.URL}
		began := make(chan string, 8)
		a.disp.tools = withTool(a.disp.tools, "write_file", func(ctx context.Context, c agent.ToolCall) agent.ToolResult {
			began <- c.CallID
			<-ctx.Done()
			return agent.ToolResult{}
		})
		id = s.send(s.newChat(planning.Metronome), "m1", "task: plan").RunID
		<-began
		srv.CloseClientConnections()
		srv.Close()
		if err := a.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	a := testApp(t, cfg)
	s := startServerOf(t, a)
	r := s.wait(id, ended)
	if r.State != "finished" {
		t.Errorf("ended as %s", r.State)
	}
	unknown := 0
	for _, e := range s.entriesAfter(id, 0) {
		if e.Type == part.ToolOutputError && strings.Contains(e.ErrorText, "interrupted, outcome unknown") {
			unknown++
			if !strings.HasPrefix(e.ToolCallID, "c-write-0-") {
				t.Errorf("the outcome of %s is unknown", e.ToolCallID)
			}
		}
	}
	if unknown != 2 {
		t.Errorf("%d calls of unknown outcome", unknown)
	}
	if files, _ := filepath.Glob(filepath.Join(cfg.workspace, "part-0-*")); len(files) != 0 {
		t.Errorf("written after all: %v", files)
	}
	if _, err := os.Stat(filepath.Join(cfg.workspace, "part-1-0.md")); err != nil {
		t.Errorf("the next stage: %v", err)
	}
	checkFolds(t, "outcome unknown", s.entriesAfter(id, 0))
}

// withTool replaces what a tool does.
func withTool(list []agent.Tool, name string, run func(context.Context, agent.ToolCall) agent.ToolResult) []agent.Tool {
	out := append([]agent.Tool(nil), list...)
	for i := range out {
		if out[i].Spec.Name == name {
			out[i].Run = run
		}
	}
	return out
}

// A tool that may be repeated is, once, and the run goes on in the same step.
func TestAReadIsRepeatedAfterATakeover(t *testing.T) {
	model := newStagehand(t)
	cfg := withProvider(t, model)
	var id string
	var runs atomic.Int32
	func() {
		a := testAppWithoutCleanup(t, cfg)
		srv := serveApp(t, a)
		s := &server{app: a, t: t, url: srv.URL}
		began := make(chan struct{}, 8)
		a.disp.tools = withTool(a.disp.tools, "list_files", func(ctx context.Context, c agent.ToolCall) agent.ToolResult {
			runs.Add(1)
			began <- struct{}{}
			<-ctx.Done()
			return agent.ToolResult{}
		})
		id = s.send(s.newChat(planning.Metronome), "m1", "task: plan").RunID
		<-began
		s.seen(id, "the writes of the stage", func(log []*part.Entry) bool { return len(outputsOf(log)) >= 3 })
		srv.CloseClientConnections()
		srv.Close()
		if err := a.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	calls := model.Calls()
	s := startServerOf(t, testApp(t, cfg))
	if r := s.wait(id, ended); r.State != "finished" {
		t.Errorf("ended as %s", r.State)
	}
	log := s.entriesAfter(id, 0)
	if out := outputsOf(log)["c-list-0"]; len(out) != 1 || strings.Contains(out[0], "interrupted") || runs.Load() != 1 {
		t.Errorf("the read came to %v after %d runs before", out, runs.Load())
	}
	if n := model.Calls() - calls; n != model.calls()-2 {
		t.Errorf("%d model calls after the takeover, want %d: the broken step's answer was asked for again", n, model.calls()-2)
	}
}

// A run that waits survives a restart and still waits; the answer continues it.
func TestAWaitingRunSurvivesARestart(t *testing.T) {
	for _, task := range []string{"task: ask", "task: close"} {
		t.Run(task[6:], func(t *testing.T) {
			model := newStagehand(t)
			s := newSetup(t, model.OpenAI())
			p := s.start(t)
			chat := p.newChat(planning.Metronome)
			id := p.send(chat, "m1", task).RunID
			p.wait(id, waits)
			p.kill()
			p = s.start(t)
			p.wait(id, waits)
			if d := p.terminate(); d > 5*time.Second {
				t.Errorf("SIGTERM took %s", d)
			}
			p = s.start(t)
			p.wait(id, waits)
			calls := model.Calls()
			if got := p.send(chat, "m2", "Red, please"); got.State != "answered" || got.RunID != id {
				t.Errorf("the answer came to %+v", got)
			}
			checkAnswered(t, p.server, model, chat, id, calls)
		})
	}
}

// An answer that was stored and not delivered, because the owner was dead,
// reaches the next owner.
func TestAStoredAnswerReachesTheNextOwner(t *testing.T) {
	for _, task := range []string{"task: ask", "task: close"} {
		t.Run(task[6:], func(t *testing.T) {
			model := newStagehand(t)
			s := newSetup(t, model.OpenAI())
			p := s.start(t)
			chat := p.newChat(planning.Metronome)
			id := p.send(chat, "m1", task).RunID
			p.wait(id, waits)
			p.kill()
			calls := model.Calls()
			storeAnswer(t, s.data, chat, "Red, please")
			p = s.start(t)
			checkAnswered(t, p.server, model, chat, id, calls)
		})
	}
}

func waits(r run) bool { return r.State == "waiting" }

// checkAnswered: the run goes on with the answer, once, and ends well.
func checkAnswered(t *testing.T, s *server, model *stagehand, chat, id string, calls int) {
	t.Helper()
	r := s.wait(id, ended)
	if r.State != "finished" || len(r.Stages) != 1 || r.Stages[0].Icon != "check" {
		t.Errorf("ended as %s with stages %+v", r.State, r.Stages)
	}
	answers := 0
	for _, e := range s.entriesAfter(id, 0) {
		if e.Type == part.DataAnswer {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("%d answers in the log", answers)
	}
	if requests := model.Requests()[calls:]; len(requests) == 0 || !strings.Contains(string(requests[0].Body), "Red, please") {
		t.Errorf("the model was not told the answer in %d requests", len(requests))
	}
	if refused := model.Refused(); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
	var list struct{ Runs []run }
	s.call("GET", "/api/runs", nil, &list)
	if len(list.Runs) != 1 {
		t.Errorf("%d runs", len(list.Runs))
	}
}
