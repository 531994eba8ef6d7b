package views

import (
	"encoding/json"
	"strings"

	"github.com/a-h/templ"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// PatchesHead: when the part changes, PartHead is to be patched.
func (v PartView) PatchesHead() bool {
	switch v.Part.Kind {
	case part.KindReasoning, part.KindTool, part.KindChild:
		return true
	}
	return false
}

// PatchesBody: when the part changes, PartBody is to be patched. Text and
// reasoning change block by block instead.
func (v PartView) PatchesBody() bool {
	return v.Part.Kind != part.KindText && v.Part.Kind != part.KindReasoning
}

// ended: the run is over, nothing moves any more.
func (v PartView) ended() bool { return v.Run.Snap.Terminal() }

// ticking: the part's clock still runs.
func (v PartView) ticking() bool {
	return v.Part.Ended.IsZero() && !v.Part.Started.IsZero() && !v.ended()
}

func (v PartView) elapsed() string {
	if v.ticking() {
		return duration(v.Run.Now.Sub(v.Part.Started))
	}
	return between(v.Part.Started, v.Part.Ended)
}

// asks: the card offers the approval's buttons.
func (v PartView) asks() bool {
	return v.Part.State == part.StateApprovalRequested && !v.ended() && !v.Run.Static
}

// cut: the page shows less than the tool gave.
func (v PartView) cut(e excerpt) bool { return v.Part.Tool.Truncated || e.Left != "" || e.Binary != "" }

// notice is the text of a data part that says something to the reader.
type notice struct {
	Kind, Label, Text string
}

// noticeOf reads the data parts that the page knows; Kind is "" for others.
func noticeOf(p *fold.Part) notice {
	switch p.DataType {
	case part.DataNotice:
		var d part.NoticeData
		if json.Unmarshal(p.Data, &d) == nil {
			return notice{"notice", "", Plain(d.Text)}
		}
	case part.DataAnswer:
		var d part.AnswerData
		if json.Unmarshal(p.Data, &d) == nil {
			return notice{"answer", "You answered", Plain(d.Text)}
		}
	case part.DataPlanCarried:
		var d planning.Plan
		if json.Unmarshal(p.Data, &d) == nil {
			return notice{"notice", "", plural(len(d.Stages), "open stage") + " carried over from the run before."}
		}
	}
	return notice{}
}

// childOf is the child run that a part shows, in its newest state.
func (v PartView) childOf() *fold.Child {
	var d part.ChildData
	if json.Unmarshal(v.Part.Data, &d) != nil {
		d = part.ChildData{Goal: v.Part.Title}
	}
	if v.Row != nil {
		for _, c := range v.Row.Children {
			if c.RunID == d.RunID {
				return c
			}
		}
	}
	for _, c := range v.Run.Snap.Unattached {
		if c.RunID == d.RunID {
			return c
		}
	}
	return &fold.Child{ChildData: d, Started: v.Part.Started, Ended: v.Part.Ended}
}

// capsule is what a child run brought back.
type capsule struct {
	KeyFindings []string `json:"keyFindings"`
	Artifacts   []struct {
		Type    string `json:"type"`
		Ref     string `json:"ref"`
		Summary string `json:"summary"`
	} `json:"artifacts"`
	NextActions []string `json:"nextActions"`
}

func capsuleOf(c *fold.Child) capsule {
	var out capsule
	if json.Unmarshal(c.Capsule, &out) != nil {
		return capsule{}
	}
	return out
}

func (c capsule) empty() bool {
	return len(c.KeyFindings) == 0 && len(c.Artifacts) == 0 && len(c.NextActions) == 0
}

func (v PartView) sourceTitle() string {
	if v.Part.Title != "" {
		return Line(v.Part.Title)
	}
	return Line(v.Part.URL)
}

func (v PartView) fileTitle() string {
	if v.Part.Filename != "" {
		return Line(v.Part.Filename)
	}
	return "file"
}

// saysState: the state needs words beside its icon.
func (v PartView) saysState() bool {
	switch v.Part.State {
	case part.StateOutputAvailable, part.StateInputAvailable, part.StateApprovalResponded:
		return false
	}
	return true
}

// attributes are those that only a tool card has.
func (v PartView) attributes() templ.OrderedAttributes {
	t := v.Part.Tool
	if t == nil {
		return nil
	}
	return append(templ.OrderedAttributes{
		templ.KV[string, any]("data-tool", Line(t.Name)),
		templ.KV[string, any]("data-call-id", t.CallID),
		templ.KV[string, any]("data-state", string(v.Part.State)),
	}, v.Run.follow(toolFollows)...)
}

// live: an address that may be a link.
func live(address string) bool {
	a := strings.ToLower(address)
	return strings.HasPrefix(a, "https://") || strings.HasPrefix(a, "http://")
}

// html is a block's safe HTML; without a renderer its text as it is.
func (v BlockView) html(b *fold.Block) string {
	if v.Part.Run.Render == nil {
		return "<p>" + templ.EscapeString(Plain(b.Source())) + "</p>"
	}
	return v.Part.Run.Render(b)
}

// inner is the piece's HTML without the container that all pieces share.
func (v PieceView) inner() string {
	html := v.html()
	switch v.Block.Block.Kind {
	case fold.BlockCode:
		code := within(html, "<code>", "</code>")
		if !strings.HasSuffix(v.Piece.Text, "\n") { // a line that goes on in the next piece
			code = strings.TrimSuffix(code, "\n")
		}
		return code
	case fold.BlockTable:
		if v.Piece.Head != "" { // the header row stands in the first piece
			return within(html, "<tbody>", "</tbody>")
		}
		return tableParts.Replace(within(html, "<table>", "</table>"))
	}
	return html
}

func (v PieceView) html() string {
	b := v.Block.Block
	return v.Block.html(&fold.Block{N: b.N, Kind: b.Kind, Info: b.Info, Refs: b.Refs, Text: v.Piece.Head + v.Piece.Text})
}

// language is the name that the renderer gave the code of a block in pieces.
func (v BlockView) language() string {
	first := PieceView{Block: v, Piece: v.Block.Pieces.At(0)}.html()
	_, rest, ok := strings.Cut(first, `data-lang="`)
	name, _, _ := strings.Cut(rest, `"`)
	if !ok {
		return ""
	}
	return name
}

var tableParts = strings.NewReplacer("<thead>", "", "</thead>", "", "<tbody>", "", "</tbody>", "")

// within is what stands between the first open and the last end, else all.
func within(s, open, end string) string {
	i, j := strings.Index(s, open), strings.LastIndex(s, end)
	if i < 0 || j < i+len(open) {
		return s
	}
	return s[i+len(open) : j]
}
