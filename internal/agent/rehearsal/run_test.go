package rehearsal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stagefold/internal/agent"
	"stagefold/internal/agent/rehearsal"
	"stagefold/internal/agent/tools"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var modes = []planning.Mode{planning.Metronome, planning.Classic, planning.Checklist, planning.Steps, planning.None}

// stagehand runs the model in the real loop with the real tools.
type stagehand struct {
	dir     string
	mode    planning.Mode
	prior   []agent.Turn
	plan    planning.State
	denied  string                              // a tool that the user does not allow
	without []string                            // tools that are not offered
	before  func(name string) *agent.ToolResult // nil, or in place of a tool's own result
	limits  agent.Limits
}

// played is what a run left behind.
type played struct {
	outcome agent.Outcome
	entries []*part.Entry
	parts   []*part.Part
	state   planning.State
}

// sampled is a new workspace with the sample project.
func sampled(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspace")
	set, err := tools.Workspace(dir, tools.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (h stagehand) play(t testing.TB, prompt string) played {
	t.Helper()
	set, err := tools.Workspace(h.dir, tools.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	list := set.Tools()
	list = slices.DeleteFunc(list, func(tool agent.Tool) bool { return slices.Contains(h.without, tool.Spec.Name) })
	for i := range list {
		list[i].Approval = false
		run := list[i].Run
		list[i].Run = func(ctx context.Context, c agent.ToolCall) agent.ToolResult {
			if c.Name == h.denied {
				return agent.ToolResult{Err: &planning.ToolError{Code: "denied", Message: "The user denied this call; it did not run."}}
			}
			if h.before != nil {
				if result := h.before(c.Name); result != nil {
					return *result
				}
			}
			return run(ctx, c)
		}
	}
	log := &agent.MemoryLog{}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	outcome := agent.Run(t.Context(), agent.Job{
		RunID: "run", ChatID: "chat", UserMessageID: "message", UserText: prompt,
		Model: rehearsal.New(0), ModelName: rehearsal.Name, Mode: h.mode, Prior: h.prior, Plan: h.plan,
		Tools: list, Limits: h.limits, Workspace: "workspace",
		Now: func() time.Time { return clock },
	}, log)
	if outcome.Err != nil {
		t.Fatal(outcome.Err)
	}
	out := played{outcome: outcome, entries: log.Entries()}
	out.parts = part.Build(out.entries)
	out.state, _ = log.State()
	return out
}

// text is all that the model said.
func (p played) text() string {
	var b strings.Builder
	for _, q := range p.parts {
		if q.Kind == part.KindText {
			b.WriteString(q.Text)
		}
	}
	return b.String()
}

// calls are the calls of these tools, all where none is named.
func (p played) calls(names ...string) []*part.Tool {
	var out []*part.Tool
	for _, q := range p.parts {
		if q.Tool != nil && (len(names) == 0 || slices.Contains(names, q.Tool.Name)) {
			out = append(out, q.Tool)
		}
	}
	return out
}

// stages is the last plan that was stored.
func (p played) stages(t testing.TB) []planning.Stage {
	t.Helper()
	var last planning.Plan
	for _, e := range p.entries {
		if e.Type == part.DataPlan {
			var data part.PlanData
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			last = data.Plan
		}
	}
	return last.Stages
}

func (p played) finish() *part.Entry { return p.entries[len(p.entries)-1] }

// counts is an independent count of a workspace.
type counts struct {
	files, lines, todos, longest int
	longestPath                  string
	kinds                        map[string]int
}

// count reads the folder by itself; report is left out.
func count(t testing.TB, dir, report string) counts {
	t.Helper()
	c := counts{kinds: map[string]int{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == report {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		c.files++
		c.kinds[filepath.Ext(name)]++
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(data) == 0 {
			lines = nil
		}
		c.lines += len(lines)
		for _, line := range lines {
			if strings.Contains(line, "TODO") {
				c.todos++
			}
		}
		if len(lines) > c.longest {
			c.longest, c.longestPath = len(lines), name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rows are the table rows that must stand in a report and in the answer.
func (c counts) rows() []string {
	return []string{
		fmt.Sprintf("| Files | %d |", c.files),
		fmt.Sprintf("| Files read as text | %d |", c.files),
		fmt.Sprintf("| Total lines | %d |", c.lines),
		fmt.Sprintf("| Longest file | `%s` (%d lines) |", c.longestPath, c.longest),
		fmt.Sprintf("| Open TODO lines | %d |", c.todos),
	}
}

func (c counts) check(t testing.TB, text string) {
	t.Helper()
	for _, row := range c.rows() {
		if !strings.Contains(text, row) {
			t.Errorf("%q is missing in:\n%s", row, text)
		}
	}
}

func TestTaskInEveryMode(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			dir := sampled(t)
			run := stagehand{dir: dir, mode: mode}.play(t, "Survey the shop and write it down")
			if run.outcome.State != part.Finished || run.outcome.Reason != part.ReasonStop || len(run.finish().Debt) > 0 {
				t.Fatalf("ended %+v, %+v", run.outcome, run.finish())
			}
			want := count(t, dir, "report.md")
			report, err := os.ReadFile(filepath.Join(dir, "report.md"))
			if err != nil {
				t.Fatal(err)
			}
			want.check(t, string(report))
			want.check(t, run.text())
			for _, kind := range []string{"| Go | 2 |", "| Markdown | 2 |", "| Python | 1 |", "| JavaScript | 1 |", "| CSV | 1 |", "| other | 1 |"} {
				if !strings.Contains(string(report), kind) {
					t.Errorf("%q is missing in:\n%s", kind, report)
				}
			}
			for _, mark := range []string{"|---|", "\n- ", "```text\n"} {
				if !strings.Contains(run.text(), mark) {
					t.Errorf("the answer has no %q", mark)
				}
			}
			checkCalls(t, run)
			if mode != planning.None {
				checkPlan(t, run)
			}
		})
	}
}

// checkCalls: nothing failed or was made twice, and several files were read in
// one step.
func checkCalls(t *testing.T, run played) {
	t.Helper()
	seen, reads := map[string]bool{}, map[int]int{}
	for _, p := range run.parts {
		if p.Tool == nil {
			continue
		}
		key := p.Tool.Name + string(p.Tool.Input)
		if p.State != part.StateOutputAvailable || seen[key] && p.Tool.Name != planning.ToolAdvance {
			t.Errorf("%s is %s: %s", key, p.State, p.Tool.ErrorText)
		}
		seen[key] = true
		if p.Tool.Name == "read_file" {
			reads[p.Step]++
		}
	}
	most := 0
	for _, n := range reads {
		most = max(most, n)
	}
	if most < 2 {
		t.Errorf("reads by step: %v", reads)
	}
	if last := run.calls(); last[len(last)-1].Name != "complete" {
		t.Errorf("the last call is %s", last[len(last)-1].Name)
	}
}

// checkPlan: four stages at least, about the prompt, all closed, none of them
// without work.
func checkPlan(t *testing.T, run played) {
	t.Helper()
	stages := run.stages(t)
	if len(stages) < 4 || !strings.Contains(stages[0].Content, "Survey the shop") || !strings.Contains(stages[2].Content, "'shop'") {
		t.Errorf("stages %+v", stages)
	}
	for _, s := range stages {
		if !s.Status.IsDone() || s.Unverified {
			t.Errorf("stage %+v", s)
		}
	}
	for _, call := range run.calls(planning.ToolAdvance) {
		if strings.Contains(string(call.Output), `"refused":true`) {
			t.Errorf("refused: %s", call.Output)
		}
	}
}

func TestEvidenceIsReal(t *testing.T) {
	dir := sampled(t)
	run := stagehand{dir: dir, mode: planning.Metronome}.play(t, "Tidy up")
	want := count(t, dir, "report.md")
	stages := run.stages(t)
	for i, says := range []string{
		fmt.Sprintf("list_files shows %d files of 6 kinds", want.files),
		fmt.Sprintf("%d of %d files read, %d lines in all", want.files, want.files, want.lines),
		fmt.Sprintf("%d lines hold 'TODO'", want.todos),
		"report.md written",
		"report.md read back",
	} {
		if !strings.Contains(stages[i].Evidence, says) {
			t.Errorf("stage %d: %q, want %q", i+1, stages[i].Evidence, says)
		}
	}
	if !strings.Contains(stages[4].Evidence, "equal to what was written") {
		t.Errorf("the check says %q", stages[4].Evidence)
	}
}

func TestQuestionGetsAPlainAnswer(t *testing.T) {
	for _, mode := range modes {
		for _, prompt := range []string{"What can you do?", "Can you fail for long? ", "**Really?**", "何ができますか？", "“Hello?”"} {
			run := stagehand{dir: sampled(t), mode: mode}.play(t, prompt)
			if len(run.calls()) != 0 || run.outcome.State != part.Finished || !strings.Contains(run.text(), "rehearsal model") {
				t.Errorf("%s, %q: %+v, %d calls", mode, prompt, run.outcome, len(run.calls()))
			}
		}
	}
}

func TestFail(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			run := stagehand{dir: sampled(t), mode: mode}.play(t, "Please FAIL for me")
			err := run.finish().Error
			if run.outcome.State != part.FailedRun || err == nil || !strings.HasPrefix(err.Message, "rehearsed failure") {
				t.Fatalf("ended %+v, %+v", run.outcome, err)
			}
			if mode == planning.None {
				if len(run.calls("read_file")) != 8 || len(run.calls("search_files")) != 0 {
					t.Errorf("%d calls", len(run.calls()))
				}
				return
			}
			done := 0
			for _, s := range run.stages(t) {
				if s.Status.IsDone() {
					done++
				}
			}
			if done != 2 {
				t.Errorf("%d stages are done", done)
			}
		})
	}
}

func TestWordsThatOnlyLookLikeFailAndLong(t *testing.T) {
	run := stagehand{dir: sampled(t), mode: planning.Metronome}.play(t, "See whether failures belong along the failsafe")
	if run.outcome.State != part.Finished || len(run.stages(t)) != 5 {
		t.Errorf("%+v with %d stages", run.outcome, len(run.stages(t)))
	}
}

func TestLong(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			dir := sampled(t)
			run := stagehand{dir: dir, mode: mode}.play(t, "A long survey of the shop")
			if run.outcome.State != part.Finished || len(run.finish().Debt) > 0 {
				t.Fatalf("ended %+v", run.outcome)
			}
			if stages := run.stages(t); mode != planning.None && len(stages) != 8 {
				t.Errorf("%d stages", len(stages))
			}
			words := len(strings.Fields(run.text()))
			if words < 2500 { // at 40 ms a word, well over a minute and a half
				t.Errorf("only %d words", words)
			}
			want := count(t, dir, "report.md")
			want.check(t, run.text())
		})
	}
}
