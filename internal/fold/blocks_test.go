package fold

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

func toHTML(t testing.TB, md string) string {
	var b bytes.Buffer
	if err := gfm.Convert([]byte(md), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func joined(t testing.TB, blocks Vec[*Block]) string {
	var s string
	for _, b := range blocks.All() {
		s += toHTML(t, b.Source())
	}
	return s
}

func TestSpec(t *testing.T) {
	raw, err := os.ReadFile("testdata/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Section  string
		Example  int
		Markdown string
	}
	if err := json.Unmarshal(raw, &examples); err != nil {
		t.Fatal(err)
	}
	for _, ex := range examples {
		if got, want := joined(t, cutAll(ex.Markdown)), toHTML(t, ex.Markdown); got != want {
			t.Errorf("example %d (%s)\n%q\ngot  %q\nwant %q", ex.Example, ex.Section, ex.Markdown, got, want)
		}
	}
}
