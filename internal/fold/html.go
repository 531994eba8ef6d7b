package fold

import (
	"regexp"
	"strings"
)

// htmlKind is the kind of an HTML block, 1 to 7 as CommonMark numbers them.
type htmlKind int

const (
	htmlAttribute = `\s+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:\s*=\s*(?:[^"'=<>` + "`" + `\x00-\x20]+|'[^']*'|"[^"]*"))?`
)

var (
	htmlText   = regexp.MustCompile(`(?i)^<(?:script|pre|style|textarea)(?:\s|>|/>|$)`)
	htmlTag    = regexp.MustCompile(`^<(?:/ *)?([a-zA-Z]+[a-zA-Z0-9-]*)(?: |>|/>|\s*$)`)
	htmlAlone  = regexp.MustCompile(`^<(/ *)?([a-zA-Z]+[a-zA-Z0-9-]*)((?:` + htmlAttribute + `)*) *(?:>|/>)[ \r]*$`)
	htmlEnd    = regexp.MustCompile(`(?i)</(?:script|pre|style|textarea)>`)
	htmlBlocks = map[string]bool{}
)

func init() {
	for name := range strings.FieldsSeq(`address article aside base basefont blockquote body caption center col
		colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4
		h5 h6 head header hr html iframe legend li link main menu menuitem meta nav noframes ol optgroup option p
		param search section summary table tbody td tfoot th thead title tr track ul`) {
		htmlBlocks[name] = true
	}
}

// htmlOf is the kind of the HTML block that begins with s, 0 for none. alone:
// a kind 7 block may begin here, because no paragraph is open.
func htmlOf(s string, alone bool) htmlKind {
	switch {
	case htmlText.MatchString(s):
		return 1
	case strings.HasPrefix(s, "<!--"):
		return 2
	case strings.HasPrefix(s, "<?"):
		return 3
	case len(s) > 2 && s[1] == '!' && s[2] >= 'A' && s[2] <= 'Z':
		return 4
	case strings.HasPrefix(s, "<![CDATA["):
		return 5
	}
	if m := htmlTag.FindStringSubmatch(s); m != nil && htmlBlocks[strings.ToLower(m[1])] {
		return 6
	}
	m := htmlAlone.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	name := strings.ToLower(m[2])
	switch {
	case htmlBlocks[name]:
		return 6
	case alone && name != "script" && name != "style" && name != "pre" && (m[1] == "" || m[3] == ""):
		return 7
	}
	return 0
}

// ends: the line ends a block of this kind, itself included.
func (k htmlKind) ends(line string) bool {
	switch k {
	case 1:
		return htmlEnd.MatchString(line)
	case 2:
		return strings.Contains(line, "-->")
	case 3:
		return strings.Contains(line, "?>")
	case 4:
		return strings.Contains(line, ">")
	case 5:
		return strings.Contains(line, "]]>")
	}
	return false
}
