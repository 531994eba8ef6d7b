package planning

import (
	"encoding/json"
	"time"
)

// wirePlan is a plan's JSON, in the planner's own words.
type wirePlan struct {
	Mode      Mode        `json:"mode"`
	Title     string      `json:"title,omitempty"`
	Revision  int         `json:"revision"`
	Pointer   *int        `json:"pointer,omitempty"`
	SettledAt time.Time   `json:"settledAt,omitzero"`
	Stages    []wireStage `json:"stages"`
}

// wireStage is a stage's JSON. Content is always there; a checklist also calls
// it text, a steps plan label.
type wireStage struct {
	ID          string    `json:"id"`
	Text        string    `json:"text,omitempty"`
	Label       string    `json:"label,omitempty"`
	Content     string    `json:"content"`
	Deliverable string    `json:"deliverable,omitempty"`
	Status      Status    `json:"status"`
	Evidence    string    `json:"evidence,omitempty"`
	AdvancedAt  time.Time `json:"advancedAt,omitzero"`
	Unverified  bool      `json:"unverified,omitempty"`
	ResolvedBy  string    `json:"resolvedBy,omitempty"`
}

// MarshalJSON is the plan in its planner's own words: {mode, title?, revision,
// pointer?, settledAt?, stages}. UnmarshalJSON gives an equal plan back.
func (p Plan) MarshalJSON() ([]byte, error) {
	w := wirePlan{Mode: p.Mode, Title: p.Title, Revision: p.Revision, SettledAt: p.SettledAt, Stages: []wireStage{}}
	if p.Mode == Metronome || p.Pointer != 0 {
		w.Pointer = &p.Pointer
	}
	for _, s := range p.Stages {
		w.Stages = append(w.Stages, wireOf(s, p.Mode))
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Plan) UnmarshalJSON(b []byte) error {
	if quick, ok := quickPlan(string(b)); ok {
		*p = quick
		return nil
	}
	return (*slowPlan)(p).UnmarshalJSON(b)
}

// slowPlan is a plan that encoding/json reads.
type slowPlan Plan

func (p *slowPlan) UnmarshalJSON(b []byte) error {
	var w wirePlan
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*p = slowPlan{Mode: w.Mode, Title: w.Title, Revision: w.Revision, SettledAt: w.SettledAt, Stages: stagesIn(w.Stages)}
	if w.Pointer != nil {
		p.Pointer = *w.Pointer
	}
	return nil
}

// stagesIn is nil where there are none.
func stagesIn(wire []wireStage) []Stage {
	var stages []Stage
	for _, w := range wire {
		stages = append(stages, w.stage())
	}
	return stages
}

func wireOf(s Stage, m Mode) wireStage {
	w := wireStage{
		ID: s.ID, Content: s.Content, Deliverable: s.Deliverable, Status: s.Status,
		Evidence: s.Evidence, AdvancedAt: s.AdvancedAt, Unverified: s.Unverified, ResolvedBy: s.ResolvedBy,
	}
	switch m {
	case Checklist:
		w.Text = s.Content
	case Steps:
		w.Label = s.Content
	}
	return w
}

func (w wireStage) stage() Stage {
	s := Stage{
		ID: w.ID, Content: w.Content, Deliverable: w.Deliverable, Status: w.Status,
		Evidence: w.Evidence, AdvancedAt: w.AdvancedAt, Unverified: w.Unverified, ResolvedBy: w.ResolvedBy,
	}
	if s.Content == "" {
		s.Content = w.Text + w.Label
	}
	return s
}
