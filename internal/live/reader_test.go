package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stagefold/internal/browsertest"
	"stagefold/internal/part"
)

// stages is a run's plan as a call of write_todos; the status words stand for
// stages one, two, ...
func stages(call string, status ...string) []*part.Entry {
	var list []todo
	for i, s := range status {
		list = append(list, todo{fmt.Sprintf("s%d", i+1), fmt.Sprintf("Stage %d", i+1), s})
	}
	w := &writer{step: 1}
	return w.tool(call, "write_todos", asJSON(map[string]any{"todos": list}), asJSON(map[string]any{"todos": list}))
}

func toolOf(call, output string) []*part.Entry {
	w := &writer{step: 1}
	return w.tool(call, "read_file", asJSON(map[string]string{"path": call + ".txt"}), asJSON(output))
}

func text(id, s string) []*part.Entry {
	w := &writer{step: 1}
	return []*part.Entry{w.entry(part.Entry{Type: part.TextStart, ID: id}), w.entry(part.Entry{Type: part.TextDelta, ID: id, Delta: s}), w.entry(part.Entry{Type: part.TextEnd, ID: id})}
}

func (s *site) delta(id, d string) {
	s.add("run", &part.Entry{Step: 1, Type: part.TextDelta, ID: id, Delta: d})
}

// row is the JavaScript of a stage's row; card that of a tool's details.
func row(n int) string { return fmt.Sprintf("document.querySelector('[data-stage-id=s%d]')", n) }
func card(call string) string {
	return fmt.Sprintf("document.querySelector('[data-call-id=%s] details')", call)
}

func openPage(t *testing.T, s *site, b *browsertest.Browser) *browsertest.Tab {
	t.Helper()
	tab := b.Tab(t)
	tab.Goto(s.url())
	tab.Wait("document.documentElement.dataset.stream === 'open'")
	return tab
}

// HO-12: patches never disturb what the reader does.
func TestPatchesLeaveTheReaderAlone(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	s.add("run", &part.Entry{Step: 1, Type: part.StartStep})
	s.add("run", stages("p1", "in_progress", "pending")...)
	long := lines(300, func(i int) string { return fmt.Sprintf("line %d of the output\n", i) })
	for _, call := range []string{"c1", "c2", "c3"} {
		s.add("run", toolOf(call, long)...)
	}
	s.add("run", text("t0", "An older text with words to select.")...)
	b := browsertest.Start(t)
	tab := openPage(t, s, b)
	tab.Wait(row(1) + ".querySelector('details').open")
	tab.Run(card("c2") + ".querySelector('summary').click()")
	tab.Run(card("c3") + ".querySelector('summary').click()")
	tab.Run(card("c3") + ".querySelector('summary').click()")
	tab.Run("scrollTo(0, 0)")
	tab.Run(`(() => {
		window.pre = ` + card("c2") + `.querySelector('pre.out:last-of-type')
		pre.style.maxHeight = '120px'
		pre.style.overflow = 'auto'
		pre.scrollTop = 300
		const words = [...document.querySelectorAll('[data-part-kind=text] p')].find((p) => p.textContent.includes('to select')).firstChild
		getSelection().setBaseAndExtent(words, 3, words, 8)
		window.flips = []
		window.before = [pre.scrollTop, scrollY]
		window.sample = () => [` + card("c2") + `.open, !` + card("c1") + `.open, !` + card("c3") + `.open, getSelection().toString() === 'older', Math.abs(pre.scrollTop - before[0]) <= 2, Math.abs(scrollY - before[1]) <= 2].join()
		new MutationObserver(() => { if (sample() !== 'true,true,true,true,true,true') flips.push(sample()) }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
	})()`)
	s.add("run", &part.Entry{Step: 1, Type: part.TextStart, ID: "t1"})
	for i := range 100 {
		s.delta("t1", fmt.Sprintf("word%d ", i))
	}
	tab.Wait(row(1) + ".textContent.includes('word99')")
	s.add("run", &part.Entry{Step: 1, Type: part.TextEnd, ID: "t1"})
	s.add("run", stages("p2", "done", "in_progress")...)
	tab.Wait(row(2) + ".dataset.status === 'in_progress'")
	s.cut()
	s.add("run", &part.Entry{Step: 1, Type: part.TextStart, ID: "t2"})
	for i := range 100 {
		s.delta("t2", fmt.Sprintf("more%d ", i))
	}
	tab.Wait(row(2) + ".textContent.includes('more99')")
	if got := browsertest.Eval[[]string](tab, "flips"); len(got) > 0 {
		t.Errorf("%d changes of what the reader did, first %q", len(got), got[0])
	}
	if !browsertest.Eval[bool](tab, row(1)+".querySelector('details').open && document.documentElement.hasAttribute('data-away')") {
		t.Error("a stage that the reader is in was folded, or the page does not know that the reader is away from the bottom")
	}
	tab.Reload()
	tab.Wait(card("c2") + "?.open && !" + card("c3") + ".open")
	if got := tab.Errors(); len(got) > 0 {
		t.Errorf("page errors %q", got)
	}
}

func TestStagesOpenAndFoldByThemselves(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	s.add("run", &part.Entry{Step: 1, Type: part.StartStep})
	s.add("run", stages("p1", "in_progress", "pending", "pending", "pending")...)
	b := browsertest.Start(t)
	tab := openPage(t, s, b)
	s.add("run", toolOf("c1", "one")...)
	tab.Wait(row(1) + ".querySelector('details').open && " + card("c1") + " !== null")

	// The next stage begins: the untouched one folds and drops its parts.
	s.add("run", stages("p2", "done", "in_progress", "pending", "pending")...)
	tab.Wait("!" + row(1) + ".querySelector('details').open && " + row(2) + ".querySelector('details').open")
	tab.Wait(card("c1") + " === null")
	s.add("run", toolOf("c2", "two")...)

	// What the reader opened stays open; opening loads what was dropped.
	tab.Run(row(1) + ".querySelector('summary').click()")
	tab.Wait(card("c1") + " !== null")
	// What the reader closed stays closed, though it is live.
	tab.Run(row(2) + ".querySelector('summary').click()")
	s.add("run", stages("p3", "done", "done", "in_progress", "pending")...)
	tab.Wait(row(3) + ".querySelector('details').open")
	s.add("run", stages("p4", "done", "done", "done", "in_progress")...)
	tab.Wait("!" + row(3) + ".querySelector('details').open")
	open := func(want string) {
		t.Helper()
		if got := browsertest.Eval[string](tab, "[...document.querySelectorAll('.stage-row > details')].map((d) => d.open ? 'o' : '-').join('')"); got != want {
			t.Errorf("open rows %s, want %s", got, want)
		}
	}
	open("o--o")

	// A stage that goes on again has its earlier parts, then the new ones.
	s.add("run", stages("p5", "done", "done", "in_progress", "pending")...)
	s.add("run", toolOf("c3", "three")...)
	s.add("run", stages("p6", "done", "in_progress", "pending", "pending")...)
	s.add("run", toolOf("c4", "four")...)
	tab.Wait(card("c4") + " !== null && " + card("c2") + " !== null")
	if !browsertest.Eval[bool](tab, card("c2")+".compareDocumentPosition("+card("c4")+") === Node.DOCUMENT_POSITION_FOLLOWING") {
		t.Error("the earlier parts do not stand first")
	}

	// Nothing closes at the end, and a reload shows the same choices.
	s.add("run", stages("p7", "done", "done", "done", "in_progress")...)
	tab.Wait(row(4) + ".dataset.status === 'in_progress'")
	s.add("run", &part.Entry{Type: part.Finish, State: part.Finished, FinishReason: part.ReasonStop})
	tab.Wait("document.querySelector('[data-run-id]').dataset.runState === 'finished'")
	open("o---") // row 4 has opened by itself once
	tab.Reload()
	tab.Wait("document.documentElement.dataset.stream === 'open' && " + card("c1") + " !== null")
	open("o---")
	if got := tab.Errors(); len(got) > 0 {
		t.Errorf("page errors %q", got)
	}
}

// HO-13: whatever cuts the connection, nothing is lost and nothing comes twice.
func TestPagesReconnect(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Count")
	s.add("run", &part.Entry{Step: 1, Type: part.StartStep}, &part.Entry{Step: 1, Type: part.TextStart, ID: "t"})
	b := browsertest.Start(t)
	a := openPage(t, s, b)
	n := 0
	write := func(words int) {
		for range words {
			n++
			s.delta("t", fmt.Sprintf("w%d ", n))
		}
	}
	shows := func(tab *browsertest.Tab, last int) {
		t.Helper()
		tab.Wait(fmt.Sprintf("document.querySelector('[data-part-kind=text]')?.textContent.trim().endsWith('w%d')", last))
		got := strings.Fields(browsertest.Eval[string](tab, "document.querySelector('[data-part-kind=text]').textContent"))
		for i, w := range got {
			if w != fmt.Sprintf("w%d", i+1) {
				t.Fatalf("word %d is %s", i+1, w)
			}
		}
		if len(got) != last {
			t.Fatalf("%d words, want %d", len(got), last)
		}
	}
	write(200)
	shows(a, 200)
	s.cut() // a clean end
	write(100)
	shows(a, 300)
	s.down.Store(true) // 503 while the server is away
	s.cut()
	a.Wait("document.documentElement.dataset.connection === 'lost'")
	write(100)
	late := b.Tab(t)
	late.Goto(s.url())
	shows(late, 400) // a page that comes now shows all there is
	s.down.Store(false)
	a.Wait("document.documentElement.dataset.connection === 'live'")
	shows(a, 400)
	s.srv.CloseClientConnections() // the wire is cut
	write(100)
	shows(a, 500)
	a.Reload()
	write(100)
	shows(a, 600)
	write(50)
	s.add("run", &part.Entry{Step: 1, Type: part.TextEnd, ID: "t"})
	shows(a, 650)
	shows(late, 650)
	s.begin("next", "Again")
	for _, tab := range []*browsertest.Tab{a, late} {
		tab.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 2")
		if got := tab.Errors(); len(got) > 0 {
			t.Errorf("page errors %q", got)
		}
	}
}

// HO-14 a: the pages of one browser keep few streams; the others still follow.
func TestPagesShareFewStreams(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	b := browsertest.Start(t)
	var tabs []*browsertest.Tab
	for i := range 7 {
		tab := b.Tab(t)
		tab.Goto(s.url())
		want := "open"
		if i >= 4 {
			want = "polling"
		}
		tab.Wait("document.documentElement.dataset.stream === '" + want + "'")
		tabs = append(tabs, tab)
	}
	s.add("run", text("t", "news for all")...)
	for _, tab := range tabs {
		tab.Wait("document.querySelector('#timeline').textContent.includes('news for all')")
	}
	if n := s.streams.Load(); n > 5 {
		t.Errorf("%d streams are open, want at most 4 and one page that catches up", n)
	}
	if !browsertest.Eval[bool](tabs[6], "document.getElementById('notice').textContent.includes('every 2 seconds')") {
		t.Error("the page does not say that it only polls")
	}
	tabs[0].Close()
	for taken := false; !taken; { // one of the others takes the slot
		for _, tab := range tabs[4:] {
			taken = taken || browsertest.Eval[bool](tab, "document.documentElement.dataset.stream === 'open'")
		}
	}
}

func TestHiddenPagesGiveTheirStreamUp(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	b := browsertest.Start(t)
	tab := openPage(t, s, b)
	hide := func(state string) {
		tab.Run("Object.defineProperty(document, 'hidden', { value: " + state + ", configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
	}
	hide("true")
	for s.streams.Load() > 0 {
		tab.Wait("true")
	}
	s.add("run", &part.Entry{Type: part.Wait, Waiting: []part.Waiting{{Kind: "question", RunID: "run", Question: "Which one?"}}})
	s.add("run", text("t", "while hidden")...)
	hide("false")
	tab.Wait("document.title.startsWith('Waits for you') && document.querySelector('#timeline').textContent.includes('while hidden')")
}

func TestComposerSendsOnce(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	b := browsertest.Start(t)
	tab := openPage(t, s, b)
	tab.Run("document.querySelector('#composer textarea').focus()")
	tab.Type("Hello there")
	tab.Reload()
	tab.Wait("document.querySelector('#composer textarea').value === 'Hello there'")

	// A refusal keeps the draft and says why.
	s.answerWith(413)
	tab.Run("document.querySelector('#composer textarea').focus()")
	tab.Type("\r", chromedp.ModifierCtrl)
	tab.Wait("document.getElementById('notice').textContent === 'The message is too long. Shorten it.'")
	if got := browsertest.Eval[string](tab, "document.querySelector('#composer textarea').value"); got != "Hello there" {
		t.Errorf("the draft became %q", got)
	}

	// No answer: sent again by itself, with the same id.
	s.answerWith(503)
	tab.Type("\r", chromedp.ModifierCtrl)
	tab.Wait("document.getElementById('notice').textContent.startsWith('The server does not answer')")
	s.answerWith(0)
	tab.Wait("document.querySelector('#composer textarea').value === ''")
	posts := s.posted()
	for _, p := range posts {
		if p != posts[0] || !strings.HasSuffix(p, " Hello there") {
			t.Fatalf("posts %q, want the same message with the same id", posts)
		}
	}

	// The next message has an id of its own, and no draft is left.
	tab.Type("Second")
	tab.Type("\r", chromedp.ModifierCtrl)
	tab.Wait("document.querySelector('#composer textarea').value === ''")
	after := s.posted()
	if last := after[len(after)-1]; !strings.HasSuffix(last, " Second") || strings.Fields(last)[0] == strings.Fields(posts[0])[0] {
		t.Errorf("posts %q, want a new id", after)
	}
	tab.Reload()
	tab.Wait("document.querySelector('#composer textarea').value === ''")
}

func TestKeys(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	s.add("run", &part.Entry{Step: 1, Type: part.StartStep})
	s.add("run", stages("p1", "in_progress", "pending")...)
	b := browsertest.Start(t)
	tab := openPage(t, s, b)
	tab.Run("document.activeElement.blur()")
	pane, list := "document.getElementById('plan-pane')", "document.getElementById('keys')"
	tab.Type("p")
	tab.Wait("!" + pane + ".hidden")
	s.add("run", toolOf("c1", "one")...)
	s.add("run", stages("p2", "done", "in_progress")...)
	tab.Wait(pane + ".querySelectorAll('.plan-done').length === 1 && !" + pane + ".hidden")
	tab.Type("?")
	tab.Wait(list + ".matches(':popover-open')")
	tab.Type("q")
	tab.Wait("!" + list + ".matches(':popover-open') && !" + pane + ".hidden")
	tab.Type("q")
	tab.Wait(pane + ".hidden")
	tab.Type("j")
	tab.Wait(row(1) + ".contains(document.activeElement)")
	tab.Type("j")
	tab.Wait(row(2) + ".contains(document.activeElement)")
	tab.Type("k")
	tab.Wait(row(1) + ".contains(document.activeElement)")

	tab.Run("document.querySelector('#composer textarea').focus()")
	tab.Type("pq?j")
	tab.Wait("document.querySelector('#composer textarea').value === 'pq?j' && " + pane + ".hidden")

	// The pane closes by itself when the plan is complete.
	tab.Run("document.activeElement.blur()")
	tab.Type("p")
	s.add("run", stages("p3", "done", "done")...)
	tab.Wait(pane + ".hidden")

	tab.Run(list + ".showPopover(); document.getElementById('single-keys').click(); " + list + ".hidePopover()")
	tab.Type("p")
	tab.Type("?")
	if !browsertest.Eval[bool](tab, pane+".hidden && !"+list+".matches(':popover-open')") {
		t.Error("single keys act although they are switched off")
	}
}

func TestThePageFollowsItsBottom(t *testing.T) {
	s := newSite(t)
	s.begin("run", "Do it")
	s.add("run", &part.Entry{Step: 1, Type: part.StartStep}, &part.Entry{Step: 1, Type: part.TextStart, ID: "t"})
	b := browsertest.Start(t)
	tab := openPage(t, s, b)
	atBottom := "document.documentElement.scrollHeight - scrollY - innerHeight < 3"
	say := func(n int) {
		for i := range n {
			s.delta("t", fmt.Sprintf("paragraph %d\n\n", i))
		}
	}
	say(120)
	tab.Wait("document.documentElement.scrollHeight > 2 * innerHeight && " + atBottom)
	tab.Run("scrollTo(0, 100)")
	tab.Wait("document.documentElement.hasAttribute('data-away')")
	say(30)
	tab.Wait("document.documentElement.hasAttribute('data-new-below')")
	if y := browsertest.Eval[float64](tab, "scrollY"); y != 100 {
		t.Errorf("the page moved to %v while the reader was at 100", y)
	}
	tab.Click("[data-action=jump]")
	tab.Wait(atBottom + " && !document.documentElement.hasAttribute('data-new-below') && !document.documentElement.hasAttribute('data-away')")
	say(30)
	s.add("run", &part.Entry{Step: 1, Type: part.TextEnd, ID: "t"})
	tab.Wait("document.querySelectorAll('[data-part-kind=text] p').length === 180 && " + atBottom)
	s.add("run", toolOf("c1", lines(200, func(i int) string { return "output\n" }))...)
	tab.Wait(card("c1") + " !== null && " + atBottom)
	y := browsertest.Eval[float64](tab, "scrollY")
	tab.Run(card("c1") + ".querySelector('summary').click()")
	tab.Wait("document.documentElement.hasAttribute('data-away')")
	if got := browsertest.Eval[float64](tab, "scrollY"); got != y {
		t.Errorf("opening a card moved the page from %v to %v", y, got)
	}
}
