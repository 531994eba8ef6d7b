package browsertest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestTabSeesThePageAndItsErrors(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'nonce-n'")
		w.Write([]byte(`<!doctype html><title>one</title><button onclick="">b</button>
<script nonce="n">document.querySelector('button').addEventListener('click', () => { document.title = 'two'; console.error('oh') })</script>`))
	}))
	defer srv.Close()
	tab := Start(t).Tab(t)
	tab.Goto(srv.URL)
	if got := Eval[string](tab, "document.title"); got != "one" {
		t.Fatalf("title %q, want one", got)
	}
	tab.Click("button")
	tab.Wait("document.title === 'two'")
	if got := tab.Errors(); len(got) != 1 {
		t.Errorf("errors %q, want the one that the page wrote", got)
	}
	tab.Dark(true)
	if !Eval[bool](tab, "matchMedia('(prefers-color-scheme: dark)').matches") {
		t.Error("the page is not dark")
	}
	tab.Viewport(320, 600)
	if got := Eval[int](tab, "innerWidth"); got != 320 {
		t.Errorf("width %d, want 320", got)
	}
}

func TestTabWithoutScripts(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<!doctype html><title>plain</title><script>document.title = 'scripted'</script><noscript>no script</noscript><img src="/x.png" alt="">`))
	}))
	defer srv.Close()
	tab := Start(t).Tab(t)
	requests := tab.Requests()
	tab.NoScript()
	tab.Goto(srv.URL)
	tab.Wait("document.title === 'plain' && document.body.innerText.includes('no script')")
	if got := requests(); !slices.Contains(got, srv.URL+"/x.png") {
		t.Errorf("requests %q, the picture is not among them", got)
	}
	if pdf := tab.Print(); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("printed %.20q", pdf)
	}
}
