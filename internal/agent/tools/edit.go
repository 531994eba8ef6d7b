package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"stagefold/internal/agent"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func (s *Set) editFile() agent.Tool {
	t := tool("edit_file",
		"Changes one passage of a file of the workspace: old, which must stand in the file exactly once, becomes new. Everything else, line endings included, stays as it is.",
		`{"type":"object","properties":{
			"path":{"type":"string","description":"The file, relative to the workspace."},
			"old":{"type":"string","description":"The passage as read_file shows it, with enough lines around it to be found once."},
			"new":{"type":"string","description":"What stands there afterwards; empty to delete the passage."}
		},"required":["path","old","new"],"additionalProperties":false}`,
		s.edit)
	t.Approval = true
	return t
}

func (s *Set) edit(ctx context.Context, raw json.RawMessage) agent.ToolResult {
	in, bad := parse(raw, "path", "old", "new")
	if bad != nil {
		return failed(bad)
	}
	asked, bad := in.filled("path")
	if bad != nil {
		return failed(bad)
	}
	old, bad := in.text("old")
	if bad != nil {
		return failed(bad)
	}
	with, bad := in.text("new")
	if bad != nil {
		return failed(bad)
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	file, bad := s.load(ctx, asked, s.limits.File)
	if bad != nil {
		return failed(bad)
	}
	switch {
	case !file.all:
		return failed(mistake("too_large", "path", fmt.Sprintf("the file has %d bytes; at most %d are edited", file.info.Size(), s.limits.File)))
	case isBinary(file.data):
		return failed(mistake("binary_file", "path", "this is a binary file; only text is edited"))
	}
	changed, line, bad := replace(file.data, old, with)
	if bad != nil {
		return failed(bad)
	}
	change, bad := s.store(ctx, file.path, changed)
	if bad != nil {
		return failed(bad)
	}
	was, is := plural(len(splitLines(old)), "line", "lines"), len(splitLines(with))
	result := spoken(fmt.Sprintf("modified %s: %s from line %d on replaced by %d", shownName(file.path), was, line, is),
		fmt.Sprintf("line %d", line))
	result.Files = []part.FileChange{change}
	return result
}

// replace changes the one place in data where old stands. Line ends count as
// equal; what is put in has the line ends of the file. line is where old began.
func replace(data []byte, old, with string) (changed []byte, line int, bad *planning.ToolError) {
	old, with = unixLines(old), unixLines(with)
	switch {
	case old == "":
		return nil, 0, mistake("invalid_input", "old", "old is empty; use write_file for a new file, or give the passage to change")
	case old == with:
		return nil, 0, mistake("invalid_input", "new", "old and new are the same; nothing would change")
	}
	text := unixLines(string(data))
	places := find(text, old)
	switch len(places) {
	case 1:
	case 0:
		return nil, 0, mistake("no_match", "old", noMatch(text, old))
	default:
		return nil, 0, mistake("many_matches", "old", manyMatches(text, places))
	}
	start, end := rawOffset(data, places[0]), rawOffset(data, places[0]+len(old))
	if crlf := bytes.Count(data, []byte("\r\n")); crlf*2 > bytes.Count(data, []byte("\n")) {
		with = strings.ReplaceAll(with, "\n", "\r\n")
	}
	changed = append(append(append(changed, data[:start]...), with...), data[end:]...)
	return changed, 1 + strings.Count(text[:places[0]], "\n"), nil
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// find returns every place where old begins, overlapping ones too.
func find(text, old string) []int {
	var places []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return places
		}
		places = append(places, from+i)
		from += i + 1
	}
}

// rawOffset is where the byte at offset of the unix lines of data stands in data.
func rawOffset(data []byte, offset int) int {
	raw := 0
	for ; offset > 0; offset-- {
		if data[raw] == '\r' && raw+1 < len(data) && data[raw+1] == '\n' {
			raw++
		}
		raw++
	}
	return raw
}

func noMatch(text, old string) string {
	message := "old was found 0 times. Read the file again and copy the passage exactly, with its spaces and tabs"
	if line := looseMatch(text, old); line > 0 {
		message += fmt.Sprintf("; the lines from %d on differ only in white space", line)
	}
	return message
}

// looseMatch is the line where old stands but for white space around lines; 0
// for none.
func looseMatch(text, old string) int {
	lines, wanted := trimmed(text), trimmed(strings.Trim(old, "\n"))
	if len(wanted) == 1 && wanted[0] == "" {
		return 0
	}
	for i := 0; i+len(wanted) <= len(lines); i++ {
		same := true
		for j := 0; same && j < len(wanted); j++ {
			same = lines[i+j] == wanted[j]
		}
		if same {
			return i + 1
		}
	}
	return 0
}

func trimmed(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

func manyMatches(text string, places []int) string {
	const named = 10
	var lines []string
	for _, place := range places[:min(len(places), named)] {
		lines = append(lines, fmt.Sprint(1+strings.Count(text[:place], "\n")))
	}
	if len(places) > named {
		lines = append(lines, "...")
	}
	return fmt.Sprintf("old was found %d times (lines %s). Add lines before or after it so that it is found once",
		len(places), strings.Join(lines, ", "))
}
