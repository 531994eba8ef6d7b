package markdown

import (
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// highlightLimit bounds the code that is coloured, in bytes; more stays plain.
const highlightLimit = 32 << 10

func (nodes) fencedCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		b := node.(*ast.FencedCodeBlock)
		info := ""
		if b.Info != nil {
			info = string(b.Info.Value(source))
		}
		_, _ = w.WriteString(code(info, lines(b, source)))
	}
	return ast.WalkSkipChildren, nil
}

func (nodes) indentedCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(code("", lines(node, source)))
	}
	return ast.WalkSkipChildren, nil
}

func lines(node ast.Node, source []byte) string {
	var b strings.Builder
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

// code is a code block: coloured where its language is known, else plain.
func code(info, text string) string {
	lang := language(info)
	open := `<pre class="code" tabindex="0"><code>`
	if lang != "" {
		open = `<pre class="code" tabindex="0" data-lang="` + html.EscapeString(lang) + `"><code>`
	}
	return open + highlight(lang, text) + "</code></pre>\n"
}

// highlight is the safe HTML of code in a language: spans with the classes of
// class, or plain escaped text where the language is not known.
func highlight(lang, text string) (safe string) {
	escaped := html.EscapeString(text)
	if lang == "" || len(text) > highlightLimit {
		return escaped
	}
	lexer := lexers.Get(lang)
	if lexer == nil {
		return escaped
	}
	defer func() {
		if recover() != nil { // a lexer's bug must not take the page with it
			safe = escaped
		}
	}()
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text)
	if err != nil {
		return escaped
	}
	var out strings.Builder
	for token := tokens(); token != chroma.EOF; token = tokens() {
		if c := class(token.Type); c != "" && strings.TrimSpace(token.Value) != "" {
			out.WriteString(`<span class="c-` + c + `">` + html.EscapeString(token.Value) + `</span>`)
		} else {
			out.WriteString(html.EscapeString(token.Value))
		}
	}
	return out.String()
}

// class is the colour class of a token, "" for the text's own colour. It keeps
// the style sheet at nine rules.
func class(t chroma.TokenType) string {
	switch {
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameNamespace:
		return "t"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameDecorator:
		return "f"
	case t == chroma.NameAttribute, t == chroma.NameProperty:
		return "a"
	case t.InCategory(chroma.Keyword), t == chroma.NameTag, t == chroma.OperatorWord:
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.GenericInserted:
		return "gi"
	case t == chroma.GenericDeleted:
		return "gd"
	}
	return ""
}

// language is the first word of a fence's info string where it can be shown as
// a name: letters, digits and + # . -
func language(info string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	word = strings.ToLower(strings.Trim(word, "{}."))
	if len(word) == 0 || len(word) > 20 {
		return ""
	}
	for _, c := range []byte(word) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("+#.-", rune(c)) {
			return ""
		}
	}
	return word
}
