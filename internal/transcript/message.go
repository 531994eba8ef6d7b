// Package transcript turns a run's parts into the AI SDK's message parts, for
// the API and for programs (docs/protocols.md, section 1).
package transcript

import (
	"encoding/json"

	"stagefold/internal/part"
)

// Part is one part of a UIMessage.
type Part struct {
	Type             string          `json:"type"`
	State            string          `json:"state,omitempty"`
	ID               string          `json:"id,omitempty"`
	Text             *string         `json:"text,omitempty"`
	ProviderMetadata json.RawMessage `json:"providerMetadata,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	RawInput         string          `json:"rawInput,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	Preliminary      bool            `json:"preliminary,omitempty"`
	Approval         *Approval       `json:"approval,omitempty"`
	SourceID         string          `json:"sourceId,omitempty"`
	URL              string          `json:"url,omitempty"`
	Title            string          `json:"title,omitempty"`
	MediaType        string          `json:"mediaType,omitempty"`
	Filename         string          `json:"filename,omitempty"`
	Data             json.RawMessage `json:"data,omitempty"`
	// N is the part's number in the run, the page's #p-N.
	N int `json:"n,omitempty"`
}

// Approval is a tool part's approval.
type Approval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// FromPart maps one part; text is the whole text of a text or reasoning part.
func FromPart(p *part.Part, text string) Part {
	out := Part{N: p.N, State: string(p.State), ProviderMetadata: p.ProviderMetadata}
	switch p.Kind {
	case part.KindText, part.KindReasoning:
		out.Type, out.Text = string(p.Kind), &text
	case part.KindTool:
		tool(&out, p)
	case part.KindSource:
		out.Type, out.State = string(p.DataType), ""
		out.SourceID, out.URL, out.Title, out.MediaType, out.Filename = p.SourceID, p.URL, p.Title, p.MediaType, p.Filename
	case part.KindFile:
		out.Type, out.State = "file", ""
		out.URL, out.MediaType, out.Filename = p.URL, p.MediaType, p.Filename
	default:
		out.Type, out.State = string(p.DataType), ""
		if out.Type == string(part.Child) {
			out.Type = "data-child"
		}
		out.ID, out.Data = p.ID, p.Data
	}
	return out
}

func tool(out *Part, p *part.Part) {
	t := p.Tool
	out.Type = "tool-" + t.Name
	if t.Dynamic {
		out.Type, out.ToolName = "dynamic-tool", t.Name
	}
	out.ToolCallID, out.Input, out.RawInput = t.CallID, t.Input, t.RawInput
	out.Output, out.ErrorText, out.Preliminary = t.Output, t.ErrorText, t.Preliminary
	if p.State == part.StateCancelled { // the SDK knows no cancelled tool
		out.State = string(part.StateOutputError)
	}
	if out.Input == nil && p.State != part.StateInputStreaming {
		out.Input = json.RawMessage("{}")
	}
	if t.ApprovalID != "" {
		out.Approval = &Approval{ID: t.ApprovalID, Approved: t.Approved, Reason: t.Reason}
	}
}
