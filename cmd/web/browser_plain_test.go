package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// Without JavaScript: a chat is begun with the plain form, its end read, another
// message sent, a chat deleted.
func TestBrowserWithoutScripts(t *testing.T) {
	s := startServer(t, testConfig(t))
	b := startBrowserOf(t, s)
	b.NoScript()
	b.open("/")
	b.Run("document.querySelector('select[name=planningMode]').value = 'classic'")
	b.Click("#composer textarea")
	b.Type("Survey the workspace and write survey.md")
	b.Click("[data-action=send]")
	b.Wait("location.pathname.startsWith('/chats/c')")
	b.endedPlain(1, "finished")
	if got := b.icons(); got != "check check check check check" {
		t.Errorf("icons %q", got)
	}
	id := b.runID()
	if !browsertest.Eval[bool](b.Tab, "document.querySelector('[data-region=answer]').innerText.length > 100") {
		t.Error("the answer cannot be read")
	}
	// A stage's parts are behind a plain link.
	b.Click(".stage-row:nth-of-type(2) > details > summary")
	b.Click(".stage-row:nth-of-type(2) noscript a")
	b.Wait("location.pathname.startsWith('/runs/') && document.querySelector('[data-tool=read_file]')")
	if got := browsertest.Eval[string](b.Tab, "location.pathname"); got != "/runs/"+id {
		t.Errorf("the link leads to %s", got)
	}

	b.open("/chats/" + b.chatOf(id))
	b.Click("#composer textarea")
	b.Type("What can you do?")
	b.Click("[data-action=send]")
	b.endedPlain(2, "finished")
	// An empty message comes back with a sentence.
	b.Run("document.querySelector('#composer textarea').required = false")
	b.Click("#composer textarea")
	b.Type("  ")
	b.Click("[data-action=send]")
	b.Wait("document.querySelector('#notice').innerText.includes('The message is empty')")
	// The mode of the next runs.
	b.open("/chats/" + b.chatOf(id))
	b.Run("document.querySelector('select[name=planningMode]').value = 'steps'")
	b.Click("noscript [form=chat-settings]")
	eventually(t, "the mode is kept", func() bool {
		c, err := s.db.Chat(t.Context(), b.chatOf(id))
		return err == nil && c.PlanningMode == planning.Steps
	})
	b.open("/chats/" + b.chatOf(id))
	b.Wait("document.querySelector('select[name=planningMode]').value === 'steps'")

	b.Click(".side-foot summary")
	b.Click(".side-foot .button-stop")
	b.Wait("location.pathname === '/' && document.querySelector('.chat-none')")
}

func (b *browser) chatOf(runID string) string {
	b.t.Helper()
	r, err := b.db.Run(b.t.Context(), runID)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.ChatID
}

// endedPlain waits until the page, loaded again and again, shows n runs, the
// last one in the state.
func (b *browser) endedPlain(n int, state string) {
	b.t.Helper()
	b.Wait(fmt.Sprint("document.readyState === 'complete' && document.querySelectorAll('#timeline > [data-run-id]').length === ", n))
	eventually(b.t, "the run ends on a page without scripts", func() bool {
		b.Reload()
		return browsertest.Eval[string](b.Tab, "(() => { const runs = [...document.querySelectorAll('#timeline > [data-run-id]')]; return runs.length + ' ' + runs.at(-1)?.dataset.runState })()") == fmt.Sprint(n, " ", state)
	})
}

// Runs of every end are listed, filtered and found; each can be reviewed without
// scripts, and printed.
func TestBrowserRuns(t *testing.T) {
	s := startServer(t, testConfig(t))
	finished := s.send(s.newChat(planning.Metronome), "m1", "Survey the workspace and write survey.md").RunID
	s.wait(finished, ended)
	failed := s.send(s.newChat(planning.Classic), "m2", "Please fail on the way to the harbour").RunID
	s.wait(failed, ended)
	g := gated(s.app)
	stopped := s.send(s.newChat(planning.Steps), "m3", "A long survey, please").RunID
	for g.hold(s, stopped) {
		var r run
		s.call("GET", "/api/runs/"+stopped, nil, &r)
		if working(r) {
			s.call("POST", "/api/runs/"+stopped+"/stop", nil, nil)
			s.wait(stopped, ended)
			break
		}
		g.release()
	}

	b := startBrowserOf(t, s)
	b.NoScript()
	list := func() []string {
		return browsertest.Eval[[]string](b.Tab, "[...document.querySelectorAll('.runs .run-title')].map(a => a.pathname.split('/').pop())")
	}
	for path, want := range map[string][]string{
		"/runs":                 {stopped, failed, finished},
		"/runs?state=failed":    {failed},
		"/runs?state=stopped":   {stopped},
		"/runs?q=harbour":       {failed},
		"/runs?q=no+such+word":  {},
		"/runs?model=rehearsal": {stopped, failed, finished},
	} {
		b.open(path)
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", path, got, want)
		}
	}
	// By hand: the search form.
	b.open("/runs")
	b.Click("[type=search]")
	b.Type("harbour")
	b.Click(".filter button")
	b.Wait("location.search.includes('q=harbour') && document.querySelectorAll('.runs .run-title').length === 1")

	for id, icons := range map[string]string{finished: "check check check check check", failed: "check check x circle circle", stopped: "square" + strings.Repeat(" circle", 7)} {
		b.open("/runs/" + id)
		if got := b.icons(); got != icons {
			t.Errorf("the review of %s shows %q, want %q", id, got, icons)
		}
	}
	// Every part of the finished run stands in the page, and on paper.
	b.open("/runs/" + finished)
	if n := browsertest.Eval[int](b.Tab, "document.querySelectorAll('.stage-row [data-tool]').length"); n < 12 {
		t.Errorf("%d tools stand in the review", n)
	}
	if !browsertest.Eval[bool](b.Tab, "document.querySelector('.gantt-bars').getBoundingClientRect().width > 100") {
		t.Error("the stage bar is not drawn")
	}
	if pdf := b.Print(); len(pdf) < 20_000 {
		t.Errorf("the print has %d bytes", len(pdf))
	}
	b.open("/chats/nope")
	if got := browsertest.Eval[string](b.Tab, "document.querySelector('main').innerText"); got == "" {
		t.Error("the error page is empty")
	}
}

// Model and planning mode are picked in the composer; a chat is new with its first
// message, and gone when it is deleted.
func TestBrowserPickersAndChats(t *testing.T) {
	s := startServer(t, testConfig(t))
	b := startBrowserOf(t, s)
	b.open("/")
	b.Run("document.querySelector('select[name=planningMode]').value = 'checklist'")
	b.Click("#composer textarea")
	b.Type("Survey the workspace and write survey.md")
	b.Click("[data-action=send]")
	b.Wait("location.pathname.startsWith('/chats/c')")
	b.ended("finished")
	first := b.runID()
	if !browsertest.Eval[bool](b.Tab, "document.querySelector('select[name=planningMode]').value === 'checklist' && document.querySelector('select[name=model]').value === 'rehearsal'") {
		t.Error("the pickers do not show what was picked")
	}
	b.Run("(() => { const s = document.querySelector('select[name=planningMode]'); s.value = 'steps'; s.dispatchEvent(new Event('change', { bubbles: true })) })()")
	chat := b.chatOf(first)
	eventually(t, "the mode is kept", func() bool {
		c, err := s.db.Chat(t.Context(), chat)
		return err == nil && c.PlanningMode == planning.Steps
	})
	b.write("Survey the workspace again")
	b.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 2")
	b.ended("finished")
	for id, want := range map[string]planning.Mode{first: planning.Checklist, b.runID(): planning.Steps} {
		if r, err := s.db.Run(t.Context(), id); err != nil || r.Mode != want {
			t.Errorf("a run went with %s, want %s", r.Mode, want)
		}
	}
	b.checkAtRest()

	b.Click(".new-chat")
	b.Wait("location.pathname === '/' && document.activeElement.name === 'text'")
	b.Click(".chat-list a")
	b.Wait("location.pathname.startsWith('/chats/c')")
	b.Click(".side-foot summary")
	b.Click(".side-foot .button-stop")
	b.Wait("location.pathname === '/' && document.querySelector('.chat-none')")
	if code := s.call("GET", "/api/runs/"+first, nil, nil); code != 404 {
		t.Errorf("the run of a deleted chat: %d", code)
	}
}
