package agent

import (
	"context"
	"encoding/json"

	"stagefold/internal/part"
)

// askTool asks the user; the loop itself waits for the answer.
const askTool = "ask_user"

var askSpec = ToolSpec{
	Name:        askTool,
	Description: "Ask the user a question and wait for the answer. Use it only where you cannot go on without it.",
	Schema:      json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"description":"the question, in the user's language"},"options":{"type":"array","items":{"type":"string"},"description":"answers to choose from"}},"required":["question"],"additionalProperties":false}`),
}

// askedBy is what an ask_user call waits for.
func (r *run) askedBy(c *call) part.Waiting {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	_ = json.Unmarshal(c.input, &in) // the schema was checked
	return part.Waiting{
		Kind: "question", RunID: r.job.RunID, ToolCallID: c.id, Tool: askTool, Question: in.Question, Options: in.Options,
	}
}

// setWaiting stores what the run waits for, or that it goes on. While it waits
// the run's time does not pass.
func (r *run) setWaiting(waiting []part.Waiting, before ...*part.Entry) error {
	entry := &part.Entry{Type: part.Wait, Waiting: waiting}
	if len(waiting) == 0 {
		entry = &part.Entry{Type: part.Resume}
		r.clock.start()
	} else {
		r.clock.stop()
	}
	entries := r.keep(append(before, entry)...)
	ctx, cancel := r.writing()
	defer cancel()
	return r.stored(r.log.SetWaiting(ctx, waiting, entries...))
}

// awaitAnswer waits for the answer to the closing question of the last step.
func (r *run) awaitAnswer(ctx context.Context, question string) error {
	r.in.openQuestion(closing)
	waiting := part.Waiting{Kind: "question", RunID: r.job.RunID, Question: question}
	if err := r.setWaiting([]part.Waiting{waiting}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.in.bell:
		}
		for _, l := range r.in.take() {
			if l.answer != nil && l.toolCallID == closing {
				return r.setWaiting(nil, r.answerEntry(*l.answer, closing))
			}
		}
	}
}

// answerEntry is the user's answer as a part of the run's message.
func (r *run) answerEntry(a Answer, toolCallID string) *part.Entry {
	data, _ := json.Marshal(part.AnswerData{MessageID: a.MessageID, ToolCallID: toolCallID, Text: a.Text})
	return &part.Entry{Type: part.DataAnswer, ID: r.nextID("answer"), Data: data}
}
