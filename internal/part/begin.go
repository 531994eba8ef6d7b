package part

import (
	"encoding/json"
	"strings"
)

// Begin makes the zero p the part that an entry begins as part n of its run;
// false where the entry begins none. A zero Tool of p is used for a call. A tool-input-available or -error begins a
// part only where its call is not known yet, which the caller knows.
func (p *Part) Begin(n int, e *Entry) bool {
	switch e.Type {
	case TextStart:
		p.Kind, p.State = KindText, StateStreaming
	case ReasoningStart:
		p.Kind, p.State = KindReasoning, StateStreaming
	case ToolInputStart, ToolInputAvailable, ToolInputError:
		p.Kind, p.ID, p.State = KindTool, e.ToolCallID, StateInputStreaming
		if p.Tool == nil {
			p.Tool = new(Tool)
		}
		p.Tool.CallID, p.Tool.Name, p.Tool.Dynamic = e.ToolCallID, e.ToolName, e.Dynamic
		if e.Type != ToolInputStart {
			p.Take(e)
		}
	case SourceURL, SourceDocument:
		p.Kind, p.State, p.Ended = KindSource, StateDone, e.Time
		p.SourceID, p.URL, p.Title, p.MediaType, p.Filename = e.SourceID, e.URL, e.Title, e.MediaType, e.Filename
	case File:
		p.Kind, p.State, p.Ended = KindFile, StateDone, e.Time
		p.URL, p.Title, p.MediaType, p.Filename = e.URL, e.Title, e.MediaType, e.Filename
	case Child:
		p.Kind, p.State, p.Data = KindChild, StateStreaming, e.Data
		child := ChildOf(e)
		if child.RunID == "" {
			return false
		}
		p.ID = child.RunID
		if child.State.Terminal() {
			p.State, p.Ended = StateDone, e.Time
		}
	default:
		if !e.Type.dataPart() {
			return false
		}
		p.Kind, p.State, p.Ended = KindData, StateDone, e.Time
		p.DataType, p.Data = e.Type, e.Data
	}
	p.N, p.Step, p.Seq, p.Started, p.ProviderMetadata = n, e.Step, e.Seq, e.Time, e.ProviderMetadata
	if p.ID == "" {
		p.ID = e.ID
	}
	return true
}

// dataPart: the entry's data are a part of the message.
func (t Type) dataPart() bool {
	switch t {
	case DataPlan, DataAsk, DataActivity, ToolStart:
		return false
	}
	return strings.HasPrefix(string(t), "data-")
}

// ChildOf is the child that an entry tells of; zero where its data cannot be read.
func ChildOf(e *Entry) ChildData {
	var child ChildData
	if json.Unmarshal(e.Data, &child) != nil {
		return ChildData{}
	}
	return child
}
