// Package markdown turns markdown from outside (models, files, tools) into
// safe HTML: goldmark with GFM and without raw HTML, chroma with CSS classes,
// then bluemonday. Only http, https and mailto links are live; an image becomes
// a link, so that showing a text never makes a request.
package markdown

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
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
		return code(clean(info), clean(text))
	}
	return Document(text)
}

// Document is the safe HTML of a whole markdown text.
func Document(text string) (safe string) {
	text = clean(text)
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

// clean takes out what no text may carry into the page: terminal codes,
// control characters, bytes that are not UTF-8. A carriage return ends a line.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, unwanted) {
		return text
	}
	text = terminalCode.ReplaceAllString(text, "")
	text = lineEnds.Replace(text)
	return strings.Map(func(r rune) rune {
		if unwanted(r) {
			return -1
		}
		return r
	}, text)
}

var (
	terminalCode = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?`)
	lineEnds     = strings.NewReplacer("\r\n", "\n", "\r", "\n")
)

func unwanted(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func fenced(text string) bool {
	t := strings.TrimLeft(text, " ")
	return len(text)-len(t) < 4 && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"))
}

func indented(text string) bool {
	return strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t")
}
