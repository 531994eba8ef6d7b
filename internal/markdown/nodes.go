package markdown

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// nodes renders the nodes that differ from goldmark's own HTML.
type nodes struct{}

// RegisterFuncs is goldmark's renderer.NodeRenderer.
func (n nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, n.heading)
	r.Register(ast.KindHTMLBlock, n.htmlBlock)
	r.Register(ast.KindRawHTML, n.rawHTML)
	r.Register(ast.KindLink, n.link)
	r.Register(ast.KindAutoLink, n.autoLink)
	r.Register(ast.KindImage, n.image)
	r.Register(ast.KindFencedCodeBlock, n.fencedCode)
	r.Register(ast.KindCodeBlock, n.indentedCode)
	r.Register(east.KindTable, n.table)
	r.Register(east.KindTaskCheckBox, n.checkBox)
}

// heading: the page's own headings are h1 and h2, a text's begin at h3.
func (nodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "h" + strconv.Itoa(min(node.(*ast.Heading).Level+2, 6)) + ">"
	if entering {
		_, _ = w.WriteString("<" + tag)
	} else {
		_, _ = w.WriteString("</" + tag + "\n")
	}
	return ast.WalkContinue, nil
}

// htmlBlock shows HTML as the text it is.
func (nodes) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	b := node.(*ast.HTMLBlock)
	var text []byte
	for i := range b.Lines().Len() {
		line := b.Lines().At(i)
		text = append(text, line.Value(source)...)
	}
	if b.HasClosure() {
		text = append(text, b.ClosureLine.Value(source)...)
	}
	_, _ = w.WriteString("<p>")
	_, _ = w.Write(util.EscapeHTML([]byte(strings.TrimRight(string(text), "\n"))))
	_, _ = w.WriteString("</p>\n")
	return ast.WalkContinue, nil
}

// rawHTML shows inline HTML as text; only a line break, common in tables, counts.
func (nodes) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	var raw []byte
	segments := node.(*ast.RawHTML).Segments
	for i := range segments.Len() {
		s := segments.At(i)
		raw = append(raw, s.Value(source)...)
	}
	switch strings.ToLower(strings.ReplaceAll(string(raw), " ", "")) {
	case "<br>", "<br/>":
		_, _ = w.WriteString("<br>")
	default:
		_, _ = w.Write(util.EscapeHTML(raw))
	}
	return ast.WalkSkipChildren, nil
}

// table scrolls by itself, so that a wide one does not widen the page.
func (nodes) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"scroll\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// checkBox is a character: nothing in a text can be operated.
func (nodes) checkBox(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	mark := "☐ "
	if node.(*east.TaskCheckBox).IsChecked {
		mark = "☑ "
	}
	_, _ = w.WriteString(mark)
	return ast.WalkContinue, nil
}

func (nodes) link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	anchor(w, string(node.(*ast.Link).Destination), entering)
	return ast.WalkContinue, nil
}

func (nodes) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	l := node.(*ast.AutoLink)
	dest := string(l.URL(source))
	if l.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(dest), "mailto:") {
		dest = "mailto:" + dest
	}
	anchor(w, dest, true)
	_, _ = w.Write(util.EscapeHTML(l.Label(source)))
	anchor(w, dest, false)
	return ast.WalkContinue, nil
}

// image is a link to the picture with its description as text; inside a link
// the description alone.
func (nodes) image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	dest := string(node.(*ast.Image).Destination)
	if inLink(node) {
		dest = ""
	}
	label := strings.TrimSpace(textOf(node, source))
	if label == "" {
		label = "image"
	}
	anchor(w, dest, true)
	_, _ = w.Write(util.EscapeHTML([]byte("🖼 " + label)))
	anchor(w, dest, false)
	return ast.WalkSkipChildren, nil
}

// anchor opens or closes a link where its destination may be live.
func anchor(w util.BufWriter, dest string, open bool) {
	if !live(dest) {
		return
	}
	if !open {
		_, _ = w.WriteString("</a>")
		return
	}
	_, _ = w.WriteString(`<a href="`)
	_, _ = w.Write(util.EscapeHTML(util.URLEscape([]byte(dest), true)))
	_, _ = w.WriteString(`">`)
}

// live: an absolute http, https or mailto address.
func live(dest string) bool {
	u, err := url.Parse(dest)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

func inLink(node ast.Node) bool {
	for p := node.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

func textOf(node ast.Node, source []byte) string {
	var b strings.Builder
	for c := node.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(source))
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(textOf(c, source))
		}
	}
	return b.String()
}
