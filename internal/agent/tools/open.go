package tools

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"stagefold/internal/planning"
)

// blob is the content of one file.
type blob struct {
	path string // resolved
	info fs.FileInfo
	data []byte
	all  bool // data is the whole file; else its start
}

// load reads at most limit bytes of the file that the path leads to.
func (s *Set) load(ctx context.Context, asked string, limit int64) (*blob, *planning.ToolError) {
	rel, bad := s.resolve(asked)
	if bad != nil {
		return nil, bad
	}
	return loadFrom(ctx, s.root, rel, limit)
}

func loadFrom(ctx context.Context, root *os.Root, rel string, limit int64) (*blob, *planning.ToolError) {
	file, info, bad := openFile(root, rel)
	if bad != nil {
		return nil, bad
	}
	defer file.Close()
	data, err := readAll(ctx, file, min(limit, max(info.Size(), 0))+1, limit)
	if err != nil {
		return nil, ctxFailure(ctx, err)
	}
	all := int64(len(data)) <= limit
	return &blob{path: rel, info: info, data: data[:min(int64(len(data)), limit)], all: all}, nil
}

// openFile opens a regular file. It looks before it opens, since opening a
// device can do something, opens without waiting for the other end of a pipe,
// and looks again at what it got.
func openFile(root *os.Root, rel string) (*os.File, fs.FileInfo, *planning.ToolError) {
	info, err := root.Lstat(rel)
	if err != nil {
		return nil, nil, failure(err)
	}
	if bad := checkFile(info); bad != nil && info.Mode()&fs.ModeSymlink == 0 {
		return nil, nil, bad
	}
	file, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, failure(err)
	}
	if info, err = file.Stat(); err != nil {
		return nil, nil, failure(errors.Join(err, file.Close()))
	}
	if bad := checkFile(info); bad != nil {
		_ = file.Close()
		return nil, nil, bad
	}
	return file, info, nil
}

func checkFile(info fs.FileInfo) *planning.ToolError {
	switch {
	case info.IsDir():
		return mistake("is_a_folder", "path", "this is a folder, not a file; list_files shows what is in it")
	case !info.Mode().IsRegular():
		return special()
	}
	return nil
}

// readAll reads at most limit+1 bytes, the last of which says that there is more.
func readAll(ctx context.Context, r io.Reader, room, limit int64) ([]byte, error) {
	data := make([]byte, 0, room)
	r = io.LimitReader(r, limit+1)
	const piece = 256 << 10
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if cap(data)-len(data) < 1 {
			data = append(data, make([]byte, piece)...)[:len(data)]
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+piece)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func ctxFailure(ctx context.Context, err error) *planning.ToolError {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return failure(err)
}

func cancelled(ctx context.Context) *planning.ToolError {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return mistake("timeout", "", "the call took too long and was ended")
	}
	return mistake("cancelled", "", "the call was ended before it was done")
}
