package views

import (
	"bytes"
	"encoding/json"
	"strings"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// sent is what the model's last plan said of this stage and what was settled,
// "" where both are the same. Only classic and steps repair what is sent.
func (v RowView) sent() string {
	plan := v.Run.Snap.Plan
	if plan == nil || plan.Mode != planning.Classic && plan.Mode != planning.Steps {
		return ""
	}
	call := v.lastPlan()
	if call == nil {
		return ""
	}
	at := -1
	for i, s := range plan.Stages {
		if s.ID == v.Row.StageID {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	stage := plan.Stages[at]
	settled, _ := json.Marshal(map[string]string{"id": stage.ID, "content": stage.Content, "status": string(stage.Status)})
	item := sentItem(call.Input, stage.ID, at, plan.Mode)
	if item == nil {
		return "sent:    nothing\nsettled: " + string(settled)
	}
	if same(item, stage) {
		return ""
	}
	var compact bytes.Buffer
	if json.Compact(&compact, item) != nil {
		return ""
	}
	return "sent:    " + compact.String() + "\nsettled: " + string(settled)
}

// lastPlan is the last accepted call that wrote the plan.
func (v RowView) lastPlan() *part.Tool {
	var last *part.Tool
	for _, p := range v.Run.Snap.Calls.All() {
		if p.Tool != nil && p.Tool.Name != "complete" {
			last = p.Tool
		}
	}
	return last
}

// sentItem is the item of a planner call's input for a stage: by its id, in
// steps by its place. nil where the model did not send it.
func sentItem(input json.RawMessage, id string, at int, mode planning.Mode) json.RawMessage {
	var in struct{ Todos, Steps []json.RawMessage }
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	if mode == planning.Steps {
		if at < len(in.Steps) {
			return in.Steps[at]
		}
		return nil
	}
	for _, item := range in.Todos {
		var has struct{ ID json.RawMessage }
		if json.Unmarshal(item, &has) == nil && valueText(has.ID) == id {
			return item
		}
	}
	return nil
}

// same: the item says what was settled; other spellings of a status count as the
// same.
func same(item json.RawMessage, s planning.Stage) bool {
	var in struct{ ID, Content, Label, Status string }
	if json.Unmarshal(item, &in) != nil {
		return false
	}
	status := planning.Status(strings.ReplaceAll(in.Status, "-", "_"))
	return strings.TrimSpace(firstOf(in.Content, in.Label)) == strings.TrimSpace(s.Content) &&
		in.ID == s.ID && (status == s.Status || status.IsDone() && s.Status.IsDone())
}
