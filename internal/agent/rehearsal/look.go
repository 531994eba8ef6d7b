package rehearsal

import (
	"encoding/json"
	"regexp"
	"strings"

	"stagefold/internal/agent"
	"stagefold/internal/planning"
)

// scene is what a request says about the run that it belongs to.
type scene struct {
	prompt string
	tools  map[string]bool
	calls  []call // of this run, in order
	last   []call // those of the last step
	told   int    // answers of this run without a call
	asks   int    // times that the runtime asked to go on
}

// call is a tool call with its result.
type call struct {
	tool   string
	in     fields // a file tool's arguments
	items  []item // a planner's list
	result string // text, or the error's message
	failed bool   // an error, or refused, or without a result
}

// look reads a request. The run begins at the last user message that is not
// the runtime's own.
func look(req agent.Request) *scene {
	s := &scene{tools: map[string]bool{}}
	for _, t := range req.Tools {
		s.tools[t.Name] = true
	}
	for i, m := range req.Messages {
		switch m.Role {
		case agent.RoleUser:
			s.user(textOf(m))
		case agent.RoleAssistant:
			s.assistant(m, req.Messages[i+1:])
		}
	}
	return s
}

func (s *scene) user(text string) {
	text = strings.TrimSpace(reminderPattern.ReplaceAllString(text, ""))
	switch {
	case text == "":
	case s.prompt != "" && (text == goOn || newScript(s).asked(text)):
		s.asks++
	default:
		*s = scene{prompt: text, tools: s.tools}
	}
}

// goOn is what the loop says where two answers would follow each other.
const goOn = "Go on."

var reminderPattern = regexp.MustCompile(`(?s)<task_reminder>.*?</task_reminder>`)

func (s *scene) assistant(m agent.Message, after []agent.Message) {
	s.last = nil
	for _, c := range m.Content {
		if c.Kind == agent.ContentToolCall {
			s.last = append(s.last, withResult(c, after))
		}
	}
	if len(s.last) == 0 {
		s.told++
	}
	s.calls = append(s.calls, s.last...)
}

// withResult finds the result in the messages after a call.
func withResult(c agent.Content, after []agent.Message) call {
	out := call{tool: c.ToolName, failed: true, result: "there was no result"}
	if planning.IsPlannerTool(c.ToolName) {
		out.items = itemsOf(c.Input)
	} else {
		out.in = fieldsOf(c.Input)
	}
	for _, m := range after {
		if m.Role == agent.RoleAssistant {
			break
		}
		for _, r := range m.Content {
			if r.Kind == agent.ContentToolResult && r.ToolCallID == c.ToolCallID {
				out.result, out.failed = readResult(c.ToolName, r)
				return out
			}
		}
	}
	return out
}

// readResult takes a result's text, or what an error or a refusal says.
func readResult(tool string, r agent.Content) (text string, failed bool) {
	var reply struct {
		Error   *planning.ToolError `json:"error"`
		Refused bool                `json:"refused"`
		Reason  string              `json:"reason"`
	}
	text = unescaped(r.Text)
	if json.Unmarshal([]byte(r.Text), &reply) != nil {
		return text, r.IsError
	}
	switch {
	case reply.Error != nil && r.IsError:
		return reply.Error.Message, true
	case reply.Refused && !worksOnFiles(tool):
		return reply.Reason, true
	}
	return text, r.IsError
}

func worksOnFiles(tool string) bool {
	return strings.HasSuffix(tool, "_file") || strings.HasSuffix(tool, "_files")
}

func textOf(m agent.Message) string {
	var texts []string
	for _, c := range m.Content {
		if c.Kind == agent.ContentText {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// mode is the planner whose tools are offered.
func (s *scene) mode() planning.Mode {
	switch {
	case s.tools["advance"] && s.tools["plan"]:
		return planning.Metronome
	case s.tools["write_todos"]:
		return planning.Classic
	case s.tools["update_plan"]:
		return planning.Checklist
	case s.tools["plan"]:
		return planning.Steps
	}
	return planning.None
}

// fields are the arguments of the file tools.
type fields struct {
	Path    string `json:"path,omitempty"`
	Query   string `json:"query,omitempty"`
	Offset  int    `json:"offset,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Content string `json:"content,omitempty"`
}

func fieldsOf(input json.RawMessage) fields {
	var f fields
	_ = json.Unmarshal(input, &f) // other arguments count as none
	f.Path, f.Query, f.Content = unescaped(f.Path), unescaped(f.Query), unescaped(f.Content)
	return f
}

// tagPattern is how the loop writes the tags of its own frames where they
// stand in a text (docs/planning.md, 'Frames').
var tagPattern = regexp.MustCompile(`(?i)\\u003c(\s*/?\s*(?:task_reminder|plan_state))`)

// unescaped is the text as it stood in the file.
func unescaped(text string) string { return tagPattern.ReplaceAllString(text, "<$1") }

// did finds the last call with the same tool, path, query and offset.
func (s *scene) did(o order) (call, bool) {
	wanted := fieldsOf(json.RawMessage(o.input)).key()
	for i := len(s.calls) - 1; i >= 0; i-- {
		if s.calls[i].tool == o.tool && s.calls[i].in.key() == wanted {
			return s.calls[i], true
		}
	}
	return call{}, false
}

// key is what tells two calls of a tool apart.
func (f fields) key() fields { return fields{Path: f.Path, Query: f.Query, Offset: f.Offset} }
