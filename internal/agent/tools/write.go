package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"stagefold/internal/agent"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func (s *Set) writeFile() agent.Tool {
	t := tool("write_file",
		"Writes a file of the workspace, whole: a new one with the folders it needs, or in place of what was there. Use edit_file to change a part of a file.",
		`{"type":"object","properties":{
			"path":{"type":"string","description":"The file, relative to the workspace."},
			"content":{"type":"string","description":"The whole new content."}
		},"required":["path","content"],"additionalProperties":false}`,
		s.write)
	t.Approval = true
	return t
}

func (s *Set) write(ctx context.Context, raw json.RawMessage) agent.ToolResult {
	in, bad := parse(raw, "path", "content")
	if bad != nil {
		return failed(bad)
	}
	asked, bad := in.filled("path")
	if bad != nil {
		return failed(bad)
	}
	content, bad := in.text("content")
	if bad != nil {
		return failed(bad)
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	rel, bad := s.resolve(asked)
	if bad != nil {
		return failed(bad)
	}
	if strings.HasSuffix(asked, "/") {
		return failed(mistake("is_a_folder", "path", "the path names a folder, not a file"))
	}
	change, bad := s.store(ctx, rel, []byte(content))
	if bad != nil {
		return failed(bad)
	}
	lines := plural(len(splitLines(content)), "line", "lines")
	result := spoken(fmt.Sprintf("%s %s: %s, %d bytes", change.Op, shownName(rel), lines, len(content)), change.Op+", "+lines)
	result.Files = []part.FileChange{change}
	return result
}

// temporary begins the names of half-written files; no tool shows them.
const temporary = ".stagefold-tmp-"

// store puts content at rel so that, whatever happens, there stands either the
// old file or the whole new one. The caller holds s.writes.
func (s *Set) store(ctx context.Context, rel string, content []byte) (part.FileChange, *planning.ToolError) {
	change := part.FileChange{Path: rel, Op: "created"}
	if bad := s.checkTarget(rel, len(content)); bad != nil {
		return change, bad
	}
	mode := fs.FileMode(0o644)
	info, err := s.root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.root.MkdirAll(path.Dir(rel), 0o755); err != nil {
			return change, failure(err)
		}
	case err != nil:
		return change, failure(err)
	case info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0:
		return change, mistake("read_only", "path", "the file is marked read-only")
	default:
		if bad := checkFile(info); bad != nil {
			return change, bad
		}
		change.Op, mode = "modified", info.Mode().Perm()
	}
	half := path.Join(path.Dir(rel), temporary+rand.Text())
	err = s.fill(half, mode, change.Op == "modified", content)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = s.root.Rename(half, rel)
	}
	if err != nil {
		_ = s.root.Remove(half)
		return change, ctxFailure(ctx, err)
	}
	return change, nil
}

// fill writes a new file to the disk; keep gives it exactly that mode.
func (s *Set) fill(name string, mode fs.FileMode, keep bool, content []byte) error {
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil && keep {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func (s *Set) checkTarget(rel string, size int) *planning.ToolError {
	switch {
	case rel == ".":
		return mistake("is_a_folder", "path", "this is the workspace itself, not a file")
	case strings.ContainsFunc(rel, unicode.IsControl):
		return mistake("invalid_path", "path", "the name of a file must not hold control characters")
	case strings.HasPrefix(path.Base(rel), temporary):
		return mistake("invalid_path", "path", "names that begin with "+temporary+" are not possible")
	case int64(size) > s.limits.File:
		return mistake("too_large", "content", fmt.Sprintf("the content has %d bytes; at most %d are written", size, s.limits.File))
	}
	return nil
}
