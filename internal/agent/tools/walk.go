package tools

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"stagefold/internal/planning"
)

// entry is one file, folder, link or special file below the root.
type entry struct {
	path string // below the workspace
	name string // in its folder
	info fs.FileInfo
	dir  *os.Root // its folder, open while it is visited
}

// skipped folders are listed, and entered only where a call names them.
var skipped = []string{".git", "node_modules"}

func (e entry) skips() bool { return e.info.IsDir() && slices.Contains(skipped, e.name) }

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walk visits what is below the folder rel, upper folders before lower ones,
// names in order, links not followed, most entries at most. whole is false
// where something was left out. Only the first folder's failure is an error.
func (s *Set) walk(ctx context.Context, rel string, most int, visit func(entry) error) (whole bool, bad *planning.ToolError) {
	whole = true
	for queue := []string{rel}; len(queue) > 0; queue = queue[1:] {
		if ctx.Err() != nil {
			return false, cancelled(ctx)
		}
		dir, names, more, err := s.readFolder(queue[0], most)
		if err != nil {
			if queue[0] == rel {
				return false, failure(err)
			}
			whole = false
			continue
		}
		whole = whole && !more
		most -= len(names)
		below, err := visitAll(ctx, dir, queue[0], names, visit)
		_ = dir.Close()
		queue = append(queue, below...)
		if err != nil {
			if ctx.Err() != nil {
				return false, cancelled(ctx)
			}
			return false, nil
		}
	}
	return whole, nil
}

// readFolder opens a folder and reads its names, most at most, in order.
func (s *Set) readFolder(rel string, most int) (dir *os.Root, names []string, more bool, err error) {
	if dir, err = s.root.OpenRoot(rel); err != nil {
		return nil, nil, false, err
	}
	file, err := dir.Open(".")
	if err != nil {
		return nil, nil, false, errors.Join(err, dir.Close())
	}
	defer file.Close()
	names, err = file.Readdirnames(max(most, 0) + 1)
	if err != nil && err != io.EOF {
		return nil, nil, false, errors.Join(err, dir.Close())
	}
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, temporary) })
	if len(names) > most {
		return dir, names[:most], true, nil
	}
	return dir, names, false, nil
}

// visitAll visits the names of one folder and returns the folders among them.
func visitAll(ctx context.Context, dir *os.Root, rel string, names []string, visit func(entry) error) (below []string, err error) {
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		info, err := dir.Lstat(name)
		if err != nil {
			continue // gone since the folder was read
		}
		e := entry{path: path.Join(rel, name), name: name, info: info, dir: dir}
		if err := visit(e); err != nil {
			return nil, err
		}
		if info.IsDir() && !e.skips() {
			below = append(below, e.path)
		}
	}
	return below, nil
}
