package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"stagefold/internal/agent"
)

func (s *Set) listFiles() agent.Tool {
	t := tool("list_files",
		"Lists a folder of the workspace with everything below it: one path a line, folders with a slash at the end, files with their size in bytes. .git and node_modules are not entered unless path names them.",
		`{"type":"object","properties":{
			"path":{"type":"string","description":"The folder, relative to the workspace. Leave it out for the whole workspace."}
		},"additionalProperties":false}`,
		s.list)
	t.Idempotent = true
	return t
}

func (s *Set) list(ctx context.Context, raw json.RawMessage) agent.ToolResult {
	in, bad := parse(raw, "path")
	if bad != nil {
		return failed(bad)
	}
	asked, bad := in.optional("path")
	if bad != nil {
		return failed(bad)
	}
	rel, bad := s.resolve(asked)
	if bad != nil {
		return failed(bad)
	}
	if info, err := s.root.Lstat(rel); err != nil {
		return failed(failure(err))
	} else if !info.IsDir() {
		return failed(mistake("not_a_folder", "path", "this is not a folder; read_file reads a file"))
	}
	type line struct{ path, text string }
	var lines []line
	files, folders := 0, 0
	whole, bad := s.walk(ctx, rel, s.limits.Entries, func(e entry) error {
		switch {
		case e.info.IsDir():
			folders++
		case e.info.Mode().IsRegular():
			files++
		}
		lines = append(lines, line{e.path, s.describe(e)})
		return nil
	})
	if bad != nil {
		return failed(bad)
	}
	slices.SortFunc(lines, func(a, b line) int { return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/")) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	summary := plural(files, "file", "files") + ", " + plural(folders, "folder", "folders")
	note := "[" + summary + "]"
	if len(lines) == 0 {
		note = "[the folder is empty]"
	}
	if !whole {
		note = "[" + summary + " so far; there is more than is listed: name a folder as path]"
	}
	shown := s.limits.excerptOf(b.String(), 1, len(lines))
	result := spoken(shown.Text+note, summary)
	if shown.Cut {
		result.Full, result.MediaType = []byte(b.String()+note), plainText
	}
	return result
}

// describe is an entry's line. A link says where it leads only inside.
func (s *Set) describe(e entry) string {
	name := shownName(e.path)
	switch {
	case e.skips():
		return name + "/  (not entered)"
	case e.info.IsDir():
		return name + "/"
	case e.info.Mode().IsRegular():
		return fmt.Sprintf("%s  %d bytes", name, e.info.Size())
	case e.info.Mode()&fs.ModeSymlink != 0:
		if to, bad := s.resolve(e.path); bad == nil {
			return name + " -> " + shownName(to)
		}
		return name + "  (a link that cannot be followed)"
	}
	return name + "  (a pipe, socket or device)"
}
