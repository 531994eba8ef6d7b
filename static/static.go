// Package static holds the style sheet, the browser client and the icons,
// embedded and served under names that carry a hash of what is in them.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed *.* css icons
var embedded embed.FS

// file is one served file.
type file struct {
	name  string // with its hash: app.3f9a12cd.css
	kind  string // content type
	plain []byte
	gzip  []byte
}

var (
	files  = collect()       // by plain name: app.css, client.js, icon.svg
	served = byHashed(files) // by hashed name
	kinds  = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
)

// Handler serves the files below /static/. A name with its hash never changes
// and is kept for a year; a plain name is answered too, and is checked each time.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/static/")
		f, ok := served[name]
		cache := "public, max-age=31536000, immutable"
		if !ok {
			f, ok = files[name]
			cache = "no-cache"
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.kind)
		h.Set("Cache-Control", cache)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("ETag", `"`+f.name+`"`)
		h.Set("Vary", "Accept-Encoding")
		body := f.plain
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = f.gzip
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

// CSS is the hashed URL of the joined style sheet.
func CSS() string { return URL("app.css") }

// URL is the hashed URL of a file, for instance client.js; "" where there is
// none, so that a page without it asks for nothing.
func URL(name string) string {
	f, ok := files[name]
	if !ok {
		return ""
	}
	return "/static/" + f.name
}

// collect reads what is embedded; names are known at build time, so that an
// error here is one of the build.
func collect() map[string]*file {
	out := map[string]*file{}
	add := func(name string, content []byte) {
		ext := path.Ext(name)
		sum := sha256.Sum256(content)
		f := &file{name: strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:4]) + ext, kind: kinds[ext], plain: content, gzip: zipped(content)}
		out[name] = f
	}
	add("app.css", sheet())
	for _, pattern := range []string{"*.js", "icons/*.svg"} {
		names, _ := fs.Glob(embedded, pattern)
		for _, name := range names {
			content, _ := fs.ReadFile(embedded, name)
			add(path.Base(name), content)
		}
	}
	return out
}

// sheet joins the style sheets: the order of the layers first, then one file a
// component in the order of their names.
func sheet() []byte {
	names, _ := fs.Glob(embedded, "css/*.css")
	slices.SortFunc(names, func(a, b string) int {
		if first := "css/layers.css"; a == first || b == first {
			if a == first {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var out bytes.Buffer
	for _, name := range names {
		content, _ := fs.ReadFile(embedded, name)
		squeeze(&out, string(content))
	}
	return out.Bytes()
}

// tight leaves out spaces that say nothing; none of these stands in a string or
// selector of ours.
var tight = strings.NewReplacer(" { ", "{", " {", "{", ": ", ":", "; ", ";", ";}", "}", "; }", "}", ", ", ",", " > ", ">")

// squeeze leaves out comments, blank lines, indentation and needless spaces.
func squeeze(out *bytes.Buffer, css string) {
	for {
		before, after, found := strings.Cut(css, "/*")
		for line := range strings.Lines(before) {
			if line = strings.TrimSpace(line); line != "" {
				out.WriteString(tight.Replace(line) + "\n")
			}
		}
		if !found {
			return
		}
		_, css, _ = strings.Cut(after, "*/")
	}
}

func zipped(content []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(content)
	_ = w.Close()
	return out.Bytes()
}

func byHashed(files map[string]*file) map[string]*file {
	out := map[string]*file{}
	for _, f := range files {
		out[f.name] = f
	}
	return out
}
