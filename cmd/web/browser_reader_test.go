package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent/fakeprovider"
	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// readerState is what the reader has on the page: what is open, how far an output
// is scrolled, what is selected, where the focus is, the draft.
const readerState = `(() => {
	const open = sel => [...document.querySelectorAll(sel)].map(d => d.open)
	return {
		row: open('.stage-row:first-of-type > details')[0],
		cards: open('.stage-row:first-of-type .part-tool > details'),
		thought: open('.stage-row:first-of-type .part-reasoning > details')[0],
		scroll: Math.round(document.querySelector('.stage-row:first-of-type [data-call-id=call-2-1] pre.out').scrollTop),
		selected: getSelection().toString(),
		focus: document.activeElement.name,
		caret: document.activeElement.selectionStart,
		draft: document.querySelector('#composer textarea').value,
	}
})()`

type readersState struct {
	Row      bool
	Cards    []bool
	Thought  bool
	Scroll   int
	Selected string
	Focus    string
	Caret    int
	Draft    string
}

// What the reader opened, closed, scrolled, selected and typed stays through
// deltas, a change of stage and a forced reconnect (HO-12), and a reload.
func TestBrowserReadersState(t *testing.T) {
	deltas, stage, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	plan, next := planCalls(planning.Metronome, "Read the long file", "Write it down")
	var words []string
	for i := range 200 {
		words = append(words, fmt.Sprintf("w%d ", i+1))
	}
	turns := []turn{
		{think: "A plan.", text: []string{"Lead with a word."}, calls: []toolCall{plan}},
		{think: "Three files.", text: []string{"I read."}, calls: []toolCall{{"read_file", `{"path":"long.txt"}`}, {"read_file", `{"path":"long.txt","offset":2}`}, {"read_file", `{"path":"prices.csv"}`}}},
		{text: []string{strings.Join(words[:100], ""), strings.Join(words[100:], "")}, hold: deltas, calls: []toolCall{next(1)}},
		{text: []string{"Second stage. ", "It goes on."}, hold: stage, calls: []toolCall{{"write_file", `{"path":"a.txt","content":"a"}`}}},
		{text: []string{"Done. ", "Really."}, hold: end, calls: []toolCall{next(2)}},
		{text: []string{"The answer."}},
	}
	b, p := provided(t, wires["openai"], planning.Metronome, turns...)
	p.Cut = fakeprovider.EachByte
	long := strings.Repeat("a line of the long file\n", 200)
	if err := os.WriteFile(filepath.Join(b.cfg.workspace, "long.txt"), []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	b.write("Read the long file")
	b.Wait("document.querySelector('.stage-row:first-of-type > details').open")
	b.Wait("document.querySelector('.stage-row:first-of-type').innerText.includes('w100')")

	// Card 2 is opened, the thought opened and closed again, an output scrolled,
	// a word of the lead selected, a draft begun.
	b.Click("[data-call-id=call-2-1] summary")
	b.Click(".stage-row:first-of-type .part-reasoning summary")
	b.Click(".stage-row:first-of-type .part-reasoning summary")
	b.Run("document.querySelector('[data-call-id=call-2-1] pre.out').scrollTop = 300")
	b.Click("#composer textarea")
	b.Type("half a thought")
	b.Run(`(() => { const p = document.querySelector('[data-region=lead] .part-text p').firstChild; getSelection().setBaseAndExtent(p, 5, p, 9) })()`)
	b.Run("document.querySelector('#composer textarea').focus({ preventScroll: true })")
	b.Run("document.querySelector('#composer textarea').setSelectionRange(4, 4)")
	b.Run(`(() => { const p = document.querySelector('[data-region=lead] .part-text p').firstChild; getSelection().setBaseAndExtent(p, 5, p, 9) })()`)
	before := browsertest.Eval[readersState](b.Tab, readerState)
	if !before.Row || before.Thought || before.Scroll != 300 || before.Draft != "half a thought" || before.Selected != "with" || !cmp.Equal(before.Cards, []bool{false, true, false}) {
		t.Fatalf("the reader's state is not set up: %+v", before)
	}
	// Any flip is noted, also one that is taken back.
	b.Run(`(() => { window.flips = 0; document.addEventListener('toggle', () => window.flips++, true) })()`)
	b.Wait("window.flips === 0")
	same := func(when string) {
		t.Helper()
		if d := cmp.Diff(before, browsertest.Eval[readersState](b.Tab, readerState)); d != "" {
			t.Errorf("%s, the reader's state (-before +after):\n%s", when, d)
		}
	}
	close(deltas)
	b.Wait("document.querySelector('.stage-row:first-of-type').innerText.includes('w200')")
	same("after deltas")
	b.Wait("document.querySelectorAll('.stage-row')[1].dataset.status === 'in_progress' && document.querySelectorAll('.stage-row')[1].querySelector(':scope > details').open")
	b.Wait("document.querySelectorAll('.stage-row')[1].innerText.includes('Second stage')")
	same("after a change of stage")

	// The stream breaks and comes back.
	b.reconnect()
	same("after a reconnect")
	close(stage)
	b.Wait("document.querySelectorAll('.stage-row')[1].innerText.includes('Done.')")
	same("after the reconnect's deltas")
	if n := browsertest.Eval[int](b.Tab, "window.flips"); n > 1 { // the second stage opened
		t.Errorf("%d elements opened or closed", n)
	}

	b.Reload()
	b.Wait("document.documentElement.dataset.stream === 'open' && document.querySelector('[data-call-id=call-2-1]')")
	after := browsertest.Eval[readersState](b.Tab, readerState)
	if !after.Row || after.Thought || after.Draft != before.Draft || !cmp.Equal(after.Cards, before.Cards) {
		t.Errorf("after a reload: %+v", after)
	}
	b.Run("document.querySelector('#composer textarea').value = ''")
	close(end)
	b.ended("finished")
	b.checkAtRest()
}

// reconnect breaks the page's connections and waits until it is back.
func (b *browser) reconnect() {
	b.t.Helper()
	b.Run(`(() => {
		window.lost = 0
		new MutationObserver(() => { if (document.documentElement.dataset.connection === 'lost') window.lost++ })
			.observe(document.documentElement, { attributeFilter: ['data-connection'] })
	})()`)
	b.http.CloseClientConnections()
	b.Wait("window.lost > 0 && document.documentElement.dataset.connection === 'live'")
}

// The live stage opens once by itself and folds when the next begins; what the
// reader opened or closed stays; opening a finished row loads its parts.
func TestBrowserDisclosure(t *testing.T) {
	s := startServer(t, testConfig(t))
	g := gated(s.app)
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(planning.Metronome))
	b.write("Survey the workspace and write survey.md")
	b.Wait("document.querySelector('#timeline [data-run-id]')")
	id := b.runID()
	open := func() string {
		return browsertest.Eval[string](b.Tab, "[...document.querySelectorAll('.stage-row > details')].map(d => d.open ? 'o' : '-').join('')")
	}
	want := map[int]string{} // by the number of stages done
	for g.hold(s, id) {
		done := strings.Count(strings.Join(b.pageShows(id), " "), "check")
		if _, seen := want[done]; seen || browsertest.Eval[int](b.Tab, "document.querySelectorAll('.stage-row').length") == 0 {
			g.release()
			continue
		}
		want[done] = "-"
		switch done {
		case 0:
			if got := open(); got != "o----" {
				t.Errorf("the first stage is live: %s", got)
			}
		case 1: // the first one folded by itself, its parts are dropped; the reader opens it again
			b.Wait("!document.querySelector('.stage-row > details').open")
			if got := open(); got != "-o---" {
				t.Errorf("the second stage is live: %s", got)
			}
			b.Wait("document.querySelector('.stage-row .row-body').childElementCount === 0")
			b.Click(".stage-row:first-of-type summary")
			b.Wait("document.querySelector('.stage-row .row-body').childElementCount > 0 && !document.querySelector('[aria-busy]')")
			if browsertest.Eval[string](b.Tab, "document.querySelector('.stage-row .row-body [data-tool]').dataset.tool") != "list_files" {
				t.Error("the opened row does not show its tool")
			}
			// The live one is closed by the reader and stays closed.
			b.Click(".stage-row:nth-of-type(2) > details > summary")
			if got := open(); got != "o----" {
				t.Errorf("the reader closed the live stage: %s", got)
			}
			b.Reload()
			b.Wait("document.documentElement.dataset.stream === 'open' && document.querySelector('.stage-row .row-body').childElementCount > 0")
			if got := open(); got != "o----" {
				t.Errorf("after a reload: %s", got)
			}
		case 2:
			b.Wait("document.querySelectorAll('.stage-row > details')[2].open")
			if got := open(); got != "o-o--" {
				t.Errorf("the third stage is live: %s", got)
			}
		}
		g.release()
	}
	b.ended("finished")
	if got := open(); got != "o---o" {
		t.Errorf("at the end: %s", got)
	}
	b.checkAtRest()
}

// The page follows the bottom only while the reader is near it.
func TestBrowserFollowsTheBottom(t *testing.T) {
	more, rest := make(chan struct{}), make(chan struct{})
	para := strings.Repeat("A paragraph of a long answer.\n\n", 40)
	b, p := provided(t, wires["anthropic"], planning.None)
	scripts := []fakeprovider.Script{fakeprovider.Play(fakeprovider.AText(0, para), fakeprovider.Hold(more), fakeprovider.AText(0, para), fakeprovider.Hold(rest), fakeprovider.AText(0, "The end."), fakeprovider.AEnd("end_turn"))}
	p.Choose = func(fakeprovider.Request) fakeprovider.Script { return scripts[0] }
	b.write("Write a long answer")
	const paragraphs = "document.querySelectorAll('#timeline .md p').length"
	b.Wait(paragraphs + " >= 39")
	const atBottom = "document.scrollingElement.scrollHeight - document.scrollingElement.scrollTop - innerHeight < 80"
	b.Wait(atBottom)
	if browsertest.Eval[bool](b.Tab, "getComputedStyle(document.querySelector('.jump')).display !== 'none' || getComputedStyle(document.querySelector('.new-below')).display !== 'none'") {
		t.Error("at the bottom the page says that there is more below")
	}
	// The reader scrolls up: the page stays where it is.
	b.Run("scrollBy({ top: -600, behavior: 'instant' })")
	b.Wait("getComputedStyle(document.querySelector('.jump')).display !== 'none'")
	top := browsertest.Eval[float64](b.Tab, "document.scrollingElement.scrollTop")
	close(more)
	b.Wait(paragraphs + " >= 79")
	b.Wait("getComputedStyle(document.querySelector('.new-below')).display !== 'none'")
	if now := browsertest.Eval[float64](b.Tab, "document.scrollingElement.scrollTop"); now < top-2 || now > top+2 {
		t.Errorf("the page moved from %v to %v under the reader", top, now)
	}
	b.Click("[data-action=jump]")
	b.Wait(atBottom + " && getComputedStyle(document.querySelector('.jump')).display === 'none'")
	close(rest)
	b.ended("finished")
	b.Wait(atBottom)
	// The composer does not hide the end.
	if !browsertest.Eval[bool](b.Tab, "[...document.querySelectorAll('.outcome')].at(-1).getBoundingClientRect().bottom <= document.querySelector('.dock').getBoundingClientRect().top + 24") {
		t.Error("the dock hides the end of the answer")
	}
	b.checkAtRest()
}
