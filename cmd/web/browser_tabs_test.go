package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// words are w1 ... wN of a text, in the order in which they stand on the page.
func (b *browser) words() []string {
	b.t.Helper()
	return browsertest.Eval[[]string](b.Tab, `document.querySelector('#timeline').innerText.match(/\bw\d+\b/g) ?? []`)
}

func numbered(from, to int) (string, []string) {
	var text strings.Builder
	var list []string
	for i := from; i <= to; i++ {
		w := fmt.Sprint("w", i)
		list = append(list, w)
		text.WriteString(w)
		text.WriteString([]string{" ", "\n\n"}[i%40/39])
	}
	return text.String(), list
}

// Reloads and tabs that come and go in the middle of a run lose nothing and
// repeat nothing, and the work is done once (HO-13).
func TestBrowserTabsComeAndGo(t *testing.T) {
	holds := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	var turns []turn
	var all []string
	for _, hold := range holds {
		text, list := numbered(len(all)+1, len(all)+400)
		all = append(all, list...)
		at := strings.Index(text, list[180])
		turns = append(turns, turn{text: []string{text[:at], text[at:]}, hold: hold})
	}
	turns[0].calls = []toolCall{{"list_files", `{}`}}
	turns[1].calls = []toolCall{{"read_file", `{"path":"prices.csv"}`}}
	b, p := provided(t, wires["openai"], planning.None, turns...)
	b.write("Count")
	path := browsertest.Eval[string](b.Tab, "location.pathname")
	upTo := func(b *browser, n int) {
		t.Helper()
		b.Wait(fmt.Sprintf("document.querySelector('#timeline').innerText.includes('w%d')", n))
		if got := b.words(); !slices.Equal(got, all[:len(got)]) {
			t.Errorf("the words of the page are not w1 to w%d: %d words, the last ones %q", len(got), len(got), got[max(0, len(got)-5):])
		}
	}
	upTo(b, 180)
	b.Reload()
	upTo(b, 180)
	close(holds[0])
	upTo(b, 580)
	second := b.tab(path)
	upTo(second, 580)
	b.Reload()
	upTo(b, 580)
	close(holds[1])
	upTo(second, 980)
	upTo(b, 980)
	// The first tab goes, the connections of the other one break.
	b.Close()
	second.reconnect()
	close(holds[2])
	upTo(second, 1200)
	second.ended("finished")
	third := second.tab(path)
	for _, tab := range []*browser{second, third} {
		if got := tab.words(); !slices.Equal(got, all) {
			t.Errorf("a tab has %d words", len(got))
		}
	}
	second.checkAtRest()
	third.checkAtRest()
	if n := p.Calls(); n != len(turns) {
		t.Errorf("%d model calls, want %d", n, len(turns))
	}
}

// A browser keeps at most four streams; a further tab asks every two seconds,
// says so, and shows the same.
func TestBrowserManyTabs(t *testing.T) {
	s := startServer(t, testConfig(t))
	g := gated(s.app)
	b := startBrowserOf(t, s)
	path := "/chats/" + s.newChat(planning.Metronome)
	b.open(path)
	b.Wait("document.documentElement.dataset.stream === 'open'")
	tabs := []*browser{b}
	for range 3 {
		tab := b.tab(path)
		tab.Wait("document.documentElement.dataset.stream === 'open'")
		tabs = append(tabs, tab)
	}
	for range 2 {
		tab := b.tab(path)
		tab.Wait("document.documentElement.dataset.stream === 'polling' && document.querySelector('#notice').textContent.includes('every 2 seconds')")
		tabs = append(tabs, tab)
	}
	eventually(t, "only four streams stay open", func() bool { _, viewers := s.hub.Watched(); return viewers == 4 })
	b.write("Survey the workspace and write survey.md")
	b.Wait("document.querySelector('#timeline [data-run-id]')")
	id := b.runID()
	for g.hold(s, id) {
		g.release()
	}
	for _, tab := range tabs {
		tab.ended("finished")
		tab.Wait(iconsOf + " === 'check check check check check'")
	}
	first := b.shown(false)
	for i, tab := range tabs[1:4] {
		if !slices.Equal(tab.shown(false), first) {
			t.Errorf("tab %d differs from the first one", i+2)
		}
	}
	// A tab that closes gives its stream to one that waits.
	tabs[1].Close()
	eventually(t, "a waiting tab has a stream", func() bool {
		return slices.ContainsFunc(tabs[4:], func(tab *browser) bool {
			return browsertest.Eval[bool](tab.Tab, "document.documentElement.dataset.stream === 'open' && document.querySelector('#notice').textContent === ''")
		})
	})
	// With a stream for each tab that is left, a reload finds one again.
	tabs[5].Close()
	tabs[4].Wait("document.documentElement.dataset.stream === 'open'")
	tabs[4].checkAtRest()
}

// A hidden tab closes its stream; its title tells what happened meanwhile, and it
// catches up when it is seen again.
func TestBrowserHiddenTab(t *testing.T) {
	hold := make(chan struct{})
	b, _ := provided(t, wires["anthropic"], planning.None, turn{text: []string{"It goes on ", "to its end."}, hold: hold})
	b.write("Go on")
	b.Wait("document.querySelector('#timeline').innerText.includes('It goes on')")
	b.Wait("document.title.startsWith('Working · ')")
	hide := func(hidden bool) {
		b.Run(fmt.Sprintf(`(() => {
			Object.defineProperty(document, 'hidden', { configurable: true, get: () => %v })
			Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => %v ? 'hidden' : 'visible' })
			document.dispatchEvent(new Event('visibilitychange'))
		})()`, hidden, hidden))
	}
	hide(true)
	s := b.server
	b.Wait("document.documentElement.dataset.connection === 'live'")
	eventually(t, "the hidden tab closes its stream", func() bool { _, viewers := s.hub.Watched(); return viewers == 0 })
	close(hold)
	id := b.runID()
	s.wait(id, ended)
	if browsertest.Eval[bool](b.Tab, "document.querySelector('#timeline').innerText.includes('to its end')") {
		t.Error("a hidden page was patched")
	}
	hide(false)
	b.ended("finished")
	b.Wait("document.querySelector('#timeline').innerText.includes('to its end')")
	b.checkAtRest()
}
