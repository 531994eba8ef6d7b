package browsertest

import (
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Requests notes the address of every request that the tab makes from now on.
// The result reads what was noted so far.
func (tab *Tab) Requests() func() []string {
	tab.t.Helper()
	var list []string
	err := chromedp.Listen(tab.ctx, func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok {
			tab.mu.Lock()
			list = append(list, e.Request.URL)
			tab.mu.Unlock()
		}
	})
	if err != nil {
		tab.t.Fatalf("listen to requests: %v", err)
	}
	call(tab, "watch the network", network.Enable, network.EnableParams{})
	return func() []string {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		return append([]string(nil), list...)
	}
}
