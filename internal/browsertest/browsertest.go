// Package browsertest drives a real Chromium in tests.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a condition may take to become true.
const patience = 15 * time.Second

// Browser is a Chromium that ends with the test.
type Browser struct {
	ctx context.Context
}

// Start starts a Chromium without a window.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not in PATH; the script ./test installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return &Browser{ctx: ctx}
}

// Tab is one page. Its methods fail the test on errors.
type Tab struct {
	t      testing.TB
	ctx    context.Context
	cancel context.CancelFunc
	plain  bool // without scripts

	mu     sync.Mutex
	errors []string
}

// Tab opens an empty page in the same browser: pages share storage and locks.
func (b *Browser) Tab(t testing.TB) *Tab {
	t.Helper()
	tab := &Tab{t: t}
	tab.ctx, tab.cancel = chromedp.NewContext(b.ctx, chromedp.WithNewWindow(true), chromedp.WithListener(tab.listen))
	t.Cleanup(tab.cancel)
	tab.do("open a tab", chromedp.EmulateViewport(1200, 800))
	return tab
}

func (tab *Tab) listen(ev any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		tab.errors = append(tab.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			text := ""
			for _, a := range e.Args {
				text += string(a.Value) + a.Description + " "
			}
			tab.errors = append(tab.errors, text)
		}
	}
}

// Errors are the uncaught exceptions and console errors so far.
func (tab *Tab) Errors() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string(nil), tab.errors...)
}

// Close closes the page.
func (tab *Tab) Close() { tab.cancel() }

// Goto loads an address and waits for its load event.
func (tab *Tab) Goto(address string) {
	tab.t.Helper()
	tab.do("go to "+address, chromedp.Navigate(address))
}

// Reload loads the page again.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.do("reload", chromedp.Reload())
}

// Run evaluates an expression; a promise is waited for.
func (tab *Tab) Run(expression string) {
	tab.t.Helper()
	tab.do("run "+expression, chromedp.Evaluate[chromedp.Void](expression, chromedp.EvalAwaitPromise))
}

// Eval is the value of an expression, decoded from JSON; a promise is waited for.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	v, err := tryEval[T](tab, expression)
	if err != nil {
		tab.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func tryEval[T any](tab *Tab, expression string) (T, error) {
	var v T
	ctx, cancel := context.WithTimeout(tab.ctx, 2*patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("(async () => JSON.stringify(await (%s)) ?? 'null')()", expression), chromedp.EvalAwaitPromise))
	if err == nil {
		err = json.Unmarshal([]byte(text), &v)
	}
	return v, err
}

// Wait waits until the expression is true in the page, through navigations.
func (tab *Tab) Wait(expression string) {
	tab.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => {
		const end = performance.now() + 2000
		const look = () => {
			let v = false
			try { v = Boolean(%s) } catch {}
			if (v || performance.now() > end) done(v)
			else setTimeout(look, 10)
		}
		look()
	})`, expression)
	if tab.plain { // a page without scripts has no timers
		script = fmt.Sprintf("Boolean(%s)", expression)
	}
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); tab.rest() {
		var ok bool
		if ok, err = tryEval[bool](tab, script); ok {
			return
		}
	}
	if left, right, ok := strings.Cut(expression, " === "); ok { // say what it is instead
		is, _ := tryEval[any](tab, left)
		expression = fmt.Sprintf("%s\nis %v,\nand === %s", left, is, right)
	}
	tab.t.Fatalf("%s did not become true (last error: %v)\npage errors: %v", expression, err, tab.Errors())
}

// rest is the time between two looks at a page that cannot look by itself.
func (tab *Tab) rest() {
	if tab.plain {
		time.Sleep(20 * time.Millisecond)
	}
}

// Click clicks the first element that the CSS selector finds, with the mouse.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	at := Eval[[]float64](tab, fmt.Sprintf(`(() => {
		const el = document.querySelector(%q)
		if (!el) return []
		el.scrollIntoView({ block: 'nearest' })
		const middle = () => {
			const { left, top, width, height } = el.getBoundingClientRect()
			return [left + width / 2, top + height / 2]
		}
		const hit = document.elementFromPoint(...middle())
		if (!el.contains(hit)) el.scrollIntoView({ block: 'center', behavior: 'instant' }) // something lies over it
		return middle()
	})()`, selector))
	if len(at) != 2 {
		tab.t.Fatalf("click %s: there is none", selector)
	}
	tab.do("click "+selector, chromedp.MouseClickXY(at[0], at[1]))
}

// Type types text or keys into what has the focus.
func (tab *Tab) Type(keys string, modifiers ...chromedp.Modifier) {
	tab.t.Helper()
	tab.do("type", chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// Viewport sets the size of the page in CSS pixels.
func (tab *Tab) Viewport(width, height int) {
	tab.t.Helper()
	tab.do("set the viewport", chromedp.EmulateViewport(int64(width), int64(height)))
}

// Dark sets what the system prefers.
func (tab *Tab) Dark(dark bool) {
	tab.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	tab.do("set the colour scheme", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

// Screenshot writes the whole page to a PNG file.
func (tab *Tab) Screenshot(file string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, 2*patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		tab.t.Fatalf("screenshot: %v", err)
	}
}

// Counts are what a page keeps alive, after a garbage collection.
type Counts struct {
	Nodes     int64
	Listeners int64
	Heap      int64 // bytes of JavaScript
}

// Counts collects garbage and counts what is left.
func (tab *Tab) Counts() Counts {
	tab.t.Helper()
	var c Counts
	tab.do("count what the page keeps", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return err
		}
		dom, err := chromedp.Call(ctx, memory.GetDOMCounters, cdp.Empty{})
		if err != nil {
			return err
		}
		heap, err := chromedp.Call(ctx, runtime.GetHeapUsage, cdp.Empty{})
		c = Counts{Nodes: dom.Nodes, Listeners: dom.JsEventListeners, Heap: int64(heap.UsedSize)}
		return err
	}))
	return c
}

// do runs actions. A navigation of the page itself that is still under way (a
// form's redirect) can abort ours; then it is made again.
func (tab *Tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, 2*patience)
	if tab.first() { // the tab lives as long as the context of its first action
		cancel()
		ctx, cancel = tab.ctx, func() {}
	}
	defer cancel()
	err := chromedp.Do(ctx, actions...)
	for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "net::ERR_ABORTED") {
		err = chromedp.Do(ctx, actions...)
	}
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
}

func (tab *Tab) first() bool { return chromedp.FromContext(tab.ctx).Target == nil }
