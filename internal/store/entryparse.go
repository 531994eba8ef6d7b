package store

import (
	"encoding/json"
	"strings"
	"time"

	"stagefold/internal/part"
)

// The fast way to read entries: it knows what entryJSON writes and gives up (false)
// on anything else, which encoding/json then reads. A review reads tens of
// thousands of entries.

// parseEntries reads the array of a packed row.
func parseEntries(s string) ([]*part.Entry, bool) {
	if len(s) < 2 || s[0] != '[' {
		return nil, false
	}
	list := make([]*part.Entry, 0, packSize)
	if s == "[]" {
		return list, true
	}
	for i := 1; ; i++ {
		e := &part.Entry{}
		end, ok := parseEntry(s, i, e)
		if !ok || end >= len(s) {
			return nil, false
		}
		list = append(list, e)
		switch i = end; s[i] {
		case ',':
		case ']':
			return list, i == len(s)-1
		default:
			return nil, false
		}
	}
}

// parseEntry reads the object at s[i:] into e, and gives the index behind it.
func parseEntry(s string, i int, e *part.Entry) (int, bool) {
	if i >= len(s) || s[i] != '{' {
		return 0, false
	}
	for i++; ; i++ { // s[i] is the quote before a key
		key, next, ok := plainString(s, i)
		if !ok || next >= len(s) || s[next] != ':' {
			return 0, false
		}
		end, ok := valueEnd(s, next+1)
		if !ok || end >= len(s) || !setField(e, key, s[next+1:end]) {
			return 0, false
		}
		switch i = end; s[i] {
		case ',':
		case '}':
			return i + 1, true
		default:
			return 0, false
		}
	}
}

// plainString reads a string without escapes whose quote stands at s[i].
func plainString(s string, i int) (string, int, bool) {
	if i >= len(s) || s[i] != '"' {
		return "", 0, false
	}
	n := strings.IndexByte(s[i+1:], '"')
	if n < 0 || strings.IndexByte(s[i+1:i+1+n], '\\') >= 0 {
		return "", 0, false
	}
	return s[i+1 : i+1+n], i + n + 2, true
}

// valueEnd is the index behind the value at s[i:], which valid JSON has before
// a comma, a brace or a bracket.
func valueEnd(s string, i int) (int, bool) {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end, ok := stringEnd(s, i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i, true
			}
			depth--
		case ',':
			if depth == 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// stringEnd is the index behind the string whose quote stands at s[i].
func stringEnd(s string, i int) (int, bool) {
	for i++; i < len(s); {
		n := strings.IndexAny(s[i:], `"\`)
		if n < 0 {
			return 0, false
		}
		if i += n; s[i] == '"' {
			return i + 1, true
		}
		i += 2
	}
	return 0, false
}

// setField sets one field; false where the value is not as entryJSON writes it.
func setField(e *part.Entry, key, value string) (ok bool) {
	if len(value) == 0 {
		return false
	}
	switch key {
	case "seq":
		return setNumber(&e.Seq, value)
	case "step":
		var n int64
		ok = setNumber(&n, value)
		e.Step = int(n)
		return ok
	case "time":
		e.Time, ok = parseTime(value)
		return ok
	case "type":
		t, ok := typeWords[value]
		if !ok {
			return setText((*string)(&e.Type), value)
		}
		e.Type = part.Type(t)
		return true
	case "id":
		return setText(&e.ID, value)
	case "delta":
		return setText(&e.Delta, value)
	case "toolCallId":
		return setText(&e.ToolCallID, value)
	case "toolName":
		return setText(&e.ToolName, value)
	case "dynamic":
		return setTrue(&e.Dynamic, value)
	case "inputTextDelta":
		return setText(&e.InputTextDelta, value)
	case "input":
		return setRaw(&e.Input, value)
	case "rawInput":
		return setText(&e.RawInput, value)
	case "output":
		return setRaw(&e.Output, value)
	case "errorText":
		return setText(&e.ErrorText, value)
	case "preliminary":
		return setTrue(&e.Preliminary, value)
	case "truncated":
		return setTrue(&e.Truncated, value)
	case "files":
		return setValue(&e.Files, value)
	case "approvalId":
		return setText(&e.ApprovalID, value)
	case "approved":
		return setValue(&e.Approved, value)
	case "reason":
		return setText(&e.Reason, value)
	case "sourceId":
		return setText(&e.SourceID, value)
	case "url":
		return setText(&e.URL, value)
	case "title":
		return setText(&e.Title, value)
	case "mediaType":
		return setText(&e.MediaType, value)
	case "filename":
		return setText(&e.Filename, value)
	case "providerMetadata":
		return setRaw(&e.ProviderMetadata, value)
	case "data":
		return setRaw(&e.Data, value)
	case "finishReason":
		return setText((*string)(&e.FinishReason), value)
	case "state":
		return setText((*string)(&e.State), value)
	case "usage":
		return setValue(&e.Usage, value)
	case "error":
		return setValue(&e.Error, value)
	case "debt":
		return setValue(&e.Debt, value)
	case "note":
		return setText(&e.Note, value)
	case "waiting":
		return setValue(&e.Waiting, value)
	case "late":
		return setTrue(&e.Late, value)
	}
	return false
}

// typeWords are the JSON strings of the types, so that reading one allocates nothing.
var typeWords = func() map[string]string {
	m := map[string]string{}
	for _, t := range []part.Type{
		part.Start, part.StartStep, part.FinishStep, part.StepReset, part.Finish, part.TextStart, part.TextDelta, part.TextEnd,
		part.ReasoningStart, part.ReasoningDelta, part.ReasoningEnd, part.ToolInputStart, part.ToolInputDelta, part.ToolInputAvailable,
		part.ToolInputError, part.ToolStart, part.ToolOutput, part.ToolOutputError, part.ToolOutputDenied, part.ToolApprovalRequest,
		part.ToolApprovalAnswer, part.SourceURL, part.SourceDocument, part.File, part.Wait, part.Resume, part.Child, part.DataPlan,
		part.DataPlanCarried, part.DataNotice, part.DataAnswer, part.DataAsk, part.DataActivity,
	} {
		m[`"`+string(t)+`"`] = string(t)
	}
	return m
}()

// setText copies, so that a short text does not keep a whole row alive.
func setText(to *string, value string) bool {
	if s, end, ok := plainString(value, 0); ok && end == len(value) {
		*to = strings.Clone(s)
		return true
	}
	return json.Unmarshal([]byte(value), to) == nil
}

func setRaw(to *json.RawMessage, value string) bool {
	*to = json.RawMessage(value)
	return value != "null"
}

func setTrue(to *bool, value string) bool {
	*to = value == "true"
	return *to
}

func setValue(to any, value string) bool { return json.Unmarshal([]byte(value), to) == nil }

func setNumber(to *int64, value string) bool {
	if len(value) > 18 {
		return false
	}
	var n int64
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return false
		}
		n = 10*n + int64(value[i]-'0')
	}
	*to = n
	return true
}

// parseTime reads timeLayout between quotes.
func parseTime(value string) (time.Time, bool) {
	if len(value) != len(timeLayout)+2 || value[0] != '"' || value[len(value)-1] != '"' {
		return time.Time{}, false
	}
	t, err := time.Parse(timeLayout, value[1:len(value)-1])
	return t, err == nil
}
