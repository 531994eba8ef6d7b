package part

// Next is the part after an entry that concerns it; false where the entry
// changes nothing: what is terminal stays as it is. Texts are the caller's:
// Next adds neither Delta nor InputTextDelta.
func Next(p Part, e *Entry) (Part, bool) {
	switch p.Kind {
	case KindText, KindReasoning:
		return p.nextText(e)
	case KindTool:
		return p.nextTool(e)
	case KindChild:
		if e.Type != Child || p.State == StateDone {
			return p, false
		}
		p.Data = e.Data
		if ChildOf(e).State.Terminal() {
			p.State, p.Ended = StateDone, e.Time
		}
		return p, true
	case KindData:
		if e.Type != p.DataType || e.ID == "" || e.ID != p.ID || e.Type == DataPlanCarried {
			return p, false
		}
		p.Data = e.Data
		return p, true
	}
	return p, false
}

func (p Part) nextText(e *Entry) (Part, bool) {
	if p.State == StateDone {
		return p, false
	}
	changed := false
	if len(e.ProviderMetadata) > 0 {
		p.ProviderMetadata, changed = e.ProviderMetadata, true
	}
	switch e.Type {
	case TextEnd, ReasoningEnd:
		p.State, p.Ended = StateDone, e.Time
		return p, true
	case TextDelta, ReasoningDelta:
		return p, changed
	}
	return p, false
}

func (p Part) nextTool(e *Entry) (Part, bool) {
	if p.Tool == nil || p.Terminal() {
		return p, false
	}
	t := *p.Tool
	switch e.Type {
	case ToolInputAvailable:
		if p.State != StateInputStreaming {
			return p, false
		}
		t.takeInput(e)
		p.State = StateInputAvailable
	case ToolInputError:
		if p.State != StateInputStreaming {
			return p, false
		}
		t.takeInput(e)
		t.ErrorText = e.ErrorText
		p.State, p.Ended = StateOutputError, e.Time
	case ToolStart:
		t.ActedAt = e.Time
	case ToolApprovalRequest:
		if t.Preliminary {
			return p, false
		}
		t.ApprovalID = e.ApprovalID
		p.State = StateApprovalRequested
	case ToolApprovalAnswer:
		if p.State != StateApprovalRequested {
			return p, false
		}
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
	default:
		return p, false
	}
	p.Tool = &t
	return p, true
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
