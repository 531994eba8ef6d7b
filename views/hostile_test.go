package views

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// hostile is text that would become active or break the frame if any field were
// written without its escaper. The number tells the fields apart.
func hostile(n int) string {
	return fmt.Sprintf("\x1b]0;t\x07\x1b[31m\x00\r\revent: x\rdata: y\xff\xfe\r"+`h%d"'><img src=x onerror="document.title='x'"></details></main><script>alert(1)</script>${'$'}`+"`"+` javascript:alert(1)`, n)
}

// filler puts hostile text into every string of a value, however deep.
type filler struct{ n int }

func (f *filler) text() string { f.n++; return hostile(f.n) }

func (f *filler) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		if keep := v.String(); keep == "" {
			v.SetString(f.text())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(fixtureNow))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				f.fill(v.Field(i), depth)
			}
		}
	case reflect.Pointer:
		if v.IsNil() && depth < 6 && v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			b, _ := json.Marshal(map[string]string{f.text(): f.text(), "path": f.text(), "content": f.text() + "\n" + f.text()})
			v.SetBytes(b)
			return
		}
		if v.Type().Elem().Kind() != reflect.Uint8 && v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			f.fill(v.Index(0), depth+1)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	}
}

// hostileRun has a hostile string in every field of a run, with parts of every
// kind in every state.
func hostileRun(state part.State) *fold.Snapshot {
	f := &filler{}
	s := &fold.Snapshot{State: state}
	f.fill(reflect.ValueOf(s).Elem(), 0)
	s.State, s.Planned, s.Debt = state, true, []part.Debt{{ID: f.text(), Content: f.text()}}
	var parts []*fold.Part
	n := 0
	for _, kind := range []part.Kind{part.KindText, part.KindReasoning, part.KindTool, part.KindSource, part.KindFile, part.KindData, part.KindChild} {
		for _, ps := range []part.PartState{part.StateInputStreaming, part.StateInputAvailable, part.StateApprovalRequested, part.StateOutputAvailable, part.StateOutputError, part.StateOutputDenied, part.StateCancelled} {
			n++
			p := &fold.Part{Part: part.Part{N: n, Kind: kind, State: ps}}
			f.fill(reflect.ValueOf(&p.Part).Elem(), 0)
			p.N = n
			if kind != part.KindTool {
				p.Tool = nil
			}
			if kind == part.KindData {
				p.DataType = []part.Type{part.DataNotice, part.DataAnswer, part.DataPlanCarried, part.Type(f.text())}[n%4]
				p.Data = raw(map[string]string{"text": f.text(), "kind": f.text()})
			}
			if kind == part.KindChild {
				p.Data = raw(part.ChildData{RunID: f.text(), Goal: f.text(), State: part.State(f.text()), Capsule: raw(map[string]any{"keyFindings": []string{f.text()}, "nextActions": []string{f.text()}, "artifacts": []any{map[string]string{"ref": f.text(), "summary": f.text(), "type": f.text()}}})})
			}
			p.Blocks = fold.VecOf(&fold.Block{Kind: fold.BlockParagraph, Text: f.text()})
			parts = append(parts, p)
		}
	}
	var rows []*fold.Row
	for i, status := range []fold.Status{fold.RowPending, fold.RowInProgress, fold.RowWaiting, fold.RowDone, fold.RowError, fold.RowAborted, fold.RowCancelled} {
		r := &fold.Row{Status: status, Index: i + 1, Total: 7, Unverified: true, ClosedByRunEnd: true, Live: i == 1, Parts: fold.VecOf(parts...)}
		f.fill(reflect.ValueOf(r).Elem(), 0)
		r.Index, r.Status = i+1, status
		rows = append(rows, r)
	}
	s.Rows, s.Total = fold.VecOf(rows...), len(rows)
	s.Lead, s.Sink, s.Answer = fold.VecOf(parts...), fold.VecOf(parts...), fold.VecOf(parts...)
	s.Activity = fold.VecOf(&fold.Activity{ActivityData: part.ActivityData{Phase: part.Phase(f.text()), Summary: f.text()}})
	s.Waiting = []part.Waiting{{Kind: "approval", RunID: f.text(), ToolCallID: f.text(), Tool: f.text(), Input: raw(map[string]string{"command": f.text()})},
		{Kind: "question", RunID: f.text(), ToolCallID: f.text(), Question: f.text(), Options: []string{f.text()}}}
	s.Plan = &planning.Plan{Title: f.text()}
	return s
}

func hostilePages(t *testing.T) map[string]string {
	f := &filler{}
	var chat ChatState
	f.fill(reflect.ValueOf(&chat).Elem(), 0)
	page := PageView{Title: f.text(), Nonce: "nonce", Nav: "chats", CSS: "/static/a.css", Client: "/static/c.js", App: "/static/b.js", Dev: true}
	live, over := view(hostileRun(part.Running), nil), view(hostileRun(part.FailedRun), nil)
	done := view(hostileRun(part.Finished), nil)
	review := done
	review.Review, review.Cost = true, f.text()
	runs := RunsPageView{State: f.text(), Query: f.text()}
	f.fill(reflect.ValueOf(&runs).Elem(), 0)
	runs.Page = page
	settings := SettingsView{}
	f.fill(reflect.ValueOf(&settings).Elem(), 0)
	settings.Page = page
	return map[string]string{
		"chat":     markup(t, ChatPage(ChatPageView{Page: page, Chat: chat, Runs: []RunView{over, done, live}, Older: 3, Models: []ModelChoice{{ID: f.text(), Provider: f.text(), Name: f.text()}}, Modes: []planning.Mode{planning.Mode(f.text())}, Draft: f.text(), Error: f.text(), MessageID: f.text()})),
		"run":      markup(t, RunPage(RunPageView{Page: page, Run: review, ChatID: f.text(), ChatTitle: f.text(), Model: f.text(), StageKey: f.text(), PartPage: 1})),
		"runs":     markup(t, RunsPage(runs)),
		"settings": markup(t, SettingsPage(settings)),
		"error":    markup(t, ErrorPage(ErrorView{Page: page, Status: 400, Message: f.text(), Hint: f.text()})),
	}
}

var (
	plainID = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	// places are the attributes in which text from outside may stand, escaped.
	places = []string{"aria-label", "title", "value", "data-stage-id", "data-run-id", "data-call-id", "data-queued-id", "data-tool", "data-run-state", "data-finish-reason", "placeholder"}
	// urls are the attributes that hold addresses.
	urls = []string{"href", "action", "data-load", "src"}
)

// TestHostileText: a hostile string in every field of every page makes no
// element, no attribute, no script and no id, and the frame stays whole.
func TestHostileText(t *testing.T) {
	for name, page := range hostilePages(t) {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for n := range doc.Descendants() {
			if n.Type == html.TextNode {
				if n.Parent.Data == "script" && strings.TrimSpace(n.Data) != "" {
					t.Errorf("%s: inline script %q", name, n.Data)
				}
				seen += strings.Count(n.Data, "onerror")
				for _, r := range n.Data {
					if unicode.IsControl(r) && r != '\n' && r != '\t' {
						t.Errorf("%s: control character %U in %q", name, r, n.Data)
						break
					}
				}
			}
			if n.Type == html.CommentNode {
				t.Errorf("%s: comment %q", name, n.Data)
			}
			if n.Type != html.ElementNode {
				continue
			}
			if slices.Contains([]string{"img", "iframe", "object", "embed", "base", "style", "video", "audio"}, n.Data) {
				t.Errorf("%s: element %s", name, n.Data)
			}
			for _, a := range n.Attr {
				checkAttribute(t, name, n.Data, a)
			}
		}
		if name != "error" && seen < 5 {
			t.Errorf("%s: only %d hostile texts are shown", name, seen)
		}
		if last := lastChild(doc, "body"); last == nil || attribute(last, "id") != "keys" {
			t.Errorf("%s: the frame is broken", name)
		}
	}
}

func checkAttribute(t *testing.T, page, tag string, a html.Attribute) {
	t.Helper()
	dirty := strings.Contains(a.Val, "onerror") || strings.Contains(a.Val, "<") || strings.Contains(a.Val, "alert(")
	switch {
	case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
		t.Errorf("%s: %s has attribute %s", page, tag, a.Key)
	case a.Key == "id" || a.Key == "for" || a.Key == "aria-controls" || a.Key == "popovertarget" || a.Key == "form":
		if !plainID.MatchString(a.Val) {
			t.Errorf("%s: %s %s=%q is not a plain id", page, tag, a.Key, a.Val)
		}
	case slices.Contains(urls, a.Key):
		if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "//") || strings.ContainsAny(a.Val, "\"'<> ") {
			t.Errorf("%s: %s %s=%q", page, tag, a.Key, a.Val)
		}
	case strings.HasPrefix(a.Key, "data-on:") || strings.HasPrefix(a.Key, "data-attr:") || a.Key == "data-init":
		if !expression.MatchString(a.Val) {
			t.Errorf("%s: %s %s=%q is not an expression of ours", page, tag, a.Key, a.Val)
		}
	case dirty && !slices.Contains(places, a.Key):
		t.Errorf("%s: %s %s=%q holds text from outside", page, tag, a.Key, a.Val)
	}
}

// expression is every shape of expression that the templates use.
var expression = regexp.MustCompile(`^(@post\('[^'"<> ]*', \{contentType: 'form'\}\)|@get\('[^'"<> ]*'\)|el\.form\.requestSubmit\(\)|\$(run|row|tool)\?\.\[el\.id\]\?\.[a-z]+ \?\? el\.getAttribute\('data-[a-z-]+'\))$`)

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func lastChild(doc *html.Node, tag string) *html.Node {
	for n := range doc.Descendants() {
		if n.Data == tag && n.Type == html.ElementNode {
			for c := n.LastChild; c != nil; c = c.PrevSibling {
				if c.Type == html.ElementNode {
					return c
				}
			}
		}
	}
	return nil
}
