package live

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"stagefold/internal/fold"
	"stagefold/views"
)

// page is a simple model of a browser: the timeline and what stands beside it,
// changed by server-sent events as Datastar describes them.
type page struct {
	body    *html.Node
	signals map[string]any
	id      string // of the last event that had one
	events  int
}

func newPage(t testing.TB, timeline string) *page {
	p := &page{signals: map[string]any{}}
	p.body = &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	shell := `<div id="timeline">` + timeline + `</div><h1 id="chat-title"></h1><nav id="chat-list"></nav><ul id="queue"></ul><div id="status-line"></div>` +
		`<aside id="plan-pane"></aside><div id="pinned-plan"></div><div id="waiting"></div>`
	for _, n := range parseHTML(t, shell) {
		p.body.AppendChild(n)
	}
	return p
}

// parseHTML reads a fragment as a template element would.
func parseHTML(t testing.TB, s string) []*html.Node {
	t.Helper()
	context := &html.Node{Type: html.ElementNode, Data: "template", DataAtom: atom.Template}
	nodes, err := html.ParseFragment(strings.NewReader(s), context)
	if err != nil {
		t.Fatalf("parse %q: %v", s, err)
	}
	return nodes
}

// receive shows events; a patch for what is not there is an error here.
func (p *page) receive(t testing.TB, stream []byte) {
	t.Helper()
	for _, e := range parseSSE(string(stream)) {
		p.events++
		if e.id != "" {
			p.id = e.id
		}
		args := map[string][]string{}
		for line := range strings.SplitSeq(e.data, "\n") {
			name, value, _ := strings.Cut(line, " ")
			args[name] = append(args[name], value)
		}
		one := func(name string) string { return strings.Join(args[name], "\n") }
		switch e.kind {
		case "datastar-patch-signals":
			var patch map[string]any
			if err := json.Unmarshal([]byte(one("signals")), &patch); err != nil {
				t.Fatalf("signals %q: %v", one("signals"), err)
			}
			mergeSignals(p.signals, patch)
		case "datastar-patch-elements":
			p.patch(t, one("mode"), one("selector"), one("elements"))
		default:
			t.Fatalf("event of type %q", e.kind)
		}
	}
}

func mergeSignals(into, patch map[string]any) {
	for k, v := range patch {
		inner, isMap := v.(map[string]any)
		old, wasMap := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case isMap && wasMap:
			mergeSignals(old, inner)
		default:
			into[k] = v
		}
	}
}

func (p *page) patch(t testing.TB, mode, selector, elements string) {
	t.Helper()
	if selector == "" {
		if mode != "" && mode != "outer" {
			t.Fatalf("mode %q without a selector", mode)
		}
		for _, n := range parseHTML(t, elements) {
			if n.Type != html.ElementNode {
				continue
			}
			old := find(p.body, attribute(n, "id"))
			if old == nil {
				if !hasLazyRow(p.body) {
					t.Errorf("patch for #%s, which is not there", attribute(n, "id"))
				}
				continue
			}
			keepAttributes(old, n)
			old.Parent.InsertBefore(n, old)
			old.Parent.RemoveChild(old)
		}
		return
	}
	target := find(p.body, strings.TrimPrefix(selector, "#"))
	if target == nil {
		if mode != "remove" && !hasLazyRow(p.body) {
			t.Errorf("%s for %s, which is not there", mode, selector)
		}
		return
	}
	nodes := parseHTML(t, elements)
	switch mode {
	case "remove":
		target.Parent.RemoveChild(target)
		return
	case "inner":
		for target.FirstChild != nil {
			target.RemoveChild(target.FirstChild)
		}
	}
	for _, n := range nodes {
		if id := attribute(n, "id"); id != "" && mode != "inner" && find(p.body, id) != nil {
			t.Errorf("#%s is added a second time", id)
		}
		switch mode {
		case "append", "inner":
			target.AppendChild(n)
		case "prepend":
			target.InsertBefore(n, target.FirstChild)
		case "after":
			target.Parent.InsertBefore(n, target.NextSibling)
			target = n
		default:
			t.Fatalf("mode %q", mode)
		}
	}
}

// hasLazyRow: a stage that is over stands without its parts, which load when it
// is opened; patches for them go nowhere.
func hasLazyRow(n *html.Node) bool {
	if n.Data == "noscript" {
		return true
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hasLazyRow(c) {
			return true
		}
	}
	return false
}

// keepAttributes does what data-preserve-attr says.
func keepAttributes(old, n *html.Node) {
	for _, name := range strings.Fields(attribute(n, "data-preserve-attr")) {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
		for _, a := range old.Attr {
			if a.Key == name {
				n.Attr = append(n.Attr, a)
			}
		}
	}
}

func find(n *html.Node, id string) *html.Node {
	if n.Type == html.ElementNode && attribute(n, "id") == id {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := find(c, id); found != nil {
			return found
		}
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// shown is the timeline as text to compare: attributes that follow signals as
// the signals say; without what belongs to the reader and the bodies of stages
// that are over, which the page may have dropped.
func (p *page) shown(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	timeline := find(p.body, "timeline")
	p.write(&out, timeline, 0)
	return out.String()
}

var followed = regexp.MustCompile(`^\$(\w+)\?\.\[el\.id\]\?\.(\w+) \?\?`)

func (p *page) write(out *strings.Builder, n *html.Node, depth int) {
	pad := strings.Repeat(" ", depth)
	if n.Type == html.TextNode {
		if text := strings.TrimSpace(n.Data); text != "" {
			fmt.Fprintf(out, "%s%q\n", pad, n.Data)
		}
		return
	}
	if n.Data == "noscript" {
		return
	}
	attrs := map[string]string{}
	for _, a := range n.Attr {
		if a.Key != "open" {
			attrs[a.Key] = a.Val
		}
	}
	for _, a := range n.Attr {
		name, ok := strings.CutPrefix(a.Key, "data-attr:")
		if !ok {
			continue
		}
		m := followed.FindStringSubmatch(a.Val)
		root, _ := p.signals[m[1]].(map[string]any)
		key, _ := root[attrs["id"]].(map[string]any)
		switch v := key[m[2]].(type) {
		case string:
			attrs[name] = v
		case bool:
			delete(attrs, name)
			if v {
				attrs[name] = ""
			}
		}
	}
	names := make([]string, 0, len(attrs))
	for k := range attrs {
		names = append(names, k)
	}
	slices.Sort(names)
	fmt.Fprintf(out, "%s<%s", pad, n.Data)
	for _, k := range names {
		fmt.Fprintf(out, " %s=%q", k, attrs[k])
	}
	out.WriteString(">\n")
	if strings.HasPrefix(attrs["class"], "row-body") && overRow(n, p) {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.write(out, c, depth+1)
	}
}

// overRow: the body's row is over, so that it may be empty.
func overRow(body *html.Node, p *page) bool {
	for n := body; n != nil; n = n.Parent {
		if strings.HasPrefix(attribute(n, "class"), "stage-row") {
			icon := findIcon(n)
			return slices.Contains([]string{"check", "x", "square", "dash"}, icon)
		}
	}
	return false
}

func findIcon(n *html.Node) string {
	if v := attribute(n, "data-icon"); v != "" {
		return v
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if v := findIcon(c); v != "" {
			return v
		}
	}
	return ""
}

// reloaded is the timeline as a fresh page shows it.
func reloaded(t testing.TB, l *chatLog) string {
	t.Helper()
	return loadedPage(t, l).shown(t)
}

// loadedPage is the page as the server renders it now.
func loadedPage(t testing.TB, l *chatLog) *page {
	t.Helper()
	chat, _ := l.state(context.Background(), "chat")
	render := newHTMLCache(nil).render
	var timeline strings.Builder
	for _, id := range chat.RunIDs {
		entries, _ := l.entries(context.Background(), id, 0)
		if len(entries) > 0 {
			timeline.WriteString(rendered(views.RunArticle(views.RunView{Snap: fold.Fold(entries), Now: testTime, Render: render})))
		}
	}
	return newPage(t, timeline.String())
}
