package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"stagefold/internal/agent"
)

func (s *Set) readFile() agent.Tool {
	t := tool("read_file",
		"Reads a text file of the workspace, exactly as it is. Of a long file the first 200 and the last 300 lines are shown; read the rest with offset and limit.",
		`{"type":"object","properties":{
			"path":{"type":"string","description":"The file, relative to the workspace, for instance src/main.go."},
			"offset":{"type":"integer","minimum":1,"description":"The first line to read, from 1."},
			"limit":{"type":"integer","minimum":1,"description":"How many lines to read."}
		},"required":["path"],"additionalProperties":false}`,
		s.read)
	t.Idempotent = true
	return t
}

func (s *Set) read(ctx context.Context, raw json.RawMessage) agent.ToolResult {
	in, bad := parse(raw, "path", "offset", "limit")
	if bad != nil {
		return failed(bad)
	}
	asked, bad := in.filled("path")
	if bad != nil {
		return failed(bad)
	}
	offset, bad := in.count("offset")
	if bad != nil {
		return failed(bad)
	}
	limit, bad := in.count("limit")
	if bad != nil {
		return failed(bad)
	}
	file, bad := s.load(ctx, asked, s.limits.File)
	if bad != nil {
		return failed(bad)
	}
	if isBinary(file.data) {
		return binary(file)
	}
	return s.window(file, max(offset, 1), limit)
}

// window shows the lines from offset on, limit at most (0: all).
func (s *Set) window(file *blob, offset, limit int) agent.ToolResult {
	text := readable(file.data)
	lines := splitLines(text)
	total := len(lines)
	if offset > max(total, 1) {
		return failed(mistake("out_of_range", "offset", fmt.Sprintf("the file has %s", plural(total, "line", "lines"))))
	}
	end := total
	if limit > 0 {
		end = min(total, offset-1+limit)
	}
	if offset > 1 || end < total {
		text = strings.Join(lines[min(offset-1, total):end], "")
	}
	shown := s.limits.excerptOf(text, offset, total)
	out, summary := shown.Text, plural(shown.Lines, "line", "lines")
	switch {
	case total == 0:
		out = "[the file is empty]"
	case offset > 1 || end < total:
		summary = fmt.Sprintf("lines %d-%d of %d", offset, end, total)
		out = endLine(out) + "[" + summary + "]"
	}
	if !file.all {
		out = endLine(out) + fmt.Sprintf("[the file has %d bytes; only the first %d are read]", file.info.Size(), len(file.data))
	}
	result := spoken(out, summary)
	if shown.Cut {
		result.Full, result.MediaType = []byte(text), plainText
	}
	return result
}

func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// binary tells what a file is and keeps its bytes apart.
func binary(file *blob) agent.ToolResult {
	media := http.DetectContentType(file.data)
	text := fmt.Sprintf("[a binary file, %s, %d bytes; its content is not shown]", media, file.info.Size())
	result := spoken(text, fmt.Sprintf("binary, %d bytes", file.info.Size()))
	result.Full, result.MediaType = file.data, media
	return result
}
