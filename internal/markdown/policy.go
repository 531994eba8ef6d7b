package markdown

import (
	"regexp"

	"github.com/microcosm-cc/bluemonday"
)

// policy is the second wall: whatever the renderer did, only these elements,
// attributes and schemes leave the package.
var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong",
		"del", "br", "hr", "table", "thead", "tbody", "tr", "th", "td", "span", "div")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(code|scroll|c-[a-z]{1,2})$`)).OnElements("pre", "span", "div")
	p.AllowAttrs("data-lang").Matching(regexp.MustCompile(`^[a-z0-9+#.-]{1,20}$`)).OnElements("pre")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre", "div")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(false)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}()
