package main

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// Keys: j and k move, p opens the plan, q and Escape close what is on top, ?
// lists them, Ctrl+Enter sends; single ones are letters in a text field.
func TestBrowserKeys(t *testing.T) {
	s := startServer(t, testConfig(t))
	g := gated(s.app)
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(planning.Metronome))
	b.Click("#composer textarea")
	b.Type("jkpq? Survey the workspace and write survey.md")
	b.Wait("document.querySelector('#composer textarea').value.startsWith('jkpq?') && document.querySelector('#plan-pane').hidden")
	b.Type(kb.Enter, chromedp.ModifierCtrl)
	b.Wait("document.querySelector('#timeline [data-run-id]')")
	id := b.runID()
	for g.hold(s, id) {
		if icons := b.pageShows(id); len(icons) > 0 {
			break
		}
		g.release()
	}
	b.Run("document.activeElement.blur()")
	const row = "[...document.querySelectorAll('.stage-row')].indexOf(document.activeElement.closest('.stage-row'))"
	for _, step := range []struct {
		key  string
		want string
	}{
		{"j", row + " === 0"},
		{"j", row + " === 1"},
		{"k", row + " === 0"},
		{kb.Enter, "!document.querySelector('.stage-row > details').open"},
		{"p", "!document.querySelector('#plan-pane').hidden && document.querySelectorAll('#plan-pane li').length === 5"},
		{"p", "document.querySelector('#plan-pane').hidden"},
		{"p", "!document.querySelector('#plan-pane').hidden"},
		{"?", "document.querySelector('#keys').matches(':popover-open')"},
		{"q", "!document.querySelector('#keys').matches(':popover-open') && !document.querySelector('#plan-pane').hidden"},
		{kb.Escape, "document.querySelector('#plan-pane').hidden"},
		{"p", "!document.querySelector('#plan-pane').hidden"},
	} {
		b.Type(step.key)
		b.Wait(step.want)
	}
	// The focus can be seen.
	if !browsertest.Eval[bool](b.Tab, "getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
		t.Error("the focused row has no outline")
	}
	// The pane closes by itself when the plan is complete.
	g.release()
	for g.hold(s, id) {
		g.release()
	}
	b.ended("finished")
	b.Wait("document.querySelector('#plan-pane').hidden")
	// Single keys can be switched off.
	b.Click(".keys-button")
	b.Wait("document.querySelector('#keys').matches(':popover-open')")
	b.Click("#single-keys")
	b.Type(kb.Escape)
	b.Wait("!document.querySelector('#keys').matches(':popover-open')")
	b.Run("document.activeElement.blur()")
	b.Type("p")
	if !browsertest.Eval[bool](b.Tab, "document.querySelector('#plan-pane').hidden") {
		t.Error("a key that was switched off opened the plan")
	}
	b.Run("document.querySelector('#single-keys').click()")
	b.checkAtRest()
}
