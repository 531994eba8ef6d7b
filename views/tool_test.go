package views

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

func TestSubject(t *testing.T) {
	for name, c := range map[string]struct {
		tool part.Tool
		want string
	}{
		"path":                      {part.Tool{Input: json.RawMessage(`{"offset":3,"path":"a.txt"}`)}, "a.txt"},
		"command before path":       {part.Tool{Input: json.RawMessage(`{"path":"x","command":"ls\n-l"}`)}, "ls -l"},
		"first short field":         {part.Tool{Input: json.RawMessage(`{"city":"Bonn","days":3}`)}, "Bonn"},
		"while the input streams":   {part.Tool{InputText: `{"path":"notes/a.md","content":"half of`}, "notes/a.md"},
		"before the field is whole": {part.Tool{InputText: `{"path":"notes/a`}, ""},
		"nothing":                   {part.Tool{Input: json.RawMessage(`{}`)}, ""},
		"not an object":             {part.Tool{Input: json.RawMessage(`["a"]`)}, ""},
		"not JSON":                  {part.Tool{RawInput: `{"path`}, ""},
		"terminal codes":            {part.Tool{Input: json.RawMessage(`{"command":"\u001b[31mrm\u001b[0m"}`)}, "rm"},
	} {
		if got := subject(&c.tool); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFieldsOf(t *testing.T) {
	got := fieldsOf([]byte(`{"a":1.50,"b":"x\ny","c":{"d":[1,2]},"e":null,"f":tr`))
	want := []field{{"a", "1.50", false}, {"b", "x\ny", true}, {"c", `{"d":[1,2]}`, false}, {"e", "null", false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestToolName(t *testing.T) {
	for name, want := range map[string]string{"read_file": "Read", "mcp__github__search_issues": "github: search_issues", "mcp__x": "x: ", "my_tool": "my_tool", "a\nb": "a b"} {
		if got := toolName(name); got != want {
			t.Errorf("toolName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestBounded(t *testing.T) {
	if got := bounded("a\nb\n"); got != (excerpt{Head: "a\nb"}) {
		t.Errorf("short: %+v", got)
	}
	e := bounded(longText(900))
	if h, l := strings.Count(e.Head, "\n")+1, strings.Count(e.Tail, "\n")+1; h != headLines || l != tailLines || e.Left != "400 lines left out" {
		t.Errorf("long: %d and %d lines, %s", h, l, e.Left)
	}
	wide := bounded(strings.Repeat("ä", 40<<10))
	if len(wide.Head)+len(wide.Tail) > textBytes || !strings.Contains(wide.Left, "KiB left out") || strings.Contains(wide.Head+wide.Tail, "\uFFFD") {
		t.Errorf("wide: %d and %d bytes, %s", len(wide.Head), len(wide.Tail), wide.Left)
	}
	if got := bounded("\x89PNG\x00\x01").Binary; got != "Binary data, 6 B" {
		t.Errorf("binary: %q", got)
	}
}

// TestPieces: pieces of a long open block show what the whole block shows, in
// one container.
func TestPieces(t *testing.T) {
	render := func(b *fold.Block) string { // the shape of the product's renderer
		switch b.Kind {
		case fold.BlockCode:
			body := strings.SplitN(b.Text, "\n", 2)[1]
			if !strings.HasSuffix(body, "\n") {
				body += "\n"
			}
			return `<pre class="code" tabindex="0" data-lang="go"><code>` + body + "</code></pre>\n"
		case fold.BlockTable:
			lines := strings.Split(strings.TrimSpace(b.Text), "\n")
			return "<div class=\"scroll\"><table><thead><tr>" + lines[0] + "</tr></thead><tbody>" + strings.Join(lines[2:], "") + "</tbody></table></div>"
		}
		return b.Text
	}
	show := func(blocks fold.Vec[*fold.Block]) string {
		p := &fold.Part{Part: part.Part{N: 1, Kind: part.KindText}, Blocks: blocks}
		return markup(t, BlockItem(BlockView{Part: PartView{Run: RunView{Snap: plainRun(), Render: render}, Part: p}, Block: blocks.At(0)}))
	}
	code := show(inPieces(fold.BlockCode, "go", fold.Piece{Head: "```go\n", Text: "a := 1\n"}, fold.Piece{Head: "```go\n", Text: "b :="}))
	if strings.Count(code, "<pre") != 1 || !strings.Contains(code, `data-lang="go"`) || !strings.Contains(code, ">a := 1\n</span>") || !strings.Contains(code, ">b :=</span>") {
		t.Error(code)
	}
	table := show(inPieces(fold.BlockTable, "", fold.Piece{Text: "h\n-\na\n"}, fold.Piece{Head: "h\n-\n", Text: "b\n"}))
	if strings.Count(table, "<table") != 1 || strings.Count(table, "<tbody") != 2 || strings.Count(table, "<tr>h</tr>") != 1 || strings.Contains(table, "thead") {
		t.Error(table)
	}
}

func TestIds(t *testing.T) {
	v := view(liveRun(), nil)
	row := RowView{Run: v, Row: v.Snap.Rows.At(0)}
	p := PartView{Run: v, Row: row.Row, Part: v.Snap.Lead.At(0)}
	if row.ID() != v.ID()+"-s-"+StageKey("stage-1") || p.ID() != v.ID()+"-p-1" {
		t.Errorf("chat page: %s, %s", row.ID(), p.ID())
	}
	row.Run.Review, p.Run.Review = true, true
	if row.ID() != "s-"+StageKey("stage-1") || p.ID() != "p-1" {
		t.Errorf("review page: %s, %s", row.ID(), p.ID())
	}
	if RunID("0195-aaaa-1") == RunID("0195-aaaa-2") {
		t.Error("two runs share an id")
	}
}
