package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	fp "stagefold/internal/agent/fakeprovider"
)

// stagehand is a model whose answer depends only on what the request says, so
// that a step which is taken back is played again word for word: a task is a
// plan of stages, each told, worked on and advanced, then a closing text.
type stagehand struct {
	*fp.Server
	stages int
	words  int // of each stage's text
	bytes  int // of each file it writes

	mu   sync.Mutex
	held string // the place where answers hold, see place; "" for nowhere
	free chan struct{}
}

// The places at which an answer can hold.
func placeBefore(call int) string         { return fmt.Sprintf("before %d", call) }
func placeWord(call, word int) string     { return fmt.Sprintf("word %d of %d", word, call) }
func placeInAdvance(stage int) string     { return fmt.Sprintf("in advance %d", stage) }
func (m *stagehand) callOf(stage int) int { return 1 + 2*stage } // the call that works on a stage; the next one advances
func (m *stagehand) calls() int           { return 2 + 2*m.stages }

func newStagehand(t testing.TB) *stagehand {
	m := &stagehand{Server: fp.Start(t), stages: 3, words: 60, bytes: 2000, free: make(chan struct{})}
	m.Choose = m.answer
	return m
}

// hold lets every answer hold at the place until the next call of hold.
func (m *stagehand) hold(place string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.free)
	m.held, m.free = place, make(chan struct{})
}

// at is a step that holds where the place is held.
func (m *stagehand) at(place string) fp.Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == place {
		return fp.Hold(m.free)
	}
	return fp.Flush()
}

// asked is what a request says: the last message of the user, and how many
// answers with calls came after it.
func asked(r fp.Request) (text string, answers int, results map[string]string) {
	var body struct {
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct{}      `json:"tool_calls"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(r.Body, &body)
	results = map[string]string{}
	for _, m := range body.Messages {
		switch {
		case m.Role == "user" && strings.Contains(string(m.Content), "task:"):
			text, answers = string(m.Content), 0
		case m.Role == "assistant" && len(m.ToolCalls) > 0:
			answers++
		case m.Role == "tool":
			results[m.ToolCallID] = string(m.Content)
		}
	}
	return text, answers, results
}

// answer is the script of a call. Tasks are: plan, small talk, ask a tool,
// closing question.
func (m *stagehand) answer(r fp.Request) fp.Script {
	text, n, _ := asked(r)
	switch {
	case strings.Contains(text, "task: talk"):
		return fp.Play(fp.T("Nothing to do; "), fp.T("all is well."), fp.F("stop"), fp.D())
	case strings.Contains(text, "task: plan"):
		return fp.Play(append([]fp.Step{m.at(placeBefore(n))}, m.planned(n)...)...)
	case strings.Contains(text, "task: flood"):
		return m.flood()
	case strings.Contains(text, "task: ask"):
		return m.asking(n, true, false)
	case strings.Contains(text, "task: close"):
		return m.asking(n, false, strings.Contains(string(r.Body), "Which colour?"))
	}
	return fp.Reply(400, "application/json", `{"error":{"message":"no such task"}}`)
}

func (m *stagehand) planned(n int) []fp.Step {
	switch stage := (n - 1) / 2; {
	case n == 0:
		return []fp.Step{fp.T("I make a plan first."), fp.C(0, "c-plan", "plan", m.plan()), fp.FU("tool_calls", 100, 20), fp.D()}
	case n >= m.calls()-1:
		return []fp.Step{fp.T("All stages are done. "), fp.T("The files are there."), fp.FU("stop", 100, 20), fp.D()}
	case n%2 == 1:
		return m.working(n, stage)
	default:
		args := string(mustJSON(map[string]string{"evidence": fmt.Sprintf("stage %d is on disk", stage)}))
		half := len(args) / 2
		return []fp.Step{fp.C(0, fmt.Sprintf("c-advance-%d", stage), "advance", args[:half]), fp.Flush(), m.at(placeInAdvance(stage)),
			fp.C(0, "-", "-", args[half:]), fp.FU("tool_calls", 100, 20), fp.D()}
	}
}

func (m *stagehand) plan() string {
	type stage struct {
		ID          string `json:"id"`
		Content     string `json:"content"`
		Deliverable string `json:"deliverable"`
	}
	var list []stage
	for i := range m.stages {
		list = append(list, stage{fmt.Sprintf("s%d", i), fmt.Sprintf("Survey part %d", i), fmt.Sprintf("part-%d.md", i)})
	}
	return string(mustJSON(map[string]any{"stages": list}))
}

// working tells what it does, writes two files, and looks around.
func (m *stagehand) working(n, stage int) []fp.Step {
	var steps []fp.Step
	for w := range m.words {
		steps = append(steps, fp.T(fmt.Sprintf("w%d-%d ", stage, w)), fp.Flush(), m.at(placeWord(n, w)))
	}
	for i := range 2 {
		args := mustJSON(map[string]string{"path": fmt.Sprintf("part-%d-%d.md", stage, i), "content": strings.Repeat(fmt.Sprintf("%d\n", stage), m.bytes/2)})
		steps = append(steps, fp.C(i, fmt.Sprintf("c-write-%d-%d", stage, i), "write_file", string(args)))
	}
	steps = append(steps, fp.C(2, fmt.Sprintf("c-list-%d", stage), "list_files", `{"path":"."}`))
	return append(steps, fp.FU("tool_calls", 100, 20), fp.D())
}

// flood is a text of 2 MB.
func (m *stagehand) flood() fp.Script {
	var steps []fp.Step
	paragraph := strings.Repeat("a word of the flood ", 50) + "\n\n"
	for range 2000 {
		steps = append(steps, fp.T(paragraph), fp.Flush())
	}
	return fp.Play(append(steps, fp.T("The end."), fp.F("stop"), fp.D())...)
}

// asking plans one stage, asks (by a tool, or by a closing question), and goes
// on with the answer.
func (m *stagehand) asking(n int, byTool, wasAsked bool) fp.Script {
	steps := [][]fp.Step{
		{fp.C(0, "c-p", "plan", `{"stages":[{"id":"s0","content":"Ask","deliverable":"answered.md"}]}`), fp.F("tool_calls"), fp.D()},
		{fp.C(0, "c-w", "write_file", `{"path":"answered.md","content":"yes\n"}`), fp.F("tool_calls"), fp.D()},
		{fp.C(0, "c-a", "advance", `{"evidence":"answered.md"}`), fp.F("tool_calls"), fp.D()},
		{fp.T("Done as you said."), fp.F("stop"), fp.D()},
	}
	switch {
	case byTool && n == 1:
		return fp.Play(fp.C(0, "c-q", "ask_user", `{"question":"Which colour?","options":["red","blue"]}`), fp.F("tool_calls"), fp.D())
	case byTool && n > 1:
		n--
	case n == 1 && !wasAsked:
		return fp.Play(fp.T("I can go on.\n\nWhich colour?"), fp.F("stop"), fp.D())
	}
	return fp.Play(steps[min(n, len(steps)-1)]...)
}
