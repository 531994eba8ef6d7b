package part

import "strings"

// Build is the parts of a whole log in order, whole texts included; resets are
// honoured, the finish closes what is still open (see Settle), and entries
// after it are late.
func Build(entries []*Entry) []*Part {
	b := builder{byKey: map[key]int{}}
	for _, e := range entries {
		if e.Late {
			continue
		}
		if e.Type == Finish {
			b.settle(e)
			break
		}
		b.add(e)
	}
	parts := make([]*Part, 0, len(b.parts))
	for _, p := range b.parts {
		if p.gone {
			continue
		}
		done := p.Part
		if p.Tool == nil {
			done.Text = p.text.String()
		} else if len(p.Tool.Input) == 0 && p.Tool.RawInput == "" && p.text.Len() > 0 {
			tool := *p.Tool
			tool.InputText = p.text.String()
			done.Tool = &tool
		}
		parts = append(parts, &done)
	}
	return parts
}

type builder struct {
	n     int
	parts []*building
	byKey map[key]int // index of the newest part
}

type building struct {
	Part
	text strings.Builder
	gone bool
}

// key names a part among those of its kind.
type key struct {
	kind Kind
	id   string
}

func (b *builder) add(e *Entry) {
	if e.Type == StepReset {
		b.reset(e.Step)
		return
	}
	k := keyOf(e)
	if i, ok := b.find(k, e); ok {
		p := b.parts[i]
		if p.State == StateStreaming && e.Delta != "" || p.State == StateInputStreaming && e.InputTextDelta != "" {
			p.text.WriteString(e.Delta + e.InputTextDelta)
		}
		p.Take(e)
		return
	}
	if p := new(building); p.Begin(b.n+1, e) {
		b.n++
		b.parts = append(b.parts, p)
		if k.kind != "" {
			b.byKey[k] = len(b.parts) - 1
		}
	}
}

func (b *builder) settle(finish *Entry) {
	var open []*Part
	for _, p := range b.parts {
		if !p.gone && !p.Terminal() {
			open = append(open, &p.Part)
		}
	}
	for _, e := range Settle(open, finish.State, finish.FinishReason, finish.Time) {
		b.add(e)
	}
}

// find is the part that an entry goes on.
func (b *builder) find(k key, e *Entry) (int, bool) {
	if k.kind == KindTool && k.id == "" && e.ApprovalID != "" {
		for i := len(b.parts) - 1; i >= 0; i-- {
			if p := b.parts[i]; !p.gone && p.Tool != nil && p.Tool.ApprovalID == e.ApprovalID {
				return i, true
			}
		}
	}
	i, ok := b.byKey[k]
	if !ok || e.Again(&b.parts[i].Part) {
		return 0, false
	}
	return i, true
}

// Again: the entry begins a part anew under the name of one that ended: a text
// at any time, a tool call in a later step (some providers count their calls
// anew in each answer).
func (e *Entry) Again(p *Part) bool {
	switch e.Type {
	case TextStart, ReasoningStart:
		return p.State == StateDone
	case ToolInputStart, ToolInputAvailable, ToolInputError:
		return p.Terminal() && p.Step != e.Step
	}
	return false
}

func (b *builder) reset(step int) {
	for _, p := range b.parts {
		if p.Step == step && !p.gone {
			p.gone = true
			k := key{p.Kind, p.ID}
			if p.Kind == KindData {
				k.id = string(p.DataType) + " " + p.ID
			}
			delete(b.byKey, k)
		}
	}
}

// keyOf is the name of the part that an entry begins or goes on.
func keyOf(e *Entry) key {
	switch e.Type {
	case TextStart, TextDelta, TextEnd:
		return key{KindText, e.ID}
	case ReasoningStart, ReasoningDelta, ReasoningEnd:
		return key{KindReasoning, e.ID}
	case ToolInputStart, ToolInputDelta, ToolInputAvailable, ToolInputError, ToolStart, ToolOutput,
		ToolOutputError, ToolOutputDenied, ToolApprovalRequest, ToolApprovalAnswer:
		return key{KindTool, e.ToolCallID}
	case Child:
		return key{KindChild, ChildOf(e).RunID}
	}
	if e.Type.dataPart() && e.ID != "" {
		return key{KindData, string(e.Type) + " " + e.ID}
	}
	return key{}
}
