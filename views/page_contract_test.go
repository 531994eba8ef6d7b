package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

func parse(t *testing.T, markup string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// withAttr are the elements that carry an attribute.
func withAttr(n *html.Node, key string) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && slices.ContainsFunc(d.Attr, func(a html.Attribute) bool { return a.Key == key }) {
			out = append(out, d)
		}
	}
	return out
}

func elements(n *html.Node) int {
	count := 0
	for d := range n.Descendants() {
		if d.Type == html.ElementNode {
			count++
		}
	}
	return count
}

// TestPageContract: the names of docs/api.md ('The page') are in the page.
func TestPageContract(t *testing.T) {
	doc := parse(t, markup(t, ChatPage(fixtureChatPage(view(finishedRun(), nil), view(waitingRun(), nil)))))
	ids := map[string]string{}
	for _, n := range withAttr(doc, "id") {
		id := attribute(n, "id")
		if ids[id] != "" {
			t.Errorf("id %s stands twice", id)
		}
		ids[id] = n.Data
	}
	for id, tag := range map[string]string{"timeline": "div", "status-line": "div", "plan-pane": "aside", "composer": "form", "stream": "div", "queue": "ul"} {
		if ids[id] != tag {
			t.Errorf("#%s is %q, want %q", id, ids[id], tag)
		}
	}
	for _, run := range withAttr(doc, "data-run-id") {
		var regions []string
		for _, r := range withAttr(run, "data-region") {
			regions = append(regions, attribute(r, "data-region"))
		}
		if got := strings.Join(regions, " "); got != "lead rows sink answer debt" {
			t.Errorf("regions of a run: %s", got)
		}
		if len(withAttr(run, "data-run-state"))+len(withAttr(run, "data-finish-reason")) != 0 || attribute(run, "data-run-state") == "" {
			t.Error("a run's state stands elsewhere than on the run")
		}
	}
	rows := withAttr(doc, "data-stage-id")
	if len(rows) != 8 {
		t.Errorf("%d rows, want 8", len(rows))
	}
	for _, row := range rows {
		if icons := withAttr(row, "data-icon"); len(icons) != 1 || attribute(icons[0], "aria-label") == "" {
			t.Errorf("row %s has %d icons", attribute(row, "data-stage-id"), len(icons))
		}
		if attribute(row, "data-status") == "" {
			t.Error("a row without data-status")
		}
	}
	for _, tool := range withAttr(doc, "data-tool") {
		if attribute(tool, "data-part-kind") != "tool" || attribute(tool, "data-state") == "" || attribute(tool, "data-call-id") == "" {
			t.Errorf("tool card %v", tool.Attr)
		}
	}
	if s := parse(t, markup(t, StatusLine(fixtureChat(), nil))); attribute(withAttr(s, "id")[0], "role") != "status" {
		t.Error("the status line is not a status")
	}
	var actions []string
	for _, b := range withAttr(doc, "data-action") {
		actions = append(actions, attribute(b, "data-action"))
	}
	for _, want := range []string{"send", "stop", "again", "allow", "allow-always", "deny", "jump"} {
		if !slices.Contains(actions, want) {
			t.Errorf("no button with data-action=%s", want)
		}
	}
	if len(withAttr(doc, "data-queued-id")) != 2 || len(withAttr(doc, "data-connection")) != 1 {
		t.Error("queued messages or the connection are missing")
	}
	for _, a := range withAttr(doc, "data-ignore") {
		if !strings.Contains(attribute(a, "class"), "md") {
			t.Error("data-ignore on something else than markdown")
		}
	}
}

// TestFormsWorkWithoutScript: every form has a method and an address, and every
// expression that sends one has the same address.
func TestFormsWorkWithoutScript(t *testing.T) {
	for _, s := range all(nil) {
		for _, f := range withAttr(parse(t, markup(t, s.View)), "method") {
			action, sends := attribute(f, "action"), attribute(f, "data-on:submit__prevent")
			if !strings.HasPrefix(action, "/") || sends != "" && sends != post(action) {
				t.Errorf("%s: form to %q sends %q", s.Name, action, sends)
			}
		}
	}
}

// TestAtRest: after a terminal state no clock runs and nothing beats.
func TestAtRest(t *testing.T) {
	for _, s := range []*fold.Snapshot{finishedRun(), debtRun(), limitRun(), failedRun(), stoppedRun(), interruptedRun(), plainRun(), silentRun()} {
		page := markup(t, RunArticle(RunView{Snap: s, Now: fixtureNow, Static: true}))
		if strings.Contains(page, "data-since") || strings.Contains(page, "halo") {
			t.Errorf("%s: something moves after the end", s.Start.RunID)
		}
	}
}

// TestOutcome: an end is told as what it is, never as a bare check.
func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		snap *fold.Snapshot
		want []string
		not  string
	}{
		"finished":    {finishedRun(), []string{"Finished", "icon-check", "Run again"}, "stage left open"},
		"debt":        {debtRun(), []string{"finished, 2 stages open", "2 stages left open", "Compare the sizes", "icon-open"}, `icon-check" viewBox="0 0 16 16" role="img" aria-label="finished`},
		"limit":       {limitRun(), []string{"limit of 100 steps", "1 stage left open"}, ""},
		"failed":      {failedRun(), []string{"quota used up", "insufficient_quota", "icon-x"}, "without an answer"},
		"stopped":     {stoppedRun(), []string{"stopped", "icon-square"}, "without an answer"},
		"interrupted": {interruptedRun(), []string{"interrupted", "restarted"}, ""},
		"silent":      {silentRun(), []string{"The run ended without an answer."}, ""},
		"plain":       {plainRun(), []string{"finished"}, "without an answer"},
	} {
		got := markup(t, RunArticle(view(c.snap, nil)))
		for _, want := range c.want {
			if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: says %q", name, c.not)
		}
	}
}

// TestStatusLine: 'Working' is always first, what stands beside it never
// replaces it, and the parts come in their order.
func TestStatusLine(t *testing.T) {
	live, waiting, done := view(liveRun(), nil), view(waitingRun(), nil), view(finishedRun(), nil)
	stopping := fixtureChat()
	stopping.Stopping = true
	for name, c := range map[string]struct {
		chat ChatState
		run  *RunView
		want string
	}{
		"live":     {fixtureChat(), &live, "Working new output below 1 child run, 1 command 3/5 - Measure what each change brings 3 min 10 s Stop"},
		"stopping": {stopping, &live, "Working stopping new output below 1 child run, 1 command 3/5 - Measure what each change brings 3 min 10 s Stop"},
		"waiting":  {fixtureChat(), &waiting, "Working waits for you new output below 2/3 - Build from a clean tree 3 min 10 s Stop"},
		"done":     {fixtureChat(), &done, ""},
		"no run":   {fixtureChat(), nil, ""},
	} {
		var words []string
		for n := range parse(t, markup(t, StatusLine(c.chat, c.run))).Descendants() {
			if n.Type == html.TextNode {
				words = append(words, strings.Fields(n.Data)...)
			}
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// bigRun has n parts in stages: 60 % tools, 40 % texts of 200 characters.
func bigRun(n, stages int) *fold.Snapshot {
	s := &sketch{}
	var rows []*fold.Row
	text := strings.Repeat("ten chars ", 20)
	for i := range stages {
		var parts []*fold.Part
		for j := range n / stages {
			if j%5 < 3 {
				parts = append(parts, s.tool("read_file", part.StateOutputAvailable, map[string]any{"path": fmt.Sprintf("file-%d.txt", j), "offset": j}, map[string]any{"content": text, "lines": 4}))
			} else {
				parts = append(parts, s.text(text))
			}
		}
		r := stage(fold.RowDone, 1+i%9, "A stage with many parts", parts...)
		r.StageID, r.Index = fmt.Sprintf("stage-%d", i), i+1
		rows = append(rows, r)
	}
	if stages == 0 {
		var parts []*fold.Part
		for range n {
			parts = append(parts, s.text(text))
		}
		snap := run("run-big", part.Finished)
		snap.Lead = fold.VecOf(parts...)
		return snap
	}
	return run("run-big", part.Finished, rows...)
}

// TestReviewStaysSmall: a page of a big run holds at most pageNodes elements,
// and every part is on one of its pages exactly once.
func TestReviewStaysSmall(t *testing.T) {
	for _, stages := range []int{0, 1, 8, 50} {
		snap := bigRun(4000, max(stages, 0))
		show := func(key string, page int) *html.Node {
			v := view(snap, func(b *fold.Block) string { return "<p>" + b.Text + "</p>" })
			v.Review = true
			doc := parse(t, markup(t, RunPage(RunPageView{Page: fixturePage("runs"), Run: v, StageKey: key, PartPage: page})))
			if n := elements(doc); n > pageNodes {
				t.Errorf("%d stages, %s page %d: %d elements", stages, key, page, n)
			}
			return doc
		}
		show("", 1)
		key, want := "lead", snap.Lead.Len()
		if stages > 0 {
			key, want = StageKey("stage-0"), snap.Rows.At(0).Parts.Len()
		}
		seen := map[string]int{}
		for page := 1; page <= (want+pageParts-1)/pageParts; page++ {
			doc := show(key, page)
			place := byID(doc, RunID("run-big")+"-lead")
			if stages > 0 {
				place = byID(doc, "s-"+key+"-body")
			}
			for _, p := range withAttr(place, "data-part-kind") {
				seen[attribute(p, "id")]++
			}
		}
		if len(seen) != want {
			t.Errorf("%d stages: %d parts on the pages of %s, want %d", stages, len(seen), key, want)
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s stands on %d pages", id, n)
			}
		}
	}
}

// TestSmallReviewIsWhole: everything of a run that fits stands in the page.
func TestSmallReviewIsWhole(t *testing.T) {
	v := view(finishedRun(), nil)
	v.Review = true
	doc := parse(t, markup(t, RunPage(RunPageView{Run: v})))
	if got, want := len(withAttr(doc, "data-part-kind")), 7; got != want {
		t.Errorf("%d parts, want %d", got, want)
	}
	if len(withAttr(doc, "data-load"))+len(withAttr(doc, "rel")) > 4 {
		t.Error("a page that holds everything links to more")
	}
}

// TestSettledBodiesAreEmpty: on the chat page a settled stage has no parts in
// the page, the others have, and the page says without a script where they are.
func TestSettledBodiesAreEmpty(t *testing.T) {
	page := markup(t, RunArticle(view(liveRun(), nil)))
	doc := parse(t, page)
	for _, row := range withAttr(doc, "data-stage-id") {
		parts := len(withAttr(row, "data-part-kind"))
		if settled := attribute(row, "data-status") == "done"; settled != (parts == 0) && attribute(row, "data-status") != "pending" {
			t.Errorf("row %s has %d parts", attribute(row, "data-stage-id"), parts)
		}
	}
	if !strings.Contains(page, "<noscript>") || !strings.Contains(page, "?stage=") {
		t.Error("without a script nothing leads to a settled stage's parts")
	}
}

func byID(n *html.Node, id string) *html.Node {
	for _, d := range withAttr(n, "id") {
		if attribute(d, "id") == id {
			return d
		}
	}
	return nil
}

func BenchmarkReviewPage(b *testing.B) {
	snap := bigRun(10_000, 50)
	v := view(snap, func(b *fold.Block) string { return b.Text })
	v.Review = true
	p := RunPage(RunPageView{Page: fixturePage("runs"), Run: v})
	for b.Loop() {
		if err := p.Render(b.Context(), discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// TestLiveEqualsReload: what stays of a row that was live equals the row of a
// page that comes after its end; only its parts, its openness and what is
// patched differ.
func TestLiveEqualsReload(t *testing.T) {
	r := *liveRun().Rows.At(2)
	before := RowView{Run: view(liveRun(), nil), Row: &r, Body: true}
	settled := r
	settled.Status, settled.Live, settled.Evidence = fold.RowDone, false, "done"
	after := RowView{Run: view(finishedRun(), nil), Row: &settled}
	after.Run.Snap.Start.RunID = before.Run.Snap.Start.RunID
	frame := func(v RowView) string {
		page := markup(t, RowItem(v))
		for _, patched := range []string{markup(t, RowHead(v)), markup(t, RowFacts(v)), markup(t, RowBody(v))} {
			if patched != "" {
				page = strings.Replace(page, patched, "", 1)
			}
		}
		return strings.NewReplacer(" open>", ">", " open ", " ", `data-status="in_progress"`, "", `data-status="done"`, "").Replace(page)
	}
	if a, b := frame(before), frame(after); a != b {
		t.Errorf("live:\n%s\nafter a reload:\n%s", lines(a), lines(b))
	}
}
