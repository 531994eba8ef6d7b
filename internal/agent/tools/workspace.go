// Package tools holds the agent's built-in tools on one workspace folder. Every
// path goes through one resolver and is opened through an os.Root, so that no
// dots and no link lead out of the folder (docs/architecture.md, Safety).
package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"stagefold/internal/agent"
)

// Set is the tools on one workspace. It is safe for concurrent use.
type Set struct {
	dir    string // absolute, links resolved
	root   *os.Root
	self   fs.FileInfo // of the root itself, to know it under any spelling
	limits Limits
	writes sync.Mutex // one write or edit at a time, so that an edit is never lost
}

// Workspace opens the folder dir, which may be a link to one. A missing folder
// is made, with a small sample project in it; an existing one stays as it is.
func Workspace(dir string, limits Limits) (*Set, error) {
	if err := makeSample(dir); err != nil {
		return nil, fmt.Errorf("making the workspace %s: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	s := &Set{root: root, limits: limits.withDefaults()}
	if s.self, err = root.Stat("."); err == nil {
		s.dir, err = realPath(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the workspace: %w", err), root.Close())
	}
	return s, nil
}

func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Dir is the workspace's real absolute path.
func (s *Set) Dir() string { return s.dir }

// Tools returns the tools in the order in which the model sees them.
func (s *Set) Tools() []agent.Tool {
	return []agent.Tool{s.listFiles(), s.readFile(), s.searchFiles(), s.writeFile(), s.editFile()}
}

// Close lets the folder go. Calls that come later fail.
func (s *Set) Close() error { return s.root.Close() }
