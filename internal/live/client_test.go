package live

import (
	"fmt"
	"strings"
	"testing"

	"stagefold/internal/browsertest"
)

const attributesPage = `
<form id="f" data-on:submit__prevent="@post('/echo', {contentType: 'form'})"><input name="a" value="1"><button id="b" name="c" value="2">go</button></form>
<p id="echo"></p>
<div id="s" data-signals="{n: 1, deep: {x: 'y'}, on: false}"></div>
<p id="text" data-text="$deep.x + ' ' + $n"></p>
<p id="show" data-show="$on"></p>
<p id="class" class="kept" data-class:chosen="$on" data-class:two-words="$n > 1"></p>
<p id="attr" title="server" data-attr:title="$missing?.[el.id]?.title ?? el.getAttribute('title')" data-attr:hidden="$on"></p>
<input id="bind" data-bind:deep.x>
<input id="check" type="checkbox" data-bind:on>
<button id="more" data-on:click="$n = $n + 1; $deep = {x: 'a;b'}">more</button>
<button id="get" data-indicator:fetching data-on:click="@get('/echo?q=1')">get</button>
<p id="init" data-init="el.textContent = 'ready'"></p>
<p id="effect" data-effect="el.dataset.n = $n"></p>
<div data-ignore><p id="ignored" data-text="$n">as it is</p></div>
<p id="broken" data-text="$n +"></p>`

func TestClientAttributes(t *testing.T) {
	s := newScripted(t, attributesPage)
	tab := browsertest.Start(t).Tab(t)
	tab.Goto(s.srv.URL + "/page")
	tab.Wait("init.textContent === 'ready'")
	for what, expression := range map[string]string{
		"data-text":        "text.textContent === 'y 1'",
		"data-show":        "show.style.display === 'none'",
		"data-class":       "document.getElementById('class').className === 'kept'",
		"data-attr":        "attr.title === 'server' && !attr.hidden",
		"data-bind":        "bind.value === 'y' && !check.checked",
		"data-effect":      "effect.dataset.n === '1'",
		"data-ignore":      "ignored.textContent === 'as it is'",
		"no left-overs":    "document.querySelectorAll('head script').length === 1 && !('stagefoldCompiled' in window)",
		"a broken element": "broken.textContent === ''",
	} {
		if !browsertest.Eval[bool](tab, expression) {
			t.Errorf("%s: %s is false", what, expression)
		}
	}
	tab.Click("#more")
	tab.Click("#check")
	tab.Wait("text.textContent === 'a;b 2' && bind.value === 'a;b' && show.style.display === '' && attr.hidden")
	tab.Wait("[...document.getElementById('class').classList].sort().join() === 'chosen,kept,two-words' && effect.dataset.n === '2'")
	tab.Run("bind.value = 'typed'; bind.dispatchEvent(new Event('input'))")
	tab.Wait("text.textContent === 'typed 2'")
	tab.Click("#b")
	tab.Wait("echo.textContent === 'POST a=1&c=2 true'")
	tab.Click("#get")
	tab.Wait("echo.textContent === 'GET q=1 true'")
	s.signals(map[string]any{"missing": map[string]any{"attr": map[string]any{"title": "signal"}}})
	tab.Wait("attr.title === 'signal'")
	s.signals(map[string]any{"missing": nil})
	s.patch("append", "body", `<p id="new" data-text="$n"></p>`)
	tab.Wait("document.getElementById('new')?.textContent === '2' && attr.title === 'signal'")
	for _, e := range tab.Errors() {
		if !strings.Contains(e, "Unexpected token ')'") && !strings.Contains(e, "cannot be compiled") {
			t.Errorf("page error %s", e)
		}
	}
}

const morphPage = `
<div id="md"><p id="p">A growing <b>text</b> that</p></div>
<details id="d" data-preserve-attr="open"><summary>s</summary><p id="inside">one</p></details>
<input id="typed" value="server"><textarea id="area">server</textarea>
<ul id="list"><li id="l1">1</li><li id="l2">2</li><li id="l3">3</li></ul>
<table><tbody id="t1"><tr><td>1</td></tr></tbody></table>`

func TestClientMorphs(t *testing.T) {
	s := newScripted(t, morphPage)
	tab := browsertest.Start(t).Tab(t)
	tab.Goto(s.srv.URL + "/page")
	tab.Wait("document.documentElement.dataset.connection === 'live'")

	tab.Run("window.node = p.lastChild; getSelection().setBaseAndExtent(node, 1, node, 5)")
	s.patch("", "", `<p id="p">A growing <b>text</b> that grows &amp; grows</p>`)
	tab.Wait("p.textContent.endsWith('grows & grows')")
	if !browsertest.Eval[bool](tab, "p.lastChild === node && getSelection().toString() === 'that'") {
		t.Error("the selection in a growing text is lost")
	}

	tab.Run("d.open = true; typed.value = 'mine'; area.value = 'mine too'; typed.focus()")
	s.patch("", "", `<details id="d" data-preserve-attr="open"><summary>s</summary><p id="inside">two</p></details><input id="typed" value="server" class="x"><textarea id="area">server</textarea>`)
	tab.Wait("inside.textContent === 'two' && typed.className === 'x'")
	if !browsertest.Eval[bool](tab, "d.open && typed.value === 'mine' && area.value === 'mine too' && document.activeElement === typed") {
		t.Error("a patch disturbed what the reader opened or typed")
	}
	s.patch("", "", `<textarea id="area">other</textarea>`)
	tab.Wait("area.value === 'other'")

	tab.Run("window.two = l2")
	s.patch("inner", "#list", `<li id="l3">3</li><li id="l2">2b</li><li id="l4">4</li>`)
	tab.Wait("list.textContent === '32b4'")
	if !browsertest.Eval[bool](tab, "document.getElementById('l2') === two && !document.getElementById('l1')") {
		t.Error("a list is not morphed by the ids of its items")
	}
	s.patch("append", "#list", `<li id="l5">5</li>`)
	s.patch("append", "#list", `<li id="l5">5 again</li>`)
	s.patch("prepend", "#list", `<li id="l0">0</li>`)
	s.patch("after", "#l0", `<li id="l1">1</li>`)
	s.patch("before", "#l0", `<li id="l9">9</li>`)
	s.patch("remove", "#l4", "")
	s.patch("remove", "#nowhere", "")
	s.patch("", "", `<li id="nowhere">x</li>`)
	s.patch("replace", "#l3", `<li id="l3">three</li>`)
	tab.Wait("list.textContent === '901three2b5 again'")
	s.patch("", "", `<tbody id="t1"><tr><td>one</td></tr><tr><td>two</td></tr></tbody>`)
	tab.Wait("t1.rows.length === 2 && t1.rows[1].textContent === 'two'")
	if got := tab.Errors(); len(got) > 0 {
		t.Errorf("errors %q", got)
	}
}

// HO-19: text with carriage returns is text.
func TestClientIsNotForged(t *testing.T) {
	s := newScripted(t, `<pre id="out"></pre>`)
	tab := browsertest.Start(t).Tab(t)
	tab.Goto(s.srv.URL + "/page")
	s.patch("", "", `<pre id="out">`+forged+"\n10%\r20%\r30%\r100%\n</pre>")
	tab.Wait("out.textContent.includes('100%')")
	got := browsertest.Eval[string](tab, "out.textContent")
	if want := unixLines(forged) + "\n10%\n20%\n30%\n100%\n"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if got := browsertest.Eval[string](tab, "document.title"); got != "the title" {
		t.Errorf("the title became %q", got)
	}
}

func TestClientDoesNotGrow(t *testing.T) {
	s := newScripted(t, `<ol id="rows"></ol>`)
	tab := browsertest.Start(t).Tab(t)
	tab.Goto(s.srv.URL + "/page")
	round := func(n int) {
		s.patch("inner", "#rows", lines(100, func(i int) string {
			return fmt.Sprintf(`<li id="r%d-%d" data-attr:data-n="$row?.[el.id]?.n ?? el.getAttribute('data-n')" data-on:click="$x = %d" data-class:odd="$n%d"><b>%d</b></li>`, n, i, n, n, i)
		}))
		e := NewEncoder()
		e.Signals(asJSON(map[string]any{"x": n, fmt.Sprintf("n%d", n): true, fmt.Sprintf("n%d", n-1): nil}), "")
		s.send <- e.Bytes()
	}
	settle := func(n int) browsertest.Counts {
		tab.Wait(fmt.Sprintf("document.getElementById('r%d-99')?.className === 'odd'", n))
		return tab.Counts()
	}
	for n := range 20 {
		round(n)
	}
	before := settle(19)
	for n := 20; n < 420; n++ {
		round(n)
	}
	after := settle(419)
	if got := browsertest.Eval[int](tab, "stagefoldExpressions"); got > 10 {
		t.Errorf("%d expressions are kept, want those of the last round", got)
	}
	if after.Nodes > before.Nodes+500 || after.Listeners > before.Listeners+50 {
		t.Errorf("after 400 rounds %+v, before %+v", after, before)
	}
	if after.Heap > before.Heap+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.Heap, after.Heap)
	}
}
