package rehearsal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stagefold/internal/agent"
	"stagefold/internal/planning"
)

// script decides the next reply of a run. Each call is wanted at most once,
// each planner call is tried at most a few times, so that every run ends
// whatever the tools answer.
type script struct {
	scene  *scene
	brief  brief
	facts  facts
	report string  // the file the report goes to
	stages []stage // what is still worth doing, in order
}

func newScript(s *scene) *script {
	b := readPrompt(s.prompt)
	p := &script{scene: s, brief: b, facts: gather(s, b.word)}
	p.report = p.freeName()
	p.stages = p.plan()
	return p
}

// next is the answer to the scene.
func (p *script) next() reply {
	if p.brief.question {
		return p.plainAnswer()
	}
	first := 0
	if p.planner() {
		if !p.planned() {
			return p.planReply()
		}
		first = p.closed()
	}
	for i := first; i < len(p.stages); i++ {
		if i >= 2 && p.brief.fails {
			return p.failReply()
		}
		if todo := p.pending(p.stages[i]); len(todo) > 0 {
			return p.workReply(p.stages[i], todo)
		}
		if p.planner() {
			return p.closeReply(i)
		}
	}
	return p.finalReply()
}

// batch is how many files are read in one step.
const batch = 4

// pending is the stage's calls that were not made yet, one step's worth.
func (p *script) pending(st stage) []order {
	var todo []order
	for _, o := range st.orders {
		if _, done := p.scene.did(o); !done && p.scene.tools[o.tool] {
			todo = append(todo, o)
		}
	}
	most := batch
	if p.brief.long {
		most = 1
	}
	return todo[:min(len(todo), most)]
}

// planner: a planner's tool is offered and takes our calls.
func (p *script) planner() bool {
	return p.scene.mode() != planning.None && p.refusals() < 3+p.scene.asks
}

// refusals counts the planner calls that failed since the last accepted one.
func (p *script) refusals() int {
	n := 0
	for _, c := range p.scene.calls {
		if planning.IsPlannerTool(c.tool) {
			n++
			if !c.failed {
				n = 0
			}
		}
	}
	return n
}

// planned: the list that was accepted last is the one that we follow.
func (p *script) planned() bool {
	contents := make([]string, len(p.stages))
	for i, st := range p.stages {
		contents[i] = st.content
	}
	return slices.Equal(p.accepted(), contents)
}

// accepted is the stages of the last accepted list that are not written off.
func (p *script) accepted() []string {
	var contents []string
	for _, c := range p.scene.calls {
		if !c.failed && planning.IsPlannerTool(c.tool) && c.tool != "advance" {
			contents = nil
			for _, it := range c.items {
				if !it.writtenOff() {
					contents = append(contents, it.text())
				}
			}
		}
	}
	return contents
}

// closed is how many stages are done.
func (p *script) closed() int {
	n := 0
	for _, c := range p.scene.calls {
		switch {
		case c.failed || !planning.IsPlannerTool(c.tool):
		case c.tool == "advance":
			n++
		case p.scene.mode() != planning.Metronome:
			n = 0
			for _, it := range c.items {
				if it.Status == string(planning.Done) || it.Status == string(planning.Completed) {
					n++
				}
			}
		}
	}
	return min(n, len(p.stages))
}

// asked: the text is the runtime's ask for the stages that are open.
func (p *script) asked(text string) bool {
	contents := p.accepted()
	open := contents[min(p.closed(), len(contents)):]
	for _, content := range open {
		if !strings.Contains(text, content) {
			return false
		}
	}
	return len(open) > 0
}

func (p *script) planReply() reply {
	n := min(p.closed(), len(p.stages))
	r := reply{
		reasoning: fmt.Sprintf("This takes more than one action, so I plan first: %d stages for %q.", len(p.stages), p.brief.topic),
		text:      "I plan first, then I work through the stages one by one.\n",
		calls:     []order{planOrder(p.scene.mode(), p.brief.topic, p.listing(n), n)},
	}
	if len(p.accepted()) > 0 {
		r.reasoning = "What I planned no longer fits what happened. I change the plan before I go on."
		r.text = p.told() + "The plan changes: the report goes into the chat instead of a file.\n"
	}
	return r
}

func (p *script) workReply(st stage, todo []order) reply {
	names := make([]string, len(todo))
	for i, o := range todo {
		names[i] = describe(o)
	}
	text := p.told()
	if _, begun := p.scene.did(st.orders[0]); !begun {
		text += st.intro + "\n"
	}
	return reply{
		reasoning: fmt.Sprintf("Stage: %s. Next: %s.", st.content, strings.Join(names, ", ")),
		text:      text,
		calls:     todo,
	}
}

// closeReply says what stage i found and goes on to the next one.
func (p *script) closeReply(i int) reply {
	st := p.stages[i]
	text := p.told()
	if p.brief.long {
		text += prose[i%len(prose)] + "\n"
	}
	if st.says != "" {
		text += st.says + "\n"
	}
	if p.refusals() > 0 {
		text += p.account()
	}
	call := order{"advance", object(struct {
		Evidence string `json:"evidence"`
	}{st.evidence})}
	if p.scene.mode() != planning.Metronome {
		call = planOrder(p.scene.mode(), p.brief.topic, p.listing(i+1), i+1)
	}
	return reply{reasoning: "The stage has what it asked for: " + st.evidence + ". I close it.", text: text, calls: []order{call}}
}

func (p *script) failReply() reply {
	return reply{
		reasoning: "Two stages are done, and the prompt holds the word fail.",
		text:      "The next stage begins, and this model call is about to break",
		failure: &agent.ProviderError{
			Kind:    agent.KindRequest,
			Code:    "rehearsed_failure",
			Message: "rehearsed failure: the message holds the word 'fail', so the third stage's model call fails. Send it without that word to see the run succeed",
		},
	}
}

func (p *script) finalReply() reply {
	if p.scene.told > 0 || p.tried("complete") {
		return reply{text: p.farewell()}
	}
	r := reply{reasoning: "Everything is done that could be done. I give the answer.", text: p.told() + p.answer()}
	if p.scene.tools["complete"] {
		r.calls = []order{{"complete", object(struct {
			Summary string `json:"summary"`
		}{p.headline()})}}
	}
	return r
}

func (p *script) tried(tool string) bool {
	return slices.ContainsFunc(p.scene.calls, func(c call) bool { return c.tool == tool })
}

// object is v as JSON, readable.
func object(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings and numbers cannot fail
	return strings.TrimSpace(b.String())
}
