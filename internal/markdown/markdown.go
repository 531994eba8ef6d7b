// Package markdown turns markdown from outside (models, files, tools) into
// safe HTML: goldmark with GFM and without raw HTML, chroma with CSS classes,
// then bluemonday. Only http, https and mailto links are live; an image becomes
// a link, so that showing a text never makes a request.
package markdown

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"stagefold/internal/markdown/plain"
)

var converter = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough,
		extension.TaskList,
		extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:", "mailto:"})),
	),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))),
)

// Block is the safe HTML of one top-level markdown block. Kind is a
// fold.BlockKind. Text is the block's markdown source, except for a code block
// whose fence line is not in it: there it is the code, and info the fence's
// info string.
func Block(kind, info, text string) string {
	if kind == "code" && !fenced(text) && !indented(text) {
		return code(plain.Text(info), plain.Text(text))
	}
	return Document(text)
}

// Document is the safe HTML of a whole markdown text.
func Document(text string) (safe string) {
	text = plain.Text(text)
	defer func() {
		if recover() != nil { // a parser's bug must not take the page with it
			safe = "<p>" + html.EscapeString(text) + "</p>"
		}
	}()
	var out bytes.Buffer
	if err := converter.Convert([]byte(text), &out); err != nil {
		return "<p>" + html.EscapeString(text) + "</p>"
	}
	return policy.Sanitize(out.String())
}

// Plain is plain.Text: a tool's output without terminal codes.
func Plain(text string) string { return plain.Text(text) }

func fenced(text string) bool {
	t := strings.TrimLeft(text, " ")
	return len(text)-len(t) < 4 && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"))
}

func indented(text string) bool {
	return strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t")
}
