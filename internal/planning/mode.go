package planning

import (
	"errors"
	"fmt"
)

// Names of the planners' tools. The metronome and the steps verb both have a
// tool named plan; a chat has only one of them.
const (
	ToolWriteTodos = "write_todos"
	ToolPlan       = "plan"
	ToolAdvance    = "advance"
	ToolUpdatePlan = "update_plan"
)

// ErrMode: the word names no planning mode.
var ErrMode = errors.New("unknown planning mode")

// ParseMode reads a mode's word: metronome, classic, checklist, steps or none.
// Any other word is ErrMode.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Metronome, Classic, Checklist, Steps, None:
		return m, nil
	}
	return "", fmt.Errorf("%w %q (metronome, classic, checklist, steps or none)", ErrMode, s)
}

// Tools are the names of the planner's tools, in the order in which the model
// gets them; empty for none.
func (m Mode) Tools() []string {
	switch m {
	case Metronome:
		return []string{ToolPlan, ToolAdvance}
	case Classic:
		return []string{ToolWriteTodos}
	case Checklist:
		return []string{ToolUpdatePlan}
	case Steps:
		return []string{ToolPlan}
	}
	return nil
}

// IsPlannerTool reports that some planner has a tool of that name.
func IsPlannerTool(name string) bool {
	switch name {
	case ToolWriteTodos, ToolPlan, ToolAdvance, ToolUpdatePlan:
		return true
	}
	return false
}

// ReminderKey is the reminder under which the mode's directive stands: todos
// for classic, plan for the others, "" where there is no planner.
func ReminderKey(m Mode) string {
	switch m {
	case Classic:
		return "todos"
	case Metronome, Checklist, Steps:
		return "plan"
	}
	return ""
}

// has reports that the tool is one of the mode's.
func (m Mode) has(tool string) bool {
	for _, name := range m.Tools() {
		if name == tool {
			return true
		}
	}
	return false
}
