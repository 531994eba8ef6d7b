package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stagefold/internal/agent"
	"stagefold/internal/agent/rehearsal"
	"stagefold/internal/planning"
)

// improviser answers the model's calls with whatever it likes.
type improviser struct {
	req    agent.Request
	answer func(n int, tool string) (text string, failed bool)
	calls  int
	said   string // the text of the last step
}

// step makes one model call and answers its tool calls; it returns their number.
func (h *improviser) step(t testing.TB) (int, error) {
	t.Helper()
	var said, results []agent.Content
	text := ""
	names := map[string]string{}
	for c, err := range rehearsal.New(0).Stream(t.Context(), h.req) {
		if err != nil {
			return 0, err
		}
		switch c.Kind {
		case agent.ChunkText:
			text += c.Text
		case agent.ChunkToolStart:
			names[c.ID] = c.Name
		case agent.ChunkToolEnd:
			name := names[c.ID]
			said = append(said, agent.Content{Kind: agent.ContentToolCall, ToolCallID: c.ID, ToolName: name, Input: json.RawMessage(c.Text)})
			answer, failed := h.answer(h.calls, name)
			h.calls++
			results = append(results, agent.Content{Kind: agent.ContentToolResult, ToolCallID: c.ID, ToolName: name, Text: answer, IsError: failed})
		}
	}
	h.said = text
	said = append([]agent.Content{{Kind: agent.ContentText, Text: text}}, said...)
	h.req.Messages = append(h.req.Messages, agent.Message{Role: agent.RoleAssistant, Content: said})
	if len(results) > 0 {
		h.req.Messages = append(h.req.Messages, agent.Message{Role: agent.RoleTool, Content: results})
	}
	return len(results), nil
}

// run goes on until the model stops calling tools.
func (h *improviser) run(t testing.TB) error {
	t.Helper()
	for range 120 {
		n, err := h.step(t)
		if n == 0 || err != nil {
			return err
		}
	}
	t.Fatalf("still calling tools after 120 steps, the last with: %s", h.said)
	return nil
}

// ask is the runtime's ask for open stages.
func (h *improviser) ask(stages ...string) {
	text := "The plan still has open stages:\n"
	for i, s := range stages {
		text += fmt.Sprintf("- %s (s%d, pending)\n", s, i)
	}
	h.req.Messages = append(h.req.Messages, user(text+"Work on them now."))
}

// answers are the kinds of results that a call may get.
var answers = []struct {
	text   string
	failed bool
}{
	{"", false},
	{"plain text\nTODO\n", false},
	{"a.txt  10 bytes\nb/\nreport.md  3 bytes\n[2 files, 1 folder]", false},
	{"a.txt:3: TODO one\n[1 match in 1 file; 2 files searched]", false},
	{`{"refused":true,"reason":"no work"}`, false},
	{`{"error":{"code":"x","message":"it did not work"}}`, true},
	{"broken", true},
	{`{"plan":{"mode":"metronome","stages":null}}`, false},
	{"\x00\xff", false},
	{`[1,2`, true},
}

// TestNeverEndless: whatever the tools answer, the run ends, also when it is
// asked to go on, and a new message is worked on.
func TestNeverEndless(t *testing.T) {
	for _, mode := range modes {
		for i := range answers {
			for _, j := range []int{(i + 1) % len(answers), 2} {
				prompt := []string{"Survey", "Survey", "A long survey"}[(i+j)%3]
				t.Run(fmt.Sprint(mode, prompt, i, j), func(t *testing.T) {
					improvise(t, mode, prompt, func(n int) int {
						if n%3 == 0 {
							return i
						}
						return j
					})
				})
			}
		}
	}
}

func FuzzNeverEndless(f *testing.F) {
	f.Add("Survey and write x.md", []byte{2, 1, 3, 7, 7, 7}, uint8(0))
	f.Add("long", []byte{4, 4, 4, 2}, uint8(3))
	f.Add("<task_reminder>", []byte{5}, uint8(1))
	f.Fuzz(func(t *testing.T, prompt string, picks []byte, mode uint8) {
		if len(picks) == 0 {
			return
		}
		improvise(t, modes[int(mode)%len(modes)], prompt, func(n int) int { return int(picks[n%len(picks)]) % len(answers) })
	})
}

func improvise(t *testing.T, mode planning.Mode, prompt string, pick func(n int) int) {
	t.Helper()
	h := improviser{req: request(mode, prompt), answer: func(n int, _ string) (string, bool) {
		a := answers[pick(n)]
		return a.text, a.failed
	}}
	if err := h.run(t); err != nil {
		return // the rehearsed failure
	}
	for range 3 {
		h.ask("Survey the workspace: Survey", "Write the report", "Check the report against what was written")
		if h.run(t) != nil {
			return
		}
		h.req.Messages = append(h.req.Messages, user("Go on."))
		if h.run(t) != nil {
			return
		}
	}
	if strings.HasSuffix(strings.TrimSpace(h.said), "?") {
		t.Errorf("ends with a question: %s", h.said)
	}
	before := h.calls
	h.req.Messages = append(h.req.Messages, user("Survey something else"))
	if err := h.run(t); err != nil || h.calls == before {
		t.Errorf("a new message: %v, %d calls", err, h.calls-before)
	}
}

// TestRefusedAdvance: the model says more and tries again; when it stays
// refused, it does the work, names what is open, and tries once more when asked.
func TestRefusedAdvance(t *testing.T) {
	h := improviser{req: request(planning.Metronome, "Survey"), answer: func(_ int, tool string) (string, bool) {
		switch tool {
		case "advance", "complete":
			return `{"refused":true,"reason":"no work since the last stage"}`, false
		case "list_files":
			return "[the folder is empty]", false
		}
		return "fine", false
	}}
	if err := h.run(t); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(h.said, "I could not close these stages: Survey the workspace: Survey; Read the files") {
		t.Errorf("said %s", h.said)
	}
	count := func(tool string) (n int) {
		for _, m := range h.req.Messages {
			for _, c := range m.Content {
				if c.Kind == agent.ContentToolCall && c.ToolName == tool {
					n++
				}
			}
		}
		return n
	}
	if count("advance") != 3 || count("write_file") != 1 || count("complete") != 1 {
		t.Errorf("%d advance, %d write_file, %d complete", count("advance"), count("write_file"), count("complete"))
	}
	h.ask("Survey the workspace: Survey", "Read the files that the survey found", "Search for TODO and count", "Write the report", "Check the report against what was written")
	if err := h.run(t); err != nil || count("advance") != 4 || count("plan") != 1 {
		t.Errorf("%v, %d advance, %d plan after the ask", err, count("advance"), count("plan"))
	}
}

// TestReminders: the runtime's block changes nothing and is never said again.
func TestReminders(t *testing.T) {
	const block = "<task_reminder>\n- plan: stage 2/5, write everything again?\n</task_reminder>"
	plain := request(planning.Metronome, "Survey the shop")
	beside, within := plain, plain
	beside.Reminder = block
	within.Messages = []agent.Message{user("Survey the shop\n" + block)}
	want := chunks(t, plain)
	for name, req := range map[string]agent.Request{"beside": beside, "within": within} {
		got := chunks(t, req)
		if len(got) != len(want) {
			t.Fatalf("%s: %d chunks, want %d", name, len(got), len(want))
		}
		for i := range got {
			if got[i].Text != want[i].Text || strings.Contains(got[i].Text, "task_reminder") {
				t.Errorf("%s: %q, want %q", name, got[i].Text, want[i].Text)
			}
		}
	}
}
