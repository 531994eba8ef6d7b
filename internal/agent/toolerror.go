package agent

import (
	"regexp"
	"strings"

	"stagefold/internal/planning"
)

// Codes of tool errors that the loop itself gives.
const (
	codeUnknownTool = "unknown_tool"
	codeBadJSON     = planning.CodeInvalidJSON
	codeBadInput    = planning.CodeInvalid
	codeOutputLimit = "output_limit"
	codeFiltered    = "content_filter"
	codeBrokenCall  = "broken_call"
	codeTimeout     = "timeout"
	codePanic       = "tool_crashed"
	codeStorage     = "storage"
	codeInterrupted = "interrupted"
	codeStopped     = "stopped"
	codeDenied      = "denied"
	codeTool        = "tool_error" // a text without a code of its own
)

// errorText is a tool error as it is stored and shown: "code: message (at path)".
func errorText(e *planning.ToolError) string {
	text := e.Code + ": " + e.Message
	if e.Path != "" {
		text += " (at " + e.Path + ")"
	}
	return text
}

var (
	codePattern = regexp.MustCompile(`^([a-z][a-z0-9_]*): `)
	pathPattern = regexp.MustCompile(` \(at ([^()\s]+)\)$`)
)

// parseError reads errorText's form back; any other text becomes the message.
func parseError(text string) *planning.ToolError {
	e := &planning.ToolError{Code: codeTool, Message: text}
	if m := codePattern.FindStringSubmatch(text); m != nil {
		e.Code = m[1]
		e.Message = strings.TrimPrefix(text, m[0])
		if p := pathPattern.FindStringSubmatch(e.Message); p != nil {
			e.Path = p[1]
			e.Message = strings.TrimSuffix(e.Message, p[0])
		}
	}
	return e
}
