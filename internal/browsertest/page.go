package browsertest

import (
	"context"
	"os"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// NoScript switches the scripts of the pages that are loaded from now on off.
// Eval and Click work still.
func (tab *Tab) NoScript() {
	tab.t.Helper()
	tab.plain = true
	call(tab, "switch scripts off", emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Print is the page as a PDF file.
func (tab *Tab) Print() []byte {
	tab.t.Helper()
	return result(tab, "print", chromedp.PrintToPDF())
}

// View writes what the viewport shows to a PNG file.
func (tab *Tab) View(file string) {
	tab.t.Helper()
	if err := os.WriteFile(file, result(tab, "look", chromedp.CaptureScreenshot()), 0o644); err != nil {
		tab.t.Fatal(err)
	}
}

func result[T any](tab *Tab, what string, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, 2*patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
	return v
}

// call sends one command of the browser's protocol.
func call[P, R any](tab *Tab, what string, command cdp.Command[P, R], params P) {
	tab.t.Helper()
	tab.do(what, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, command, params)
		return err
	}))
}
