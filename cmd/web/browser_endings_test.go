package main

import (
	"strings"
	"testing"

	"stagefold/internal/agent/fakeprovider"
	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// However a run ends, no row shows a running mark, the counter counts the rows
// that were done, and live page, reload and review agree (HO-10).
func TestBrowserEndings(t *testing.T) {
	plan, next := planCalls(planning.Classic, "a", "b", "c")
	openAI := wires["openai"]
	start := []turn{
		{calls: []toolCall{plan}},
		{calls: []toolCall{{"list_files", `{}`}}},
		{calls: []toolCall{next(1)}},
		{calls: []toolCall{{"read_file", `{"path":"prices.csv"}`}}},
	}
	for name, c := range map[string]struct {
		last         fakeprovider.Script
		state, icons string
		stop         bool
	}{
		"stopped":      {last: fakeprovider.Play(fakeprovider.T("Going "), fakeprovider.Hold(nil)), state: "stopped", icons: "check square circle", stop: true},
		"error":        {last: fakeprovider.Reply(403, "application/json", `{"error":{"message":"no"}}`), state: "failed", icons: "check x circle"},
		"output limit": {last: fakeprovider.Play(fakeprovider.T("Going on and"), fakeprovider.F("length"), fakeprovider.D()), state: "", icons: ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, p := provided(t, openAI, planning.Classic)
			var scripts []fakeprovider.Script
			for i, one := range start {
				scripts = append(scripts, openAI.script(i+1, one))
			}
			calls := 0
			p.Choose = func(fakeprovider.Request) fakeprovider.Script {
				calls++
				if calls <= len(scripts) {
					return scripts[calls-1]
				}
				return c.last
			}
			b.write("Do a, b and c")
			if c.stop {
				b.Wait("document.querySelector('#timeline').innerText.includes('Going')")
				b.Click("[data-action=stop]")
			}
			b.Wait("['finished', 'failed', 'stopped'].includes(document.querySelector('#timeline > [data-run-id]').dataset.runState)")
			icons := b.icons()
			if c.icons != "" && icons != c.icons {
				t.Errorf("icons %q, want %q", icons, c.icons)
			}
			if c.state != "" {
				b.ended(c.state)
			}
			counter := browsertest.Eval[string](b.Tab, "document.querySelector('.plan-count').textContent")
			if !strings.HasPrefix(counter, "1/3") {
				t.Errorf("counter %q", counter)
			}
			b.checkAtRest()
			id := b.runID()
			b.open("/runs/" + id)
			if got := b.icons(); got != icons {
				t.Errorf("the review shows %q, the chat %q", got, icons)
			}
			if got := browsertest.Eval[string](b.Tab, "document.querySelector('.plan-count').textContent"); got != counter {
				t.Errorf("the review counts %q, the chat %q", got, counter)
			}
		})
	}
}

// The answer stands below the rows without a click, in the order of the stream,
// once; a run without text says so (HO-11).
func TestBrowserAnswers(t *testing.T) {
	plan, next := planCalls(planning.Classic, "a", "b")
	begin := []turn{
		{text: []string{"Plan first."}, calls: []toolCall{plan}},
		{text: []string{"Now a."}, calls: []toolCall{{"list_files", `{}`}}},
		{text: []string{"a gave 7."}, calls: []toolCall{next(1)}},
		{calls: []toolCall{{"read_file", `{"path":"prices.csv"}`}}},
	}
	for name, c := range map[string]struct {
		last []turn
		want string // the texts in document order
	}{
		"text before the call":      {[]turn{{text: []string{"Answer: 7."}, calls: []toolCall{next(2)}}, {}}, "Plan first.|Now a.|a gave 7.|Answer: 7."},
		"text in a further message": {[]turn{{calls: []toolCall{next(2)}}, {text: []string{"Answer: 7."}}}, "Plan first.|Now a.|a gave 7.|Answer: 7."},
		"no text at all":            {[]turn{{calls: []toolCall{next(2)}}, {}}, "Plan first.|Now a.|a gave 7."},
	} {
		t.Run(name, func(t *testing.T) {
			b, p := provided(t, wires["anthropic"], planning.Classic, append(append([]turn(nil), begin...), c.last...)...)
			p.Repeat = true
			b.write("Do a and b")
			b.ended("finished")
			answered := strings.Contains(c.want, "Answer")
			if got := browsertest.Eval[bool](b.Tab, "document.querySelector('[data-region=answer]').innerText.includes('Answer: 7.')"); got != answered {
				t.Errorf("the answer stands below the rows: %v, want %v", got, answered)
			}
			if got := browsertest.Eval[bool](b.Tab, "document.querySelector('.outcome').innerText.includes('without an answer')"); got == answered {
				t.Errorf("the page says that there is no answer: %v", got)
			}
			b.openRows()
			if got := browsertest.Eval[string](b.Tab, "[...document.querySelectorAll('.part-text')].map(p => p.innerText.trim()).join('|')"); got != c.want {
				t.Errorf("texts %q, want %q", got, c.want)
			}
			b.checkAtRest()
		})
	}
}

// A question outranks everything: the row pauses, the tab's title says so, and the
// next message is the answer.
func TestBrowserQuestionOfTheAgent(t *testing.T) {
	plan, next := planCalls(planning.Classic, "a", "b")
	b, _ := provided(t, wires["openai"], planning.Classic,
		turn{calls: []toolCall{plan}},
		turn{text: []string{"I have to know."}, calls: []toolCall{{"ask_user", `{"question":"Which colour?","options":["red","blue"]}`}}},
		turn{calls: []toolCall{next(1)}},
		turn{calls: []toolCall{{"ask_user", `{"question":"Which size?"}`}}},
		turn{calls: []toolCall{next(2)}},
		turn{text: []string{"Thank you."}},
	)
	b.write("Paint it")
	b.Wait(iconsOf + " === 'pause circle'")
	b.Wait("document.title.startsWith('Waits for you · ') && document.querySelector('#waiting').innerText.includes('Which colour?')")
	b.Wait("document.querySelector('.chat-list [aria-current] .icon-pause')")
	b.Reload()
	b.Wait("document.documentElement.dataset.stream === 'open' && document.querySelectorAll('#waiting button').length === 2")
	b.Wait("document.title.startsWith('Waits for you · ')")
	b.Click("#waiting button[value=blue]")
	b.Wait(iconsOf + " === 'check pause'")
	b.Wait("document.querySelector('#waiting').innerText.includes('Which size?')")
	b.write("Very large")
	b.ended("finished")
	b.openRows()
	if got := browsertest.Eval[string](b.Tab, "document.querySelector('.rows').innerText"); !strings.Contains(got, "blue") || !strings.Contains(got, "Very large") {
		t.Errorf("the answers are not among the parts: %q", got)
	}
	b.checkAtRest()
}
