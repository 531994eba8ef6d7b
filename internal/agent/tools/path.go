package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"stagefold/internal/planning"
)

const (
	maxPath  = 4096 // bytes of a path
	maxName  = 255  // bytes of one name in it
	maxLinks = 40   // links followed for one path
)

// resolve turns a path that the model sent into one below the root: slashes
// only, without dots and links, "." for the root itself. Missing names stay as
// they are. What it finds is a proposal: the root checks it again at the moment
// of use, so that a link made in between leads nowhere either.
func (s *Set) resolve(asked string) (string, *planning.ToolError) {
	if err := checkPath(asked); err != nil {
		return "", err
	}
	rest := asked
	if path.IsAbs(rest) {
		inside, ok := s.inside(rest)
		if !ok {
			return "", outside()
		}
		rest = inside
	}
	done, file, links := ".", false, 0 // file: done is no folder
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", outside()
			}
			if file {
				return "", failure(syscall.ENOTDIR)
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		info, err := s.root.Lstat(next)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", failure(err)
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done, file = next, err == nil && !info.IsDir()
			continue
		}
		if links++; links > maxLinks {
			return "", mistake("invalid_path", "path", "the path leads through too many links")
		}
		target, err := s.root.Readlink(next)
		if err != nil {
			return "", failure(err)
		}
		if path.IsAbs(target) {
			inside, ok := s.inside(target)
			if !ok {
				return "", outside()
			}
			target, done = inside, "."
		}
		rest = target + "/" + rest
	}
	return done, nil
}

// inside says what is left of an absolute path once it has reached the
// workspace, however the way there is spelled. It looks at real folders, and
// only at whether they are the workspace.
func (s *Set) inside(abs string) (rest string, ok bool) {
	for end := 1; end <= len(abs); end++ {
		if end < len(abs) && abs[end] != '/' && end > 1 {
			continue
		}
		info, err := os.Stat(abs[:end])
		if err != nil || !info.IsDir() {
			return "", false
		}
		if os.SameFile(info, s.self) {
			return abs[end:], true
		}
	}
	return "", false
}

func checkPath(asked string) *planning.ToolError {
	switch {
	case strings.ContainsRune(asked, 0):
		return mistake("invalid_path", "path", "a path cannot hold a NUL character")
	case !utf8.ValidString(asked):
		return mistake("invalid_path", "path", "a path must be valid UTF-8")
	case len(asked) > maxPath:
		return mistake("invalid_path", "path", fmt.Sprintf("the path has %d bytes; at most %d are possible", len(asked), maxPath))
	}
	for name := range strings.SplitSeq(asked, "/") {
		if len(name) > maxName {
			return mistake("invalid_path", "path", fmt.Sprintf("a name in the path has %d bytes; at most %d are possible", len(name), maxName))
		}
	}
	return nil
}

func outside() *planning.ToolError {
	return mistake("outside_workspace", "path", "the path leads out of the workspace; use a path relative to it, for instance notes.md")
}

func mistake(code, field, message string) *planning.ToolError {
	return &planning.ToolError{Code: code, Message: message, Path: field}
}

// failure tells what the operating system said, without any path of the host.
func failure(err error) *planning.ToolError {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mistake("not_found", "path", "there is no such file or folder; list_files shows what is there")
	case errors.Is(err, fs.ErrPermission):
		return mistake("not_allowed", "path", "the operating system does not allow it")
	case errors.Is(err, fs.ErrClosed):
		return mistake("workspace_closed", "", "the workspace is closed")
	case errors.Is(err, syscall.ENOTDIR):
		return mistake("not_a_folder", "path", "a part of the path is a file, not a folder")
	case errors.Is(err, syscall.ENXIO):
		return special()
	case errors.As(err, &errno):
		return mistake("io_error", "path", errno.Error())
	case strings.Contains(err.Error(), "escapes"):
		return outside() // the root's own refusal: a link was made under our hands
	}
	return mistake("io_error", "path", "the file could not be read or written")
}

func special() *planning.ToolError {
	return mistake("not_a_file", "path", "this is a pipe, a socket or a device, not a file")
}
