package tools

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed all:_sample
var sample embed.FS

// makeSample makes dir with the sample project where nothing stands at dir. It
// is built beside it and renamed, so that no half sample is ever seen.
func makeSample(dir string) error {
	dir = filepath.Clean(dir)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, ".stagefold-sample-")
	if err != nil {
		return err
	}
	if err = fillSample(made); err == nil {
		err = os.Rename(made, dir)
	}
	if err == nil {
		return nil
	}
	if _, there := os.Stat(dir); there == nil {
		err = nil // another process was faster
	}
	return errors.Join(err, os.RemoveAll(made))
}

func fillSample(dir string) error {
	files, err := fs.Sub(sample, "_sample")
	if err != nil {
		return err
	}
	return errors.Join(os.CopyFS(dir, files), os.Chmod(dir, 0o755))
}
