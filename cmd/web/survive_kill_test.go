package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
)

const (
	killRounds = 30
	killSeed   = 16
	storedRuns = 1000 // in the database while it is killed
)

// HO-16: a process that is killed at any moment of a run leaves nothing behind
// that the next one does not put right: the run goes on and ends, no text that
// could be read is lost, no tool that ended runs again.
func TestKilledAtARandomMoment(t *testing.T) {
	model := newStagehand(t)
	s := newSetup(t, model.OpenAI())
	storeRuns(t, s.data, storedRuns)
	random := rand.New(rand.NewPCG(killSeed, 0))
	p := s.start(t)
	for round := range killRounds {
		moment := moments[round%len(moments)](model, random)
		name := fmt.Sprintf("round %d, killed %s", round, moment.name)
		p = killRound(t, s, p, model, name, moment)
		if t.Failed() {
			t.Fatalf("%s: see above", name)
		}
	}
	checkIntegrity(t, s.data)
}

// moment is when a round kills: at a place where the model holds its answer, or
// in full flight; in both cases as soon as the log shows it.
type moment struct {
	name string
	hold string
	due  func(log []*part.Entry) bool
}

var moments = []func(m *stagehand, r *rand.Rand) moment{
	func(m *stagehand, r *rand.Rand) moment {
		stage, word := r.IntN(m.stages), r.IntN(m.words)
		return moment{name: fmt.Sprintf("at word %d of stage %d", word, stage), hold: placeWord(m.callOf(stage), word), due: textHas(fmt.Sprintf("w%d-%d ", stage, word))}
	},
	func(m *stagehand, r *rand.Rand) moment {
		stage, word := r.IntN(m.stages), r.IntN(m.words)
		return moment{name: fmt.Sprintf("while text flows, after word %d of stage %d", word, stage), due: textHas(fmt.Sprintf("w%d-%d ", stage, word))}
	},
	func(m *stagehand, r *rand.Rand) moment {
		id := fmt.Sprintf("c-write-%d-%d", r.IntN(m.stages), r.IntN(2))
		return moment{name: "while " + id + " runs", due: has(func(e *part.Entry) bool { return e.Type == part.ToolStart && e.ToolCallID == id })}
	},
	func(m *stagehand, r *rand.Rand) moment {
		id := fmt.Sprintf("c-list-%d", r.IntN(m.stages))
		return moment{name: "after the result of " + id, due: has(func(e *part.Entry) bool { return e.Type == part.ToolOutput && e.ToolCallID == id })}
	},
	func(m *stagehand, r *rand.Rand) moment {
		call := 1 + r.IntN(m.calls()-1)
		return moment{name: fmt.Sprintf("between a result and call %d", call), hold: placeBefore(call),
			due: has(func(e *part.Entry) bool { return e.Type == part.FinishStep && e.Step == call })}
	},
	func(m *stagehand, r *rand.Rand) moment {
		step := 1 + r.IntN(m.calls()-2)
		return moment{name: fmt.Sprintf("right after step %d", step), due: has(func(e *part.Entry) bool { return e.Type == part.FinishStep && e.Step == step })}
	},
	func(m *stagehand, r *rand.Rand) moment {
		stage := r.IntN(m.stages)
		return moment{name: fmt.Sprintf("inside advance %d", stage), hold: placeInAdvance(stage), due: has(func(e *part.Entry) bool {
			return e.Type == part.ToolInputDelta && e.ToolCallID == fmt.Sprintf("c-advance-%d", stage)
		})}
	},
	func(m *stagehand, r *rand.Rand) moment {
		stage := r.IntN(m.stages)
		return moment{name: fmt.Sprintf("as advance %d is called", stage), due: has(func(e *part.Entry) bool {
			return e.Type == part.ToolInputAvailable && e.ToolCallID == fmt.Sprintf("c-advance-%d", stage)
		})}
	},
}

func has(is func(*part.Entry) bool) func([]*part.Entry) bool {
	return func(log []*part.Entry) bool { return slices.ContainsFunc(log, is) }
}

func textHas(words string) func([]*part.Entry) bool {
	return func(log []*part.Entry) bool {
		for _, text := range texts(log) {
			if strings.Contains(text, words) {
				return true
			}
		}
		return false
	}
}

// texts are the log's text and reasoning by part id.
func texts(log []*part.Entry) map[string]string {
	out := map[string]string{}
	for _, e := range log {
		if e.Delta != "" {
			out[e.ID] += e.Delta
		}
	}
	return out
}

// killRound plays one run, kills the process in it, starts the next one and
// checks what came of it. It gives the process that lives.
func killRound(t *testing.T, s setup, p *process, model *stagehand, name string, m moment) *process {
	t.Helper()
	clearWorkspace(t, s.workspace)
	model.hold(m.hold)
	chat := p.newChat(planning.Metronome)
	id := p.send(chat, "m1", "task: plan").RunID
	before := p.seen(id, name, func(log []*part.Entry) bool { return m.due(log) || ends(log) })
	p.kill()
	files, calls := fileStates(t, s.workspace), model.Calls()
	model.hold("")

	p = s.start(t)
	if p.ready > 2*time.Second {
		t.Errorf("%s: ready after %s", name, p.ready)
	}
	if lost := lostText(before, p.entriesAfter(id, 0)); lost != "" {
		t.Errorf("%s: text is gone: %q", name, lost)
	}
	r := p.wait(id, ended)
	if r.State != "finished" || r.FinishReason != "stop" || len(r.Stages) != model.stages {
		t.Errorf("%s: ended as %s %s with %d stages", name, r.State, r.FinishReason, len(r.Stages))
	}
	for _, st := range r.Stages {
		if st.Icon != "check" || st.ClosedByRunEnd {
			t.Errorf("%s: stage %s is %s, closed by the run's end: %v", name, st.ID, st.Status, st.ClosedByRunEnd)
		}
	}
	after := p.entriesAfter(id, 0)
	checkNotRunAgain(t, name, before, after)
	checkFiles(t, name, s.workspace, files, before)
	checkRequests(t, name, model, calls, before)
	checkFolds(t, name, after)
	next := p.send(chat, "m2", "task: talk")
	if r := p.wait(next.RunID, ended); r.State != "finished" || len(r.Lead) == 0 {
		t.Errorf("%s: the next message: %s", name, r.State)
	}
	var open struct{ Runs []run }
	for _, state := range []string{"running", "queued", "waiting"} {
		if p.call("GET", "/api/runs?state="+state, nil, &open); len(open.Runs) != 0 {
			t.Errorf("%s: %d runs are %s with nobody at work", name, len(open.Runs), state)
		}
	}
	checkIntegrity(t, s.data)
	return p
}

func ends(log []*part.Entry) bool {
	return has(func(e *part.Entry) bool { return e.Type == part.Finish })(log)
}

// lostText is text of one log that the other one does not have at the same part.
func lostText(before, after []*part.Entry) string {
	now := texts(after)
	for id, text := range texts(before) {
		if !strings.HasPrefix(now[id], text) {
			return text
		}
	}
	return ""
}

// checkNotRunAgain: every call has one result, and the ones that were there
// before are the same after; no call that may not be repeated began twice.
func checkNotRunAgain(t *testing.T, name string, before, after []*part.Entry) {
	t.Helper()
	had, outputs, starts := outputsOf(before), outputsOf(after), map[string]int{}
	for id, list := range outputs {
		if len(list) != 1 {
			t.Errorf("%s: call %s has %d results", name, id, len(list))
		}
	}
	for id := range had {
		if d := cmp.Diff(had[id], outputs[id]); d != "" {
			t.Errorf("%s: the result of %s changed: %s", name, id, d)
		}
	}
	for _, e := range after {
		if e.Type == part.ToolStart {
			starts[e.ToolCallID]++
		}
	}
	for id, n := range starts {
		if n != 1 {
			t.Errorf("%s: call %s began %d times", name, id, n)
		}
	}
}

func outputsOf(log []*part.Entry) map[string][]string {
	out := map[string][]string{}
	for _, e := range log {
		if (e.Type == part.ToolOutput || e.Type == part.ToolOutputError) && !e.Preliminary {
			out[e.ToolCallID] = append(out[e.ToolCallID], string(e.Output)+e.ErrorText)
		}
	}
	return out
}

// checkFiles: what a finished call wrote was not written again; what a call
// wrote that has no error is there.
func checkFiles(t *testing.T, name, dir string, then map[string]string, before []*part.Entry) {
	t.Helper()
	now := fileStates(t, dir)
	for _, e := range before {
		if e.Type != part.ToolOutput {
			continue
		}
		for _, f := range e.Files {
			if then[f.Path] == "" || now[f.Path] != then[f.Path] {
				t.Errorf("%s: %s was written again: %s, then %s", name, f.Path, then[f.Path], now[f.Path])
			}
		}
	}
}

// checkRequests: no request was refused, and those after the kill tell every
// result that there was before it.
func checkRequests(t *testing.T, name string, model *stagehand, from int, before []*part.Entry) {
	t.Helper()
	if refused := model.Refused(); len(refused) > 0 {
		t.Errorf("%s: the provider refused: %v", name, refused)
	}
	told := map[string]string{}
	for _, r := range model.Requests()[from:] {
		_, _, results := asked(r)
		for id, result := range results {
			if was, ok := told[id]; ok && was != result {
				t.Errorf("%s: the result of %s was told as %s, then as %s", name, id, was, result)
			}
			told[id] = result
		}
	}
	for _, e := range before {
		if e.Type == part.ToolOutput && !e.Preliminary && len(told) > 0 && told[e.ToolCallID] == "" {
			t.Errorf("%s: the result of %s was not told again", name, e.ToolCallID)
		}
	}
}

// checkFolds: folding entry by entry equals folding at once.
func checkFolds(t *testing.T, name string, log []*part.Entry) {
	t.Helper()
	f := fold.New()
	last := int64(0)
	for _, e := range log {
		if e.Seq <= last {
			t.Errorf("%s: seq %d after %d", name, e.Seq, last)
		}
		last = e.Seq
		f.Apply(e)
	}
	if d := cmp.Diff(outline(fold.Fold(log)), outline(f.Snapshot())); d != "" {
		t.Errorf("%s: entry by entry differs from at once:\n%s", name, d)
	}
}

// checkIntegrity asks SQLite, through a connection of its own.
func checkIntegrity(t *testing.T, data string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(data, "stagefold.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity check: %q %v", verdict, err)
	}
	rows, err := db.Query("PRAGMA foreign_key_check")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if rows.Next() {
		t.Error("a foreign key leads nowhere")
	}
}

// fileStates tells files by inode and time: writing again changes them.
func fileStates(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			out[e.Name()] = fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
		}
	}
	return out
}

func clearWorkspace(t *testing.T, dir string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "part-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// storeRuns fills a data folder with finished runs.
func storeRuns(t *testing.T, dir string, n int) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: dir, Now: now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var chats sync.WaitGroup
	for w := range 20 {
		chats.Go(func() {
			for i := w; i < n; i += 20 {
				if err := storeRun(t, db, i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	chats.Wait()
}

func storeRun(t *testing.T, db *store.DB, i int) error {
	ctx := t.Context()
	chat, err := db.CreateChat(ctx, store.Chat{Title: fmt.Sprint("chat ", i), PlanningMode: planning.Metronome, Model: rehearsalName})
	if err != nil {
		return err
	}
	id := newID()
	if _, err := db.PostMessage(ctx, store.Post{ChatID: chat.ID, MessageID: "m1", Text: fmt.Sprint("question ", i), NewRunID: id, Model: rehearsalName, Mode: planning.Metronome}); err != nil {
		return err
	}
	log, _, err := db.Claim(ctx, id)
	if err != nil {
		return err
	}
	start := part.StartData{RunID: id, ChatID: chat.ID, MessageID: id, UserMessageID: "m1", UserText: fmt.Sprint("question ", i), Model: rehearsalName, PlanningMode: planning.Metronome}
	data, err := json.Marshal(start)
	if err != nil {
		return err
	}
	return log.Finish(ctx, nil,
		&part.Entry{Type: part.Start, Data: data}, &part.Entry{Type: part.StartStep, Step: 1},
		&part.Entry{Type: part.TextStart, Step: 1, ID: "text-1"}, &part.Entry{Type: part.TextDelta, Step: 1, ID: "text-1", Delta: strings.Repeat("An answer. ", 20)},
		&part.Entry{Type: part.TextEnd, Step: 1, ID: "text-1"}, &part.Entry{Type: part.FinishStep, Step: 1, FinishReason: part.ReasonStop},
		&part.Entry{Type: part.Finish, Step: 1, State: part.Finished, FinishReason: part.ReasonStop})
}

// storeAnswer is what an instance does for a message while the owner is dead.
func storeAnswer(t *testing.T, dir, chat, text string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: dir, Now: now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.PostMessage(t.Context(), store.Post{ChatID: chat, MessageID: "m2", Text: text, NewRunID: newID()})
	if err != nil || r.State != "answered" {
		t.Fatalf("stored as %+v, %v", r, err)
	}
}

// requestStop is what an instance does for a stop while the owner is dead.
func requestStop(t *testing.T, dir, runID string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: dir, Now: now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.RequestStop(t.Context(), runID); err != nil {
		t.Fatal(err)
	}
}
