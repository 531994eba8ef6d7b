package static

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func get(t *testing.T, path, encoding string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

// TestHashedNames: the page's URL is answered for a year, a plain name is
// checked each time, another hash is not found.
func TestHashedNames(t *testing.T) {
	if !strings.HasPrefix(CSS(), "/static/app.") || !strings.HasSuffix(CSS(), ".css") || CSS() == "/static/app.css" {
		t.Errorf("CSS() = %q", CSS())
	}
	for path, want := range map[string]struct {
		status int
		cache  string
	}{
		CSS():                      {200, "public, max-age=31536000, immutable"},
		"/static/app.css":          {200, "no-cache"},
		URL("icon.svg"):            {200, "public, max-age=31536000, immutable"},
		"/static/app.00000000.css": {404, ""},
		"/static/static.go":        {404, ""},
		"/static/":                 {404, ""},
		"/static/../go.mod":        {404, ""},
		"/static/css/base.css":     {404, ""},
	} {
		r := get(t, path, "")
		if r.StatusCode != want.status || r.Header.Get("Cache-Control") != want.cache {
			t.Errorf("%s: %d %q, want %d %q", path, r.StatusCode, r.Header.Get("Cache-Control"), want.status, want.cache)
		}
	}
	if URL("nothing.js") != "" {
		t.Error("a file that is not there has a URL")
	}
}

func TestGzip(t *testing.T) {
	plain, _ := io.ReadAll(get(t, CSS(), "").Body)
	r := get(t, CSS(), "gzip, br")
	if r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Fatalf("headers %v", r.Header)
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, _ := io.ReadAll(z)
	if string(unzipped) != string(plain) {
		t.Error("the zipped sheet differs from the plain one")
	}
}

// TestSheet: the layers come first, every rule stands in one, nothing is loaded
// from elsewhere.
func TestSheet(t *testing.T) {
	css := string(files["app.css"].plain)
	if !strings.HasPrefix(css, "@layer reset,tokens,base,layout,components,utilities;") {
		t.Errorf("the sheet begins with %.60q", css)
	}
	for _, bad := range []string{"url(", "@import", "http:", "https:", "/*"} {
		if strings.Contains(css, bad) {
			t.Errorf("the sheet holds %q", bad)
		}
	}
	depth := 0
	for line := range strings.Lines(css) {
		if depth == 0 && !strings.HasPrefix(line, "@layer ") {
			t.Errorf("outside a layer: %s", line)
		}
		depth += strings.Count(line, "{") - strings.Count(line, "}")
	}
	if depth != 0 {
		t.Errorf("%d braces stay open", depth)
	}
}

// TestBudget: what a page loads stays in the budget of docs/architecture.md.
func TestBudget(t *testing.T) {
	sum := 0
	for _, name := range []string{"app.css", "client.js", "app.js"} {
		t.Logf("%s: %d bytes gzip", name, len(files[name].gzip))
		sum += len(files[name].gzip)
	}
	if sum > 20<<10 {
		t.Errorf("%d bytes gzip, want at most 20 KiB", sum)
	}
}
