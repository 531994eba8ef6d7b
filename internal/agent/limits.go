package agent

import (
	"time"

	"stagefold/internal/planning"
)

// DefaultLimits are the documented limits of a run (docs/api.md, Settings).
func DefaultLimits() Limits {
	return Limits{
		Steps:      100,
		Run:        2 * time.Hour,
		Silence:    120 * time.Second,
		Tool:       120 * time.Second,
		Grace:      500 * time.Millisecond,
		ToolOutput: 32 << 10,
		Plan:       planning.NormalLimits(),
		Backoff:    func(n int) time.Duration { return time.Duration(n*n) * time.Second },
	}
}

// orDefault fills what is not set.
func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	if l.Steps <= 0 {
		l.Steps = d.Steps
	}
	if l.Run <= 0 {
		l.Run = d.Run
	}
	if l.Silence <= 0 {
		l.Silence = d.Silence
	}
	if l.Tool <= 0 {
		l.Tool = d.Tool
	}
	if l.Grace <= 0 {
		l.Grace = d.Grace
	}
	if l.ToolOutput <= 0 {
		l.ToolOutput = d.ToolOutput
	}
	if l.Plan == (planning.Limits{}) {
		l.Plan = d.Plan
	}
	if l.Backoff == nil {
		l.Backoff = d.Backoff
	}
	return l
}
