package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stagefold/internal/agent/fakeprovider"
	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// turn is one answer of a provider's model, in no wire format yet.
type turn struct {
	think string
	text  []string        // in pieces
	hold  <-chan struct{} // before the last piece of the text
	calls []toolCall
}

type toolCall struct{ name, input string }

// wire is a format in which a provider answers.
type wire struct {
	model  string
	set    func(*config, *fakeprovider.Server)
	script func(n int, t turn) fakeprovider.Script
}

var wires = map[string]wire{
	"openai": {"openai/fake", func(c *config, s *fakeprovider.Server) { c.openAIKey, c.openAIBase = "k", s.OpenAI() }, openAIScript},
	"anthropic": {"anthropic/fake", func(c *config, s *fakeprovider.Server) { c.anthropicKey, c.anthropicBase = "k", s.Anthropic() },
		anthropicScript},
}

func openAIScript(n int, t turn) fakeprovider.Script {
	var steps []fakeprovider.Step
	if t.think != "" {
		half := len(t.think) / 2
		steps = append(steps, fakeprovider.R(t.think[:half]), fakeprovider.R(t.think[half:]))
	}
	steps = append(steps, pieces(t, fakeprovider.T)...)
	reason := "stop"
	for i, c := range t.calls {
		reason = "tool_calls"
		steps = append(steps, fakeprovider.C(i, fmt.Sprintf("call-%d-%d", n, i), c.name, ""))
		for p := range slices.Chunk([]rune(c.input), 11) {
			steps = append(steps, fakeprovider.C(i, "-", "-", string(p)))
		}
	}
	return fakeprovider.Play(append(steps, fakeprovider.F(reason), fakeprovider.U(900+n, 40), fakeprovider.D())...)
}

func anthropicScript(n int, t turn) fakeprovider.Script {
	steps := []fakeprovider.Step{fakeprovider.AStart(900+n, 0, 0), fakeprovider.APing()}
	block := 0
	if t.think != "" {
		steps = append(steps, fakeprovider.AThink(block, t.think, fmt.Sprint("signature", n)))
		block++
	}
	if len(t.text) > 0 {
		steps = append(steps, pieces(t, func(text string) fakeprovider.Step { return fakeprovider.AText(block, text) })...)
		block++
	}
	reason := "end_turn"
	for i, c := range t.calls {
		reason = "tool_use"
		steps = append(steps, fakeprovider.ATool(block+i, fmt.Sprintf("call-%d-%d", n, i), c.name))
		for p := range slices.Chunk([]rune(c.input), 11) {
			steps = append(steps, fakeprovider.AJson(block+i, string(p)))
		}
	}
	return fakeprovider.Play(append(steps, fakeprovider.AEnd(reason, 40))...)
}

func pieces(t turn, make func(string) fakeprovider.Step) []fakeprovider.Step {
	var steps []fakeprovider.Step
	for i, p := range t.text {
		if t.hold != nil && i == len(t.text)-1 {
			steps = append(steps, fakeprovider.Hold(t.hold))
		}
		steps = append(steps, make(p))
	}
	return steps
}

// oddCuts cuts a frame where nothing ends: in the middle of names, numbers and
// letters of several bytes.
func oddCuts(b []byte) [][]byte { return slices.Collect(slices.Chunk(b, 37)) }

// provided starts the product with a provider that plays the turns, and a tab on
// a new chat.
func provided(t *testing.T, w wire, mode planning.Mode, turns ...turn) (*browser, *fakeprovider.Server) {
	t.Helper()
	var scripts []fakeprovider.Script
	for i, one := range turns {
		scripts = append(scripts, w.script(i+1, one))
	}
	p := fakeprovider.Start(t, scripts...)
	p.Cut = oddCuts
	cfg := testConfig(t)
	cfg.model = w.model
	w.set(&cfg, p)
	s := startServer(t, cfg)
	if err := os.WriteFile(filepath.Join(cfg.workspace, "prices.csv"), []byte("jar,3\nlid,1\nlabel,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(mode))
	return b, p
}

// plannedTurns are a task of three stages: several tools in one answer, a tool
// that fails, code, a table, letters of several bytes.
func plannedTurns(mode planning.Mode, hold <-chan struct{}) []turn {
	plan, next := planCalls(mode, "Read the prices", "Write the sum", "Check the sum")
	return []turn{
		{think: "Three stages will do; I begin with the prices.", text: []string{"I pl", "an fir", "st. Größe: 3 → 6 🙂\n"}, calls: []toolCall{plan}},
		{think: "Both files at once.", text: []string{"Reading **tw", "o** files."}, calls: []toolCall{{"read_file", `{"path":"prices.csv"}`}, {"read_file", `{"path":"nothing-here.csv"}`}, {"list_files", `{}`}}},
		{text: []string{"The prices are there, the other file is not."}, calls: []toolCall{next(1)}},
		{think: "3 + 1 + 2 = 6", text: []string{"The sum:\n\n```go\nsum := 3 + 1", " + 2\n// six\n", "fmt.Println(sum)\n```\n"}, hold: hold, calls: []toolCall{{"write_file", `{"path":"sum.txt","content":"6\n"}`}}},
		{calls: []toolCall{next(2)}},
		{text: []string{"I read it back."}, calls: []toolCall{{"read_file", `{"path":"sum.txt"}`}}},
		{calls: []toolCall{next(3)}},
		{think: "All done.", text: []string{"# The sum is 6\n\n| what | pri", "ce |\n|---|---:|\n| jar | 3 |\n| lid | 1 |\n| label | 2 |\n\nIt stands in `sum", ".txt`."}},
	}
}

// planCalls are the call that plans stages and those that settle the first n.
func planCalls(mode planning.Mode, contents ...string) (plan toolCall, next func(n int) toolCall) {
	type stage struct {
		ID          string `json:"id"`
		Content     string `json:"content"`
		Deliverable string `json:"deliverable,omitempty"`
		Status      string `json:"status,omitempty"`
	}
	list := func(done int) []stage {
		var out []stage
		for i, c := range contents {
			s := stage{ID: fmt.Sprint("s", i+1), Content: c}
			switch {
			case mode == planning.Metronome:
				s.Deliverable = "proof of: " + c
			case i < done:
				s.Status = "done"
			case i == done:
				s.Status = "in_progress"
			default:
				s.Status = "pending"
			}
			out = append(out, s)
		}
		return out
	}
	if mode == planning.Metronome {
		return toolCall{planning.ToolPlan, string(mustJSON(map[string]any{"stages": list(0)}))},
			func(n int) toolCall {
				return toolCall{planning.ToolAdvance, fmt.Sprintf(`{"evidence":"seen %d"}`, n)}
			}
	}
	todos := func(n int) toolCall {
		return toolCall{planning.ToolWriteTodos, string(mustJSON(map[string]any{"todos": list(n)}))}
	}
	return todos(0), todos
}

// A task in both wire formats with both planners: every part arrives once, in
// order, under its stage, and the page is the one of a reload.
func TestBrowserProviders(t *testing.T) {
	for name, w := range wires {
		for _, mode := range []planning.Mode{planning.Metronome, planning.Classic} {
			t.Run(name+"/"+string(mode), func(t *testing.T) {
				hold := make(chan struct{})
				b, p := provided(t, w, mode, plannedTurns(mode, hold)...)
				b.Run(recorder)
				b.write("Sum up the prices")
				b.Wait("[...document.querySelectorAll('.stage-row .md pre code')].some(c => c.textContent === 'sum := 3 + 1 + 2\\n// six\\n')")
				close(hold)
				b.ended("finished")

				if got := p.Refused(); len(got) > 0 {
					t.Errorf("the provider refused %q", got)
				}
				if got := b.icons(); got != "check check check" {
					t.Errorf("icons %q", got)
				}
				b.openRows()
				want := []string{
					"reasoning", "text: I plan first. Größe: 3 → 6 🙂", "row s1",
					"reasoning", "text: Reading two files.", "tool read_file output-available", "tool read_file output-error", "tool list_files output-available",
					"text: The prices are there, the other file is not.", "row s2",
					"reasoning", "text: The sum: sum := 3 + 1 + 2 // six fmt.Println(sum)", "tool write_file output-available", "row s3",
					"text: I read it back.", "tool read_file output-available",
					"reasoning", "text: The sum is 6 what price jar 3 lid 1 label 2 It stands in sum.txt.",
				}
				if got := b.parts(); !slices.Equal(got, want) {
					t.Errorf("the page shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if sum, err := os.ReadFile(filepath.Join(b.cfg.workspace, "sum.txt")); string(sum) != "6\n" {
					t.Errorf("sum.txt: %q, %v", sum, err)
				}
				b.checkAtRest()
			})
		}
	}
}

// parts are the rows and parts of the page in document order; planner calls are
// the rows themselves and do not count.
func (b *browser) parts() []string {
	b.t.Helper()
	return browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('#timeline .stage-row, #timeline [data-part-kind]')].map(e => {
		if (e.matches('.stage-row')) return 'row ' + e.dataset.stageId
		const kind = e.dataset.partKind
		if (kind === 'tool') return 'tool ' + e.dataset.tool + ' ' + e.dataset.state
		if (kind === 'text') return 'text: ' + e.innerText.replace(/\s+/g, ' ').trim()
		return kind
	})`)
}

// Without a plan the parts stand in the run, also when the provider breaks off.
func TestBrowserProviderBreaksOff(t *testing.T) {
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			b, p := provided(t, w, planning.Metronome)
			p.Choose = func(fakeprovider.Request) fakeprovider.Script {
				return fakeprovider.Reply(401, "application/json", `{"error":{"type":"authentication_error","message":"no such key"}}`)
			}
			b.write("Hello")
			b.ended("failed")
			if text := browsertest.Eval[string](b.Tab, "document.querySelector('.run-error').innerText"); !strings.Contains(text, "key") {
				t.Errorf("the page says %q", text)
			}
			b.checkAtRest()
		})
	}
}
