package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
)

// check holds what must be true of every run: a sound log, valid requests that
// grow by appending, a valid next request from every prefix of the log.
func (tr *trial) check() {
	tr.t.Helper()
	checkLog(tr.t, tr.log.Entries())
	for i, req := range tr.model.requests {
		checkMessages(tr.t, fmt.Sprintf("request %d", i+1), req.Messages)
		checkFrames(tr.t, i+1, req)
		if i > 0 {
			checkGrowth(tr.t, i+1, tr.model.requests[i-1], req)
		}
	}
	if !tr.sweep {
		checkPrefixes(tr.t, tr.job, tr.log.Entries())
	}
	checkRebuilt(tr.t, tr.job, tr.log.Entries(), tr.model.requests)
}

// checkRebuilt: what the run told the model is what its log tells between two
// steps, so that another owner goes on in the same way.
func checkRebuilt(t *testing.T, job Job, entries []*part.Entry, requests []Request) {
	t.Helper()
	told := map[string]bool{}
	for i, e := range entries {
		switch e.Type {
		case part.Start, part.DataPlanCarried, part.FinishStep, part.DataAsk, part.DataAnswer, part.StepReset:
			raw, _ := json.Marshal(history(job.Prior, job.UserText, job.ModelName, entries[:i+1]))
			told[string(raw)] = true
		}
	}
	for i, req := range requests {
		if raw, _ := json.Marshal(req.Messages); len(told) > 0 && !told[string(raw)] {
			t.Errorf("request %d is told by no prefix of the log: %s", i+1, raw)
		}
	}
}

// checkLog: numbered without gaps, one finish entry at the end, nothing open
// after it, deltas only for what was started.
func checkLog(t *testing.T, entries []*part.Entry) {
	t.Helper()
	open := map[string]bool{}
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d has seq %d", i+1, e.Seq)
		}
		if e.Time.IsZero() {
			t.Errorf("entry %d (%s) has no time", e.Seq, e.Type)
		}
		switch e.Type {
		case part.TextStart, part.ReasoningStart:
			if open[e.ID] {
				t.Errorf("part %s was begun twice", e.ID)
			}
			open[e.ID] = true
		case part.ToolInputStart:
			if open[e.ToolCallID] {
				t.Errorf("call %s was begun twice", e.ToolCallID)
			}
			open[e.ToolCallID] = true
		case part.TextDelta, part.TextEnd, part.ReasoningDelta, part.ReasoningEnd:
			if !open[e.ID] {
				t.Errorf("entry %d (%s) belongs to no part", e.Seq, e.Type)
			}
		case part.ToolInputDelta, part.ToolInputAvailable, part.ToolOutput, part.ToolOutputError, part.ToolOutputDenied:
			if !open[e.ToolCallID] {
				t.Errorf("entry %d (%s) belongs to no call", e.Seq, e.Type)
			}
		case part.Finish:
			for _, late := range entries[i+1:] {
				if !late.Late {
					t.Errorf("entry %d comes after the finish entry", late.Seq)
				}
			}
			for _, p := range part.Build(entries) {
				if !p.Terminal() {
					t.Errorf("part %s %s is %s after the end", p.Kind, p.ID, p.State)
				}
			}
		}
	}
}

// checkMessages: what providers demand of a request.
func checkMessages(t *testing.T, name string, messages []Message) {
	t.Helper()
	if err := validMessages(messages); err != nil {
		raw, _ := json.MarshalIndent(messages, "", " ")
		t.Errorf("%s: %v\n%s", name, err, raw)
	}
}

func validMessages(messages []Message) error {
	if len(messages) == 0 || messages[0].Role != RoleUser {
		return fmt.Errorf("it does not begin with the user")
	}
	if messages[len(messages)-1].Role == RoleAssistant {
		return fmt.Errorf("it ends with the assistant")
	}
	ids := map[string]bool{}
	for i, m := range messages {
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		switch m.Role {
		case RoleUser:
			if len(m.Content) != 1 || m.Content[0].Kind != ContentText || strings.TrimSpace(m.Content[0].Text) == "" {
				return fmt.Errorf("message %d is no user text", i)
			}
		case RoleTool:
			if messages[i-1].Role != RoleAssistant {
				return fmt.Errorf("the results in message %d follow no call", i)
			}
		case RoleAssistant:
			if messages[i-1].Role == RoleAssistant {
				return fmt.Errorf("messages %d and %d are both the assistant's", i-1, i)
			}
			var called, answered []string
			for _, c := range m.Content {
				switch c.Kind {
				case ContentToolCall:
					if ids[c.ToolCallID] {
						return fmt.Errorf("call id %s comes twice", c.ToolCallID)
					}
					ids[c.ToolCallID] = true
					called = append(called, c.ToolCallID+" "+c.ToolName)
					var object map[string]any
					if json.Unmarshal(c.Input, &object) != nil || object == nil {
						return fmt.Errorf("the input of %s is no object: %s", c.ToolCallID, c.Input)
					}
					if !validName.MatchString(c.ToolName) || !validName.MatchString(c.ToolCallID) {
						return fmt.Errorf("%q or %q is no name for a provider", c.ToolName, c.ToolCallID)
					}
				case ContentText, ContentReasoning:
					if len(called) > 0 {
						return fmt.Errorf("%s after a call in message %d", c.Kind, i)
					}
					if c.Kind == ContentText && strings.TrimSpace(c.Text) == "" {
						return fmt.Errorf("blank text in message %d", i)
					}
					if c.Kind == ContentReasoning && len(c.Metadata) == 0 {
						return fmt.Errorf("unsigned reasoning in message %d", i)
					}
				default:
					return fmt.Errorf("%s in an assistant message", c.Kind)
				}
			}
			if len(called) == 0 {
				continue
			}
			if i+1 == len(messages) || messages[i+1].Role != RoleTool {
				return fmt.Errorf("no results after message %d", i)
			}
			for _, c := range messages[i+1].Content {
				if c.Kind != ContentToolResult {
					return fmt.Errorf("%s among the results of message %d", c.Kind, i)
				}
				answered = append(answered, c.ToolCallID+" "+c.ToolName)
			}
			if !slices.Equal(called, answered) {
				return fmt.Errorf("calls %v got results %v", called, answered)
			}
		}
	}
	return nil
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// anyFrame is any spelling of the two frames' tags.
var anyFrame = regexp.MustCompile(`(?i)<\s*/?\s*(task_reminder|plan_state)`)

// checkFrames: one reminder block, outside the messages, and no other tag.
func checkFrames(t *testing.T, n int, req Request) {
	t.Helper()
	var strings_ []string
	strings_ = append(strings_, req.System)
	for _, m := range req.Messages {
		for _, c := range m.Content {
			if c.Kind == ContentReasoning {
				continue // signed: it stays as it is
			}
			strings_ = append(strings_, c.Text)
			var input any
			_ = json.Unmarshal(c.Input, &input)
			strings_ = append(strings_, fmt.Sprint(input))
		}
	}
	for _, s := range strings_ {
		if tag := anyFrame.FindString(s); tag != "" {
			t.Errorf("request %d holds the tag %q outside the block", n, tag)
		}
	}
	tags := anyFrame.FindAllString(req.Reminder, -1)
	want := []string{"<task_reminder", "</task_reminder"}
	if strings.Contains(req.Reminder, "<plan_state") {
		want = []string{"<task_reminder", "<plan_state", "</plan_state", "</task_reminder"}
	}
	if !slices.Equal(tags, want) {
		t.Errorf("request %d has the tags %q in its reminder, want %q", n, tags, want)
	}
}

// checkGrowth: everything but the reminder is a prefix of the next request.
func checkGrowth(t *testing.T, n int, before, after Request) {
	t.Helper()
	if before.System != after.System {
		t.Errorf("request %d has another system prompt", n)
	}
	if diff := cmp.Diff(before.Tools, after.Tools); diff != "" {
		t.Errorf("request %d has other tools: %s", n, diff)
	}
	if len(after.Messages) < len(before.Messages) {
		t.Errorf("request %d is shorter than the one before", n)
		return
	}
	if diff := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); diff != "" {
		t.Errorf("request %d does not begin with the one before: %s", n, diff)
	}
}

// checkPrefixes: whatever was stored when the server died, and whoever goes
// on, the next request is valid.
func checkPrefixes(t *testing.T, job Job, entries []*part.Entry) {
	t.Helper()
	for n := range entries {
		prefix := entries[:n+1]
		if err := validMessages(history(job.Prior, job.UserText, job.ModelName, prefix)); err != nil {
			t.Errorf("same run after entry %d: %v", n+1, err)
		}
		if err := validMessages(history([]Turn{{UserText: job.UserText, Entries: prefix}}, "go on", job.ModelName, nil)); err != nil {
			t.Errorf("next run after entry %d: %v", n+1, err)
		}
	}
}
