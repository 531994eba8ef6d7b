package planning

import (
	"encoding/json"
	"fmt"
)

// ToolSpec declares a planner's tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the input, type object
}

// ToolSpecs are the mode's tools in the order of Mode.Tools, their limits
// written into descriptions and schemas. The same arguments give the same bytes.
func ToolSpecs(m Mode, l Limits) []ToolSpec {
	switch m {
	case Metronome:
		return []ToolSpec{
			{ToolPlan, planAbout + sizes(l), object(fields{"stages": list(l.Stages, object(fields{
				"id":          text("stable and unique within the plan", l.IDChars),
				"content":     text("what this stage does: one goal, short and action-first", l.ContentChars),
				"deliverable": text("the one verifiable output that this stage produces", 0),
			}, "id", "content", "deliverable"))}, "stages")},
			{ToolAdvance, advanceAbout, object(fields{
				"evidence": text("where the deliverable is and how you verified it", 0),
			}, "evidence")},
		}
	case Classic:
		return []ToolSpec{{ToolWriteTodos, todosAbout + sizes(l), object(fields{
			"todos": list(l.Stages, object(fields{
				"id":      text("stable: the same item keeps its id in every call", l.IDChars),
				"content": text("one goal, short and action-first", l.ContentChars),
				"status":  word(Pending, InProgress, Done),
			}, "id", "content", "status")),
			"focus": text("a few words on what you work on now", l.FocusChars),
			"note":  text("one sentence on what changed", l.NoteChars),
		}, "todos")}}
	case Checklist:
		return []ToolSpec{{ToolUpdatePlan, checklistAbout + fmt.Sprintf(" At most %d steps of %d bytes each.", l.ChecklistSteps, l.StepBytes),
			object(fields{
				"steps": list(l.ChecklistSteps, object(fields{
					"text":   text("one goal, short and action-first", 0),
					"status": word(Pending, InProgress, Completed, Cancelled),
				}, "text", "status")),
				"explanation": text("one sentence on why the plan changed", 0),
			}, "steps")}}
	case Steps:
		return []ToolSpec{{ToolPlan, stepsAbout + fmt.Sprintf(" At most %d steps.", l.Steps), object(fields{
			"title": text("what the whole plan is about", l.LabelChars),
			"steps": list(l.Steps, object(fields{
				"id":     text("stable: the same step keeps its id in every call", l.LabelChars),
				"label":  text("one goal, short and action-first", l.LabelChars),
				"status": word(Pending, Running, Done, Failed, Skipped),
			}, "id", "label", "status")),
		}, "steps")}}
	}
	return nil
}

const planAbout = `Declare the stages of a task, or re-plan it. Use it from two meaningful actions on, before the first expensive tool call; a trivial request needs no plan. Each stage is short and action-first and has one verifiable deliverable, written in the user's language. The first stage is in progress at once; stages have no status field, advance moves on. Calling it again keeps the finished stages and replaces the rest: drop what became obsolete. Never resend an unchanged list.`

const advanceAbout = `Close the stage in progress and open the next. Call it once for each stage, only after its deliverable exists and you verified it, with the evidence for that. Without work since the last advance it is refused. When the last stage is closed, deliver the result and call complete.`

const todosAbout = `Write the todo list of the task: the whole list in each call. Use it from two meaningful actions on, before the first expensive tool call; a trivial request needs no list. Items are short and action-first, in the user's language; exactly one is in_progress. Update as you go: mark an item done only after its result is verified, and the next one in_progress in the same call. Drop items that became obsolete. Never resend an unchanged list.`

const checklistAbout = `Replace the plan of the task: the whole list of steps in each call; an empty list clears it. Use it from two meaningful actions on, before the first expensive tool call; a trivial request needs no plan. Steps are short and action-first, in the user's language; at most one is in_progress. Update as you go: mark a step completed only after verification, and cancel what became obsolete. Never resend an unchanged list. A call that breaks a rule is rejected and changes nothing.`

const stepsAbout = `Maintain the visible checklist of the task: the whole list of steps in each call. Use it from two meaningful actions on, before the first expensive tool call; a trivial request needs no plan. Labels are short and action-first, in the user's language; keep one step running, and mark it running before you delegate work for it. Update as you go: done only after verification, failed where it did not work, skipped where it became obsolete. Never resend an unchanged list. Before you finish your reply, every step is done, failed or skipped.`

// sizes says the limits of a plan.
func sizes(l Limits) string {
	if l.ContentChars > 0 {
		return fmt.Sprintf(" At most %d stages; an id has at most %d characters, a content %d characters.", l.Stages, l.IDChars, l.ContentChars)
	}
	return fmt.Sprintf(" At most %d stages; an id has at most %d characters, a content %d bytes.", l.Stages, l.IDChars, l.ContentBytes)
}

// schema is a JSON Schema; maps are written in key order.
type (
	schema map[string]any
	fields map[string]schema
)

func object(f fields, required ...string) json.RawMessage {
	return encode(schema{"type": "object", "properties": f, "required": required, "additionalProperties": false})
}

func list(most int, item json.RawMessage) schema {
	s := schema{"type": "array", "items": item}
	if most > 0 {
		s["maxItems"] = most
	}
	return s
}

func text(about string, most int) schema {
	s := schema{"type": "string", "description": about}
	if most > 0 {
		s["maxLength"] = most
	}
	return s
}

func word(words ...Status) schema { return schema{"type": "string", "enum": words} }

func encode(s schema) json.RawMessage {
	b, _ := json.Marshal(s) // strings, numbers and lists only
	return b
}
