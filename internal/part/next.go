package part

import "bytes"

// Next is the part after an entry that concerns it; false where the entry
// changes nothing: what is terminal stays as it is. Texts are the caller's:
// Next adds neither Delta nor InputTextDelta.
func Next(p Part, e *Entry) (Part, bool) {
	if p.Tool != nil && p.takes(e) {
		tool := *p.Tool
		p.Tool = &tool
	}
	ok := p.Take(e)
	return p, ok
}

// Take is Next in place, for a part whose Tool nobody else holds.
func (p *Part) Take(e *Entry) bool {
	switch p.Kind {
	case KindText, KindReasoning:
		return p.takeText(e)
	case KindTool:
		if p.Tool == nil || !p.takes(e) {
			return false
		}
		p.takeTool(e)
		return true
	case KindChild:
		if e.Type != Child || p.State == StateDone {
			return false
		}
		p.Data = e.Data
		if ChildOf(e).State.Terminal() {
			p.State, p.Ended = StateDone, e.Time
		}
		return true
	case KindData:
		if e.Type != p.DataType || e.ID == "" || e.ID != p.ID || e.Type == DataPlanCarried || bytes.Equal(e.Data, p.Data) {
			return false
		}
		p.Data = e.Data
		return true
	}
	return false
}

func (p *Part) takeText(e *Entry) bool {
	if p.State == StateDone {
		return false
	}
	changed := false
	if len(e.ProviderMetadata) > 0 && !bytes.Equal(e.ProviderMetadata, p.ProviderMetadata) {
		p.ProviderMetadata, changed = e.ProviderMetadata, true
	}
	if e.Type == TextEnd || e.Type == ReasoningEnd {
		p.State, p.Ended = StateDone, e.Time
		return true
	}
	return changed
}

// takes: the entry changes the tool call.
func (p *Part) takes(e *Entry) bool {
	if p.Terminal() {
		return false
	}
	switch t := p.Tool; e.Type {
	case ToolInputAvailable, ToolInputError:
		return p.State == StateInputStreaming
	case ToolStart:
		return t.ActedAt.IsZero()
	case ToolApprovalRequest:
		asked := p.State == StateApprovalRequested || p.State == StateApprovalResponded
		return !t.Preliminary && (!asked || t.ApprovalID != e.ApprovalID)
	case ToolApprovalAnswer:
		return p.State == StateApprovalRequested
	case ToolOutput:
		return !e.Preliminary || !t.Preliminary || !bytes.Equal(e.Output, t.Output) || len(e.Files) > 0
	case ToolOutputError, ToolOutputDenied:
		return true
	}
	return false
}

func (p *Part) takeTool(e *Entry) {
	t := p.Tool
	switch e.Type {
	case ToolInputAvailable:
		t.takeInput(e)
		p.State = StateInputAvailable
	case ToolInputError:
		t.takeInput(e)
		t.ErrorText = e.ErrorText
		p.State, p.Ended = StateOutputError, e.Time
	case ToolStart:
		t.ActedAt = e.Time
	case ToolApprovalRequest:
		t.ApprovalID = e.ApprovalID
		p.State = StateApprovalRequested
	case ToolApprovalAnswer:
		t.Approved, t.Reason = e.Approved, e.Reason
		p.State = StateApprovalResponded
	case ToolOutput:
		t.Output, t.Preliminary, t.Truncated = e.Output, e.Preliminary, e.Truncated
		t.addFiles(e.Files)
		p.State = StateOutputAvailable
		if !e.Preliminary {
			p.Ended = e.Time
		}
	case ToolOutputError:
		t.ErrorText, t.Preliminary, t.Truncated = e.ErrorText, false, t.Truncated || e.Truncated
		t.addFiles(e.Files)
		if len(e.Output) > 0 {
			t.Output = e.Output
		}
		p.State, p.Ended = StateOutputError, e.Time
		if e.Reason == ReasonCancelled {
			p.State = StateCancelled
		}
	case ToolOutputDenied:
		t.Preliminary = false
		if e.Reason != "" {
			t.Reason = e.Reason
		}
		p.State, p.Ended = StateOutputDenied, e.Time
	}
}

// ReasonCancelled is the Reason of the tool-output-error entry that closes a
// tool because its run ended.
const ReasonCancelled = "cancelled"

func (t *Tool) takeInput(e *Entry) {
	t.Input, t.RawInput = e.Input, e.RawInput
	t.InputText = ""
	t.Dynamic = t.Dynamic || e.Dynamic
	if e.ToolName != "" {
		t.Name = e.ToolName
	}
}

func (t *Tool) addFiles(files []FileChange) {
	if len(files) == 0 {
		return
	}
	all := make([]FileChange, 0, len(t.Files)+len(files))
	t.Files = append(append(all, t.Files...), files...)
}
