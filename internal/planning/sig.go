package planning

import (
	"encoding/json"
	"time"
)

func Apply(s State, c Call, l Limits) Result                           { return Result{State: s} }
func Carry(s State) (State, bool)                                      { return s, false }
func Directive(s State) string                                         { return "" }
func PlanStateBlock(s State) string                                    { return "" }
func Prompt(m Mode) string                                             { return "" }
func ParseOutput(tool string, output json.RawMessage) (Plan, bool)     { return Plan{}, false }
func PartialStages(tool, inputText string) []Stage                     { return nil }
func ResolveChild(s State, stageID string, at time.Time) (State, bool) { return s, false }
func EscapeTags(s string) string                                       { return s }
