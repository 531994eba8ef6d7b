package part

import (
	"encoding/json"
	"time"
)

// Settle is the entries that close every open part before a finish entry of
// this state and reason, in the order of the parts. Texts end as they are,
// an open approval is denied, and a tool that still runs is cancelled: the
// words say why.
func Settle(parts []*Part, state State, reason FinishReason, now time.Time) []*Entry {
	var entries []*Entry
	for _, p := range parts {
		if p.Terminal() {
			continue
		}
		e := &Entry{Step: p.Step, Time: now, ID: p.ID}
		switch p.Kind {
		case KindText:
			e.Type = TextEnd
		case KindReasoning:
			e.Type = ReasoningEnd
		case KindTool:
			e.ID, e.ToolCallID = "", p.ID
			e.Type, e.ErrorText, e.Reason = ToolOutputError, endWords(state, reason), ReasonCancelled
			if p.State == StateApprovalRequested {
				e.Type, e.ErrorText, e.Reason = ToolOutputDenied, "", e.ErrorText
			}
		case KindChild:
			e.Type, e.ID = Child, ""
			e.Data = endChild(p.Data, p.ID, state)
		default:
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// endWords is why a tool did not end by itself.
func endWords(state State, reason FinishReason) string {
	switch {
	case state == Stopped:
		return "stopped by the user"
	case state == Interrupted:
		return "interrupted by a restart; its outcome is unknown"
	case state == FailedRun || reason == ReasonError:
		return "the run failed before this tool ended"
	case reason == ReasonLength:
		return "the run reached its limit before this tool ended"
	}
	return "the run ended before this tool did"
}

// endChild is the data of a child that ends with its parent.
func endChild(data json.RawMessage, id string, state State) json.RawMessage {
	var child ChildData
	if json.Unmarshal(data, &child) != nil {
		child = ChildData{}
	}
	child.RunID, child.State = id, Stopped
	if state == Interrupted {
		child.State = Interrupted
	}
	raw, err := json.Marshal(child)
	if err != nil { // a capsule that is no JSON
		child.Capsule = nil
		raw, _ = json.Marshal(child)
	}
	return raw
}
