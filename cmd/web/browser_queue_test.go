package main

import (
	"strings"
	"testing"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

const queued = "[...document.querySelectorAll('[data-queued-id]')].map(q => q.querySelector('.badge').textContent.trim() + ': ' + q.querySelector('.queued-text').textContent).join('; ')"

// A second message while a run lives is queued, can be edited and taken back,
// and is sent when the run ends.
func TestBrowserQueue(t *testing.T) {
	s := startServer(t, testConfig(t))
	g := gated(s.app)
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(planning.Metronome))
	b.write("What can you do?")
	b.Wait("document.querySelector('#timeline [data-run-id]')")
	id := b.runID()
	if !g.hold(s, id) {
		t.Fatal("the run ended without a model call")
	}
	b.Wait("document.querySelector('#composer textarea').placeholder.includes('when the run ends')")
	b.write("And what else?")
	b.Wait(queued + " === 'queued: And what else?'")
	b.write("Never mind?")
	b.Wait(queued + " === 'queued: And what else?; queued: Never mind?'")

	// The first one is edited, the second one taken back.
	b.Click("[data-queued-id] summary")
	b.Wait("document.querySelector('[data-queued-id] details').open")
	b.Run("document.querySelector('[data-queued-id] textarea').select()")
	b.Click("[data-queued-id] textarea")
	b.Run("document.querySelector('[data-queued-id] textarea').select()")
	b.Type("And what more?")
	b.Click("[data-queued-id] .queued-edit button")
	b.Wait(queued + " === 'queued: And what more?; queued: Never mind?'")
	b.Click("[data-queued-id]:nth-of-type(2) [aria-label='Remove this message']")
	b.Wait(queued + " === 'queued: And what more?'")
	b.Reload()
	b.Wait(queued + " === 'queued: And what more?' && document.documentElement.dataset.stream === 'open'")

	g.release()
	b.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 2")
	b.Wait(queued + " === ''")
	second := b.runID()
	if !g.hold(s, second) {
		t.Fatal("the second run ended without a model call")
	}
	g.release()
	b.ended("finished")
	messages := browsertest.Eval[[]string](b.Tab, "[...document.querySelectorAll('.user-message p')].map(p => p.textContent)")
	if strings.Join(messages, "|") != "What can you do?|And what more?" {
		t.Errorf("messages %q", messages)
	}
	b.checkAtRest()
}

// Stop shows the square and holds what is queued until the reader sends it.
func TestBrowserStop(t *testing.T) {
	s := startServer(t, testConfig(t))
	g := gated(s.app)
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(planning.Classic))
	b.write("Survey the workspace and write survey.md")
	b.Wait("document.querySelector('#timeline [data-run-id]')")
	id := b.runID()
	for g.hold(s, id) && !strings.Contains(strings.Join(b.pageShows(id), " "), "check heartbeat") {
		g.release()
	}
	b.write("What can you do?")
	b.Wait(queued + " === 'queued: What can you do?'")
	b.Click("[data-action=stop]")
	b.ended("stopped")
	b.Wait(iconsOf + " === 'check square circle circle circle'")
	b.Wait(queued + " === 'held: What can you do?'")
	if n := browsertest.Eval[string](b.Tab, "document.querySelector('.plan-count').textContent"); n != "1/5 done" {
		t.Errorf("counter %q", n)
	}
	b.checkAtRest()

	b.Click("[data-queued-id] .button-main")
	b.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 2")
	if !g.hold(s, b.runID()) {
		t.Fatal("the held message made no model call")
	}
	g.release()
	b.ended("finished")
	b.Wait(queued + " === ''")
	b.checkAtRest()
}

// A run that fails shows the X; another message goes on; run again works.
func TestBrowserFailure(t *testing.T) {
	s := startServer(t, testConfig(t))
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(planning.Metronome))
	b.write("Please fail on the way")
	b.ended("failed")
	b.Wait(iconsOf + " === 'check check x circle circle'")
	b.checkAtRest()
	b.Click("[data-action=again]")
	b.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 2")
	b.ended("failed")
	b.write("What can you do?")
	b.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 3")
	b.ended("finished")
	b.checkAtRest()
}

// A question gets a plain answer.
func TestBrowserQuestion(t *testing.T) {
	s := startServer(t, testConfig(t))
	b := startBrowserOf(t, s)
	b.open("/")
	b.Click("#composer textarea")
	b.Type("What can you do?")
	b.Click("[data-action=send]")
	b.Wait("location.pathname.startsWith('/chats/c')")
	b.ended("finished")
	if n := browsertest.Eval[int](b.Tab, "[...document.querySelectorAll('#timeline > [data-run-id]')].at(-1).querySelectorAll('.stage-row').length"); n != 0 {
		t.Errorf("a question got %d stages", n)
	}
	b.checkAtRest()
}

// A message that is refused stays in the composer, with a sentence.
func TestBrowserKeepsTheDraft(t *testing.T) {
	s := startServer(t, testConfig(t))
	b := startBrowserOf(t, s)
	b.open("/chats/" + s.newChat(planning.Metronome))
	b.Run("document.querySelector('#composer textarea').value = 'x'.repeat(300_000)")
	b.Click("#composer textarea")
	b.Type("!")
	b.Click("[data-action=send]")
	b.Wait("document.querySelector('#notice').textContent.includes('longer than 256 KiB')")
	if n := browsertest.Eval[int](b.Tab, "document.querySelector('#composer textarea').value.length"); n != 300_001 {
		t.Errorf("%d characters are left of the draft", n)
	}
	// A draft that was not sent is there after a reload.
	b.Run("document.querySelector('#composer textarea').select()")
	b.Type("What is\n this?")
	b.Reload()
	b.Wait("document.querySelector('#composer textarea').value.startsWith('What is')")
	b.Click("[data-action=send]")
	b.ended("finished")
	b.checkAtRest()
}
