package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent"
	"stagefold/internal/browsertest"
)

// The browser tests drive the product in Chromium, as a reader does. They wait
// for conditions of the page; what has to happen at one moment of a run happens
// while the model is held (gate).

// browser is the product with a tab that looks at it.
type browser struct {
	*server
	chromium *browsertest.Browser
	*browsertest.Tab
}

func startBrowser(t *testing.T, cfg config) *browser {
	t.Helper()
	return startBrowserOf(t, startServer(t, cfg))
}

func startBrowserOf(t *testing.T, s *server) *browser {
	t.Helper()
	b := browsertest.Start(t)
	return &browser{server: s, chromium: b, Tab: b.Tab(t)}
}

// open shows a page of the product.
func (b *browser) open(path string) {
	b.t.Helper()
	b.Goto(b.url + path)
}

// tab is another tab of the same browser.
func (b *browser) tab(path string) *browser {
	b.t.Helper()
	other := *b
	other.Tab = b.chromium.Tab(b.t)
	other.open(path)
	return &other
}

// write types a message into the composer and sends it.
func (b *browser) write(text string) {
	b.t.Helper()
	b.Click("#composer textarea")
	b.Type(text)
	b.Click("[data-action=send]")
	b.Wait("document.querySelector('#composer textarea').value === ''")
}

// ended waits until the page shows that its newest run is in the state.
func (b *browser) ended(state string) {
	b.t.Helper()
	b.Wait(fmt.Sprintf("[...document.querySelectorAll('#timeline > [data-run-id]')].at(-1).dataset.runState === %q", state))
}

// runID is the id of the newest run of the page.
func (b *browser) runID() string {
	b.t.Helper()
	return browsertest.Eval[string](b.Tab, "[...document.querySelectorAll('#timeline > [data-run-id]')].at(-1).dataset.runId")
}

// icons are the icons of the page's rows, in order.
func (b *browser) icons() string {
	b.t.Helper()
	return browsertest.Eval[string](b.Tab, iconsOf)
}

const iconsOf = `[...document.querySelectorAll('.stage-row')].map(r => r.querySelector('[data-icon]').dataset.icon).join(' ')`

// checkAtRest holds what must hold of every page whose run is over: nothing
// moves, every icon has converged, the status line is empty, and the page is the
// one that a reload gives, the parts of its rows included.
func (b *browser) checkAtRest() {
	b.t.Helper()
	b.Wait("['finished', 'failed', 'stopped', 'interrupted'].includes([...document.querySelectorAll('#timeline > [data-run-id]')].at(-1).dataset.runState)")
	b.Wait("document.querySelector('#status-line').textContent.trim() === ''")
	b.Wait("document.documentElement.dataset.connection === 'live'")
	// The last patches of the run and its list entry come in one look.
	b.Wait("!document.querySelector('.chat-list [aria-current] [data-icon=heartbeat], .chat-list [aria-current] .icon-heartbeat')")
	for what, expression := range map[string]string{
		"running animations":                 "document.getAnimations().filter(a => a.playState === 'running').length",
		"icons of work":                      "document.querySelectorAll('[data-icon=heartbeat], [data-icon=pause]').length",
		"running clocks":                     "document.querySelectorAll('time[data-since]').length",
		"open asks":                          "document.querySelectorAll('#waiting > *, #pinned-plan > *').length",
		"tools without an end":               "[...document.querySelectorAll('[data-tool]')].filter(t => !t.dataset.state.startsWith('output-') && t.dataset.state !== 'cancelled').length",
		"places that hold undefined or null": "[...document.querySelectorAll('#timeline *')].filter(e => e.childElementCount === 0 && /^(undefined|null|NaN|\\[object)/.test(e.textContent)).length",
		"doubled ids":                        "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.length - new Set(ids).size })()",
	} {
		if n := browsertest.Eval[int](b.Tab, expression); n != 0 {
			b.t.Errorf("%d %s in a page at rest", n, what)
		}
	}
	if errs := b.Errors(); len(errs) > 0 {
		b.t.Errorf("the page has errors: %q", errs)
	}
	closed := b.shown(false)
	b.openRows()
	open := b.shown(true)
	b.Reload()
	b.Wait("document.documentElement.dataset.stream") // a page that polls says so
	b.rowsFilled()
	if d := cmp.Diff(b.shown(true), open); d != "" {
		b.t.Errorf("the opened page after a reload (-) differs from the one that was streamed (+):\n%s", d)
	}
	if d := cmp.Diff(b.shown(false), closed); d != "" {
		b.t.Errorf("the page after a reload (-) differs from the one that was streamed (+):\n%s", d)
	}
}

// openRows opens every row as a reader does and waits for its parts.
func (b *browser) openRows() {
	b.t.Helper()
	b.Run("document.querySelectorAll('.stage-row > details:not([open]) > summary').forEach(s => s.click())")
	b.rowsFilled()
}

// rowsFilled waits until the opened rows hold their parts, or say that they have
// none.
func (b *browser) rowsFilled() {
	b.t.Helper()
	b.Wait(`[...document.querySelectorAll('.stage-row:not([data-status=pending]) > details[open] .row-body')].every(body =>
		!body.hasAttribute('aria-busy') && (body.childElementCount > 0 || body.parentElement.querySelector('.row-facts > .none')))`)
}

// shown is the page as lines, without nonces, relative times, the stream's
// cursor, what the reader opened and, unless bodies, what closed rows hold.
func (b *browser) shown(bodies bool) []string {
	b.t.Helper()
	return browsertest.Eval[[]string](b.Tab, fmt.Sprintf(`(() => {
		const lines = []
		const skip = new Set(['SCRIPT', 'NOSCRIPT', 'STYLE', 'LINK', 'META'])
		const write = (n, depth) => {
			if (n.nodeType === Node.TEXT_NODE) {
				const text = n.data.replace(/\s+/g, ' ').trim()
				if (text) lines.push(' '.repeat(depth) + JSON.stringify(text))
				return
			}
			if (n.nodeType !== Node.ELEMENT_NODE || skip.has(n.tagName) || n.className === 'copy-button') return
			const attributes = [...n.attributes].map(a => [a.name, a.value]).filter(([name, value]) =>
				!['nonce', 'data-nonce', 'data-init', 'open', 'hidden', 'style', 'aria-busy', 'data-stream', 'selected', 'data-away', 'data-new-below', 'placeholder'].includes(name) &&
				!(n.name === 'id' && name === 'value')).map(([name, value]) => name + '=' + JSON.stringify(value)).sort()
			if (n.tagName === 'SELECT') attributes.push('value=' + n.value)
			lines.push(' '.repeat(depth) + '<' + [n.tagName.toLowerCase(), ...attributes].join(' ') + '>')
			if (n.matches('.chat-list time')) return
			if (!%v && n.matches('.row-body')) return
			for (const c of n.childNodes) write(c, depth + 1)
		}
		document.documentElement.normalize()
		write(document.documentElement, 0)
		return lines
	})()`, bodies))
}

// gate holds a model before each of its calls until the test lets it go on.
type gate struct {
	agent.Model
	arrived, next chan struct{}
}

func newGate(m agent.Model) *gate {
	return &gate{Model: m, arrived: make(chan struct{}), next: make(chan struct{})}
}

// gated puts a gate before the rehearsal model.
func gated(a *app) *gate {
	g := newGate(a.models.rehearsal)
	a.models.rehearsal = g
	return g
}

func (g *gate) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		for _, pass := range []func() error{
			func() error { return meet(ctx, func(done <-chan struct{}) bool { return send(g.arrived, done) }) },
			func() error { return meet(ctx, func(done <-chan struct{}) bool { return receive(g.next, done) }) },
		} {
			if err := pass(); err != nil {
				yield(agent.Chunk{}, err)
				return
			}
		}
		g.Model.Stream(ctx, req)(yield)
	}
}

func meet(ctx context.Context, pass func(done <-chan struct{}) bool) error {
	if pass(ctx.Done()) {
		return nil
	}
	return ctx.Err()
}

func send(c chan<- struct{}, done <-chan struct{}) bool {
	select {
	case c <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

func receive(c <-chan struct{}, done <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-done:
		return false
	}
}

// hold waits until the model is called; false when the run ends first.
func (g *gate) hold(s *server, runID string) bool {
	s.t.Helper()
	over := make(chan struct{})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if r, err := s.db.Run(context.Background(), runID); err != nil || r.State.Terminal() {
					close(over)
					return
				}
			}
		}
	}()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	select {
	case <-g.arrived:
		return true
	case <-over:
		return false
	case <-deadline.C:
		s.t.Fatal("the model was not called")
		return false
	}
}

// release lets the held call go on.
func (g *gate) release() { g.next <- struct{}{} }

// pageShows waits until the page's rows have the statuses that the API tells,
// which it returns.
func (b *browser) pageShows(runID string) []string {
	b.t.Helper()
	var r run
	b.call("GET", "/api/runs/"+runID, nil, &r)
	var icons []string
	for _, st := range r.Stages {
		icons = append(icons, st.Icon)
	}
	b.Wait(fmt.Sprintf("%s === %q", iconsOf, strings.Join(icons, " ")))
	const heads = `[...%s.querySelectorAll('.row-head')].map(h => [...h.querySelectorAll(':scope > :not(.row-meta), .row-meta > :not(time)')].map(e => e.textContent).join(' ')).join('|')`
	fresh := browsertest.Eval[string](b.Tab, "fetch(location.href).then(a => a.text()).then(text => { const d = new DOMParser().parseFromString(text, 'text/html'); return "+fmt.Sprintf(heads, "d")+" })")
	b.Wait(fmt.Sprintf(heads, "document") + " === " + string(mustJSON(fresh)))
	return icons
}
