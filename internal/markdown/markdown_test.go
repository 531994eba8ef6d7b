package markdown

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

func TestDocument(t *testing.T) {
	const rel = `rel="nofollow noreferrer noopener" target="_blank"`
	for name, c := range map[string]struct{ in, want string }{
		"headings begin below the page's": {"# A\n\n## B\n\n##### C", "<h3>A</h3>\n<h4>B</h4>\n<h6>C</h6>\n"},
		"image is a link":                 {"![s](http://127.0.0.1:9/p.png?d=SECRET)", `<p><a href="http://127.0.0.1:9/p.png?d=SECRET" ` + rel + `>🖼 s</a></p>` + "\n"},
		"image without a description":     {"![](https://x/y.png)", `<p><a href="https://x/y.png" ` + rel + `>🖼 image</a></p>` + "\n"},
		"image in a link":                 {"[![a](http://b/c.png)](http://d/)", `<p><a href="http://d/" ` + rel + `>🖼 a</a></p>` + "\n"},
		"image of data":                   {"![x](data:image/png;base64,AAAA)", "<p>🖼 x</p>\n"},
		"HTML is text":                    {`<img src=x onerror="document.title='x1'">`, "<p>&lt;img src=x onerror=&#34;document.title=&#39;x1&#39;&#34;&gt;</p>\n"},
		"inline HTML is text":             {"a <svg onload=x> b", "<p>a &lt;svg onload=x&gt; b</p>\n"},
		"closing tags are text":           {"</div></details></main><h1>out</h1>", "<p>&lt;/div&gt;&lt;/details&gt;&lt;/main&gt;&lt;h1&gt;out&lt;/h1&gt;</p>\n"},
		"script over lines":               {"<script>\nalert(1)\n</script>\n\nafter", "<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>\n<p>after</p>\n"},
		"comment":                         {"<!-- note -->", "<p>&lt;!-- note --&gt;</p>\n"},
		"line break":                      {"a<br>b<BR />c", "<p>a<br>b<br>c</p>\n"},
		"javascript link":                 {"[go](javascript:document.title='x3')", "<p>go</p>\n"},
		"data link":                       {"[go](data:text/html,x)", "<p>go</p>\n"},
		"spelled oddly":                   {"[go](JaVaScRiPt:1) [go](&#106;avascript:1) [go](java%0ascript:1)", "<p>go go go</p>\n"},
		"relative links":                  {"[a](/runs/1) [b](//evil.test/) [c](#x) [d](report.md)", "<p>a b c d</p>\n"},
		"good links":                      {"<https://x.test/?a=1&b=2> <a@b.test> [m](mailto:a@b.test)", `<p><a href="https://x.test/?a=1&amp;b=2" ` + rel + `>https://x.test/?a=1&amp;b=2</a> <a href="mailto:a@b.test" rel="nofollow noreferrer">a@b.test</a> <a href="mailto:a@b.test" rel="nofollow noreferrer">m</a></p>` + "\n"},
		"autolink of another scheme":      {"<ftp://x/y> <javascript:alert(1)>", "<p>ftp://x/y javascript:alert(1)</p>\n"},
		"quotes in a destination":         {`[a](http://x/"onclick="y)`, `<p><a href="http://x/%22onclick=%22y" ` + rel + `>a</a></p>` + "\n"},
		"terminal codes":                  {"a\x1b[2J\x1b[31mred\x1b]0;t\x07 \x1b]8;;http://x\x07b\x00c\xff", "<p>ared bc\uFFFD</p>\n"},
		"carriage returns end lines":      {"a\r\n\r\n# b\rc", "<p>a</p>\n<h3>b</h3>\n<p>c</p>\n"},
		"unclosed fence":                  {"```\na <b>", "<pre class=\"code\" tabindex=\"0\"><code>a &lt;b&gt;\n</code></pre>\n"},
		"ends at the fence":               {"```\na\n```", "<pre class=\"code\" tabindex=\"0\"><code>a\n</code></pre>\n"},
		"info string with quotes":         {"```\"><script>\na\n```", "<pre class=\"code\" tabindex=\"0\"><code>a\n</code></pre>\n"},
		"code is coloured":                {"```go\nreturn \"<x>\" // y\n```", "<pre class=\"code\" tabindex=\"0\" data-lang=\"go\"><code><span class=\"c-k\">return</span> <span class=\"c-s\">&#34;&lt;x&gt;&#34;</span> <span class=\"c-c\">// y</span>\n</code></pre>\n"},
		"list that starts at 3":           {"3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		"tasks":                           {"- [ ] a\n- [x] b", "<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>\n"},
		"table":                           {"|a|b|\n|-|-:|\n|1|2|", "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table></div>\n"},
		"nothing":                         {"", ""},
	} {
		if got := Document(c.in); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestBlock(t *testing.T) {
	for name, c := range map[string]struct{ kind, info, text, want string }{
		"code without its fence":  {"code", "go", "x", "<pre class=\"code\" tabindex=\"0\" data-lang=\"go\"><code>x</code></pre>\n"},
		"code with its fence":     {"code", "sh", "```sh\nls\n```", "<pre class=\"code\" tabindex=\"0\" data-lang=\"sh\"><code>ls\n</code></pre>\n"},
		"code that looks like md": {"code", "", "# no <heading>", "<pre class=\"code\" tabindex=\"0\"><code># no &lt;heading&gt;</code></pre>\n"},
		"paragraph":               {"paragraph", "", "a *b*", "<p>a <em>b</em></p>\n"},
	} {
		if got := Block(c.kind, c.info, c.text); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// TestNothingIsLost: what a reader would miss is somewhere in the output.
func TestNothingIsLost(t *testing.T) {
	const in = "<custom-tag attr=1>one</custom-tag>\n\n<div>\ntwo\n</div>\n\nthree <b>four</b> ![five](x:y)"
	got := text(t, Document(in))
	for _, want := range []string{"<custom-tag attr=1>", "one", "two", "three", "<b>", "four", "five"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

var allowed = map[string][]string{
	"p": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil,
	"pre": {"class", "tabindex", "data-lang"}, "code": nil, "em": nil, "strong": nil, "del": nil, "br": nil, "hr": nil,
	"div": {"class", "tabindex"}, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"align"}, "td": {"align"},
	"span": {"class"}, "a": {"href", "rel", "target"},
}

// check parses safe and reports every tag, attribute and scheme that is not allowed.
func check(t *testing.T, in, safe string) {
	t.Helper()
	for _, r := range safe {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			t.Fatalf("control character %U from %q", r, in)
		}
	}
	z := html.NewTokenizer(strings.NewReader(safe))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		tok := z.Token()
		if kind == html.CommentToken || kind == html.DoctypeToken {
			t.Fatalf("comment or doctype from %q: %s", in, safe)
		}
		if kind == html.TextToken {
			continue
		}
		attrs, ok := allowed[tok.Data]
		if !ok {
			t.Fatalf("tag %q from %q: %s", tok.Data, in, safe)
		}
		for _, a := range tok.Attr {
			if !slices.Contains(attrs, a.Key) {
				t.Fatalf("attribute %s of %s from %q: %s", a.Key, tok.Data, in, safe)
			}
			if a.Key == "href" {
				u, err := url.Parse(a.Val)
				if err != nil || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto") {
					t.Fatalf("link to %q from %q", a.Val, in)
				}
			}
		}
		if tok.Data == "a" && kind == html.StartTagToken && !strings.Contains(tok.String(), "noreferrer") {
			t.Fatalf("link without rel from %q: %s", in, safe)
		}
	}
}

// TestFrame: whatever the text, its HTML leaves the element it stands in whole.
func TestFrame(t *testing.T) {
	for _, in := range []string{"</div></details></main><h1>out</h1>", "```\nunclosed", "<!--", "<textarea>", "<![CDATA[", "<?php", "a\n</td></tr></table>", "|a|\n|-|\n|</table>|", "<plaintext>"} {
		doc, err := html.Parse(strings.NewReader("<main><div id=a>" + Document(in) + "</div><p id=b>after</p></main>"))
		if err != nil {
			t.Fatal(err)
		}
		if b := byID(doc, "b"); b == nil || b.Parent.Data != "main" || b.FirstChild.Data != "after" {
			t.Errorf("%q broke the page's frame", in)
		}
	}
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"# a", "![s](http://x/p.png)", "<img src=x onerror=1>", "[go](javascript:1)", "```go\nx", "|a|\n|-|\n|b|", "\x1b]8;;http://x\x07", "<a href='javascript:1'>x</a>", "[a]: javascript:1\n[a]", "- [ ] <b>", "https://x.test www.x.test a@b.c", "&#x6a;&Tab;&lt;", "<svg><style><!--</style><img src=x>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s, Document(s)) })
}

func FuzzCode(f *testing.F) {
	f.Add("go", "func main() {}")
	f.Add("html", "<script>alert('x')</script>")
	f.Add("\"onload=x", "</code></pre><b>")
	f.Fuzz(func(t *testing.T, info, s string) { check(t, s, Block("code", info, s)) })
}

func text(t *testing.T, safe string) string {
	t.Helper()
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(safe))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken {
			b.WriteString(z.Token().Data)
		}
	}
	return b.String()
}

func byID(n *html.Node, id string) *html.Node {
	for d := range n.Descendants() {
		for _, a := range d.Attr {
			if a.Key == "id" && a.Val == id {
				return d
			}
		}
	}
	return nil
}
