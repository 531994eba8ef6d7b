package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// wideText is what breaks pages: long words, long lines of code, a wide table.
const wideText = "averyveryvery" + "longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong/word/without/an/end.go\n\n" +
	"```go\nfunc main() { fmt.Println(\"a line of code that is much wider than any telephone is, and then some more of it\") }\n```\n\n" +
	"| one | two | three | four | five | six |\n|---|---|---|---|---|---|\n| a column | of a table | that is wider | than the page | on a | telephone |\n\n" +
	"1. One\n2. Two\n   - nested\n\n> A quotation.\n\nThe end of the answer.\n"

// looks brings the product into every state that a page can be in and calls each
// for each, with the tab on it.
func looks(t *testing.T, each func(b *browser, name string)) {
	t.Helper()
	plan, next := planCalls(planning.Classic, "Read the prices", "A stage with a title that is long enough to need more than one line on every screen that there is: "+strings.Repeat("word", 20), "Third")
	w := wires["openai"]
	turns := []turn{
		{think: "I plan.", text: []string{"I plan first."}, calls: []toolCall{plan}},
		{text: []string{"I read.\n\n" + wideText}, calls: []toolCall{{"read_file", `{"path":"prices.csv"}`}, {"read_file", `{"path":"no/such/` + strings.Repeat("long", 40) + `.csv"}`}}},
		{calls: []toolCall{next(1)}},
		{calls: []toolCall{{"ask_user", `{"question":"Which colour should the second stage have?","options":["red","blue"]}`}}},
		{calls: []toolCall{next(2)}},
		{calls: []toolCall{{"write_file", `{"path":"a.txt","content":"a\n"}`}, next(3)}},
		{text: []string{wideText}},
	}
	b, _ := provided(t, w, planning.Classic, turns...)
	b.open("/")
	each(b, "new")
	chat := b.newChat(planning.Classic)
	b.open("/chats/" + chat)
	each(b, "empty")
	run := b.send(chat, "m1", "Paint the prices "+strings.Repeat("unbroken", 30)).RunID
	b.Wait("document.querySelector('#waiting').innerText.includes('Which colour')")
	each(b, "waiting")
	b.Click("#waiting button[value=red]")
	b.ended("finished")
	b.openRows()
	b.Run("document.querySelectorAll('.part details:not([open]) > summary').forEach(s => s.click())")
	each(b, "finished")
	b.open("/runs/" + run)
	each(b, "review")
	b.open("/runs")
	each(b, "runs")
	b.open("/settings")
	each(b, "settings")
	b.open("/chats/nope")
	each(b, "error")

	s := startServer(t, testConfig(t))
	g := gated(s.app)
	r := *b
	r.server = s
	b = &r
	chat = s.newChat(planning.Metronome)
	b.open("/chats/" + chat)
	run = s.send(chat, "m1", "Survey the workspace and write survey.md").RunID
	b.Wait("document.querySelector('#timeline [data-run-id]')")
	for g.hold(s, run) && !slices.Contains(b.pageShows(run), "check") {
		g.release()
	}
	s.send(chat, "m2", "And what else?")
	b.Wait(queued + " === 'queued: And what else?'")
	each(b, "live")
	b.Type("p")
	b.Wait("!document.querySelector('#plan-pane').hidden")
	each(b, "plan pane")
	b.Type("p")
	s.call("POST", "/api/runs/"+run+"/stop", nil, nil)
	b.ended("stopped")
	b.Wait(queued + " === 'held: And what else?'")
	each(b, "stopped")

	s = startServer(t, testConfig(t))
	r = *b
	r.server = s
	chat = s.newChat(planning.Steps)
	s.wait(s.send(chat, "m1", "Please fail on the way").RunID, ended)
	b.open("/chats/" + chat)
	each(b, "failed")
	chat = s.newChat(planning.None)
	s.wait(s.send(chat, "m1", "What can you do?").RunID, ended)
	b.open("/chats/" + chat)
	each(b, "no plan")
}

// No page in any state breaks an accessibility rule of axe, in light and dark, or
// is wider than the screen, down to 320 pixels; nothing lies under the dock.
func TestBrowserLooks(t *testing.T) {
	axe, err := os.ReadFile("../../static/client/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal("axe-core is missing; run npm ci in static/client")
	}
	shots := os.Getenv("STAGEFOLD_SHOTS") // a folder for pictures of all this, for people
	looks(t, func(b *browser, name string) {
		for _, width := range []int{1280, 390, 320} {
			b.Viewport(width, 800)
			if over := browsertest.Eval[int](b.Tab, "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s at %d: %d pixels too wide: %s", name, width, over, widest(b))
			}
			b.Run("scrollTo({ top: document.scrollingElement.scrollHeight, behavior: 'instant' })")
			if !browsertest.Eval[bool](b.Tab, `(() => {
				const dock = document.querySelector('.dock'), last = [...document.querySelectorAll('#timeline > *')].at(-1)
				return !dock || !last || last.getBoundingClientRect().bottom <= dock.getBoundingClientRect().top + 40
			})()`) {
				t.Errorf("%s at %d: the dock hides the end", name, width)
			}
			for _, dark := range []bool{false, true} {
				b.Dark(dark)
				if shots != "" {
					b.View(filepath.Join(shots, fmt.Sprintf("%s-%d-%v.png", strings.ReplaceAll(name, " ", "-"), width, dark)))
				}
				if width == 320 || width == 390 && dark {
					continue
				}
				b.Run("window.axe ? 0 : " + "(0, eval)(" + string(mustJSON(string(axe))) + ")")
				for _, v := range browsertest.Eval[[]string](b.Tab, `axe.run(document, { resultTypes: ['violations'] }).then(r =>
					r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ': ' + n.target + ' ' + n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 240))))`) {
					t.Errorf("%s at %d, dark %v: %s", name, width, dark, v)
				}
			}
			b.Dark(false)
		}
		b.Viewport(1200, 800)
	})
}

// widest names what reaches beyond the screen.
func widest(b *browser) []string {
	return browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest('.scroll, pre')).slice(0, 5).map(e => e.tagName + '.' + e.className)`)
}
