package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// recorder notes every icon that a row shows.
const recorder = `(() => {
	window.rowIcons = {}
	const look = () => {
		for (const row of document.querySelectorAll('.stage-row')) {
			const icon = row.querySelector('[data-icon]')?.dataset.icon
			const list = (window.rowIcons[row.dataset.stageId] ??= [])
			if (icon && list.at(-1) !== icon) list.push(icon)
		}
	}
	look()
	new MutationObserver(look).observe(document.querySelector('#timeline'), { subtree: true, childList: true, attributes: true })
})()`

// The main job in the browser, with every planner.
func TestBrowserTask(t *testing.T) {
	for _, mode := range []planning.Mode{planning.Metronome, planning.Classic, planning.Checklist, planning.Steps} {
		t.Run(string(mode), func(t *testing.T) {
			s := startServer(t, testConfig(t))
			g := gated(s.app)
			b := startBrowserOf(t, s)
			chat := s.newChat(mode)
			b.open("/chats/" + chat)
			b.Run(recorder)
			b.write("Survey the workspace and write survey.md")
			b.Wait("document.querySelector('#timeline [data-run-id]')")
			id := b.runID()

			reloaded := false
			for g.hold(s, id) {
				icons := b.pageShows(id)
				if !reloaded && slices.Contains(icons, "check") {
					reloaded = true
					b.reloadInTheMiddle(id)
				}
				g.release()
			}
			b.ended("finished")
			if !reloaded {
				t.Error("the page was never reloaded in the middle")
			}
			b.checkSequence()
			b.checkAnswer(id)
			checkReport(t, s.cfg.workspace)
			b.checkAtRest()
		})
	}
}

// reloadInTheMiddle: the same page again, whatever was open.
func (b *browser) reloadInTheMiddle(runID string) {
	b.t.Helper()
	seen := browsertest.Eval[any](b.Tab, "window.rowIcons")
	before := b.shown(false)
	b.Reload()
	b.Wait("document.documentElement.dataset.stream === 'open'")
	b.pageShows(runID)
	if d := cmp.Diff(withoutClocks(before), withoutClocks(b.shown(false))); d != "" {
		b.t.Errorf("a reload in the middle changed the page (-before +after):\n%s", d)
	}
	b.Run(recorder)
	b.Run(fmt.Sprintf("(() => { for (const [id, list] of Object.entries(%s)) window.rowIcons[id] = [...list, ...(window.rowIcons[id] ?? [])].filter((icon, i, all) => icon !== all[i - 1]) })()", mustJSON(seen)))
}

// withoutClocks leaves out what ticks: the text behind an element that counts.
func withoutClocks(lines []string) []string {
	var out []string
	ticks := false
	for _, line := range lines {
		if !ticks {
			out = append(out, line)
		}
		ticks = strings.Contains(line, "data-since=")
	}
	return out
}

// checkSequence: at least four rows went circle, heartbeat, check, and no row
// went any other way.
func (b *browser) checkSequence() {
	b.t.Helper()
	rows := browsertest.Eval[map[string][]string](b.Tab, "window.rowIcons")
	whole := 0
	for id, icons := range rows {
		switch strings.Join(icons, " ") {
		case "circle heartbeat check":
			whole++
		case "heartbeat check": // the first one is at work when the plan comes
		default:
			b.t.Errorf("row %s went %q", id, icons)
		}
	}
	if len(rows) < 4 || whole < len(rows)-1 {
		b.t.Errorf("%d of %d rows went circle, heartbeat, check", whole, len(rows))
	}
}

// checkAnswer: the answer stands below the rows, in full, without a click.
func (b *browser) checkAnswer(runID string) {
	b.t.Helper()
	var r run
	b.call("GET", "/api/runs/"+runID, nil, &r)
	if len(r.Answer) == 0 {
		b.t.Fatal("no answer")
	}
	answer := browsertest.Eval[string](b.Tab, "document.querySelector('[data-region=answer]').innerText")
	if len(strings.TrimSpace(answer)) < 40 {
		b.t.Errorf("the page's answer is %q", answer)
	}
	if browsertest.Eval[bool](b.Tab, "[...document.querySelectorAll('[data-region=answer] pre')].some(p => p.textContent.trim() === '')") {
		b.t.Error("the answer shows an empty block of code")
	}
}

// checkReport counts files, lines and TODOs of the workspace itself and finds
// the numbers in the report.
func checkReport(t *testing.T, workspace string) {
	t.Helper()
	report, err := os.ReadFile(filepath.Join(workspace, "survey.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, lines, todos := 0, 0, 0
	longest, most := "", 0
	err = filepath.WalkDir(workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "survey.md" {
			return err
		}
		content, err := os.ReadFile(path)
		n := bytes.Count(content, []byte("\n"))
		files, lines = files+1, lines+n
		for line := range bytes.Lines(content) {
			if bytes.Contains(line, []byte("TODO")) {
				todos++
			}
		}
		if n > most {
			name, _ := filepath.Rel(workspace, path)
			longest, most = filepath.ToSlash(name), n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 5 {
		t.Errorf("the sample workspace has %d files", files)
	}
	for _, want := range []string{
		fmt.Sprintf("| Files | %d |", files),
		fmt.Sprintf("| Total lines | %d |", lines),
		fmt.Sprintf("| Longest file | `%s` (%d lines) |", longest, most),
		fmt.Sprintf("| Open TODO lines | %d |", todos),
	} {
		if !strings.Contains(string(report), want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
}
