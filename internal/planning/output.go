package planning

import "encoding/json"

// toolOutput is what a planner's tool gives back; which fields are set depends
// on the planner.
type toolOutput struct {
	Todos   *[]todo `json:"todos,omitempty"`   // classic, the sole field there
	Message string  `json:"message,omitempty"` // checklist: the one line that the model is shown
	Refused bool    `json:"refused,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Plan    *Plan   `json:"plan,omitempty"`
}

type todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  Status `json:"status"`
}

// output is the frozen copy of a plan that a call gives back.
func output(p Plan) json.RawMessage {
	var out toolOutput
	switch p.Mode {
	case Classic:
		todos := []todo{}
		for _, s := range p.Stages {
			todos = append(todos, todo{s.ID, s.Content, s.Status})
		}
		out.Todos = &todos
	case Checklist:
		out.Message, out.Plan = checklistLine(p), &p
	default:
		out.Plan = &p
	}
	return encoded(out)
}

// refusedOutput is the answer to a call that changed nothing.
func refusedOutput(p Plan, reason string) json.RawMessage {
	return encoded(toolOutput{Refused: true, Reason: reason, Plan: &p})
}

func encoded(out toolOutput) json.RawMessage {
	b, err := json.Marshal(out)
	if err != nil { // only a time beyond the year 9999
		return json.RawMessage(`{}`)
	}
	return b
}

// ParseOutput reads the plan that a planner's tool gave back. It is false for
// an output that is refused, an error, or no valid plan of that tool's planner.
// A classic output carries no revision: it is 0.
func ParseOutput(tool string, output json.RawMessage) (Plan, bool) {
	p, ok := quickOutput(tool, string(output))
	if !ok {
		p, ok = slowOutput(tool, output)
	}
	if !ok || !p.Mode.has(tool) {
		return Plan{}, false
	}
	if p.Mode == Classic {
		for i, s := range p.Stages {
			p.Stages[i].Status, _ = todoStatus(string(s.Status))
		}
	}
	if !p.valid() {
		return Plan{}, false
	}
	return p, true
}

// slowOutput is the plan in an accepted output of the tool, read by
// encoding/json and not yet checked; false where there is none.
func slowOutput(tool string, output json.RawMessage) (Plan, bool) {
	var out struct {
		Todos   []wireStage     `json:"todos"`
		Refused bool            `json:"refused"`
		Error   json.RawMessage `json:"error"`
		Plan    *slowPlan       `json:"plan"`
	}
	if json.Unmarshal(output, &out) != nil || out.Refused || out.Error != nil {
		return Plan{}, false
	}
	switch {
	case tool == ToolWriteTodos && out.Todos != nil:
		return Plan{Mode: Classic, Stages: stagesIn(out.Todos)}, true
	case tool != ToolWriteTodos && out.Plan != nil:
		return Plan(*out.Plan), true
	}
	return Plan{}, false
}

// valid: the ids are unique and not blank, the statuses are the planner's own,
// at most one is active (steps may have several running), and the pointer is in
// the list.
func (p Plan) valid() bool {
	if p.Revision < 0 || p.Pointer < 0 || p.Pointer > len(p.Stages) {
		return false
	}
	active := 0
	seen := make(map[string]bool, len(p.Stages))
	for _, s := range p.Stages {
		if isBlank(s.ID) || isBlank(s.Content) || seen[s.ID] || !p.Mode.knows(s.Status) {
			return false
		}
		seen[s.ID] = true
		if s.Status.IsActive() {
			active++
		}
	}
	return active <= 1 || p.Mode == Steps
}

// knows: the status is one of the planner's own words.
func (m Mode) knows(s Status) bool {
	switch s {
	case Pending:
		return true
	case InProgress:
		return m == Metronome || m == Classic || m == Checklist
	case Done:
		return m == Metronome || m == Classic || m == Steps
	case Completed, Cancelled:
		return m == Checklist
	case Running, Failed, Skipped:
		return m == Steps
	}
	return false
}
