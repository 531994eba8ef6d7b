package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// installed: npm ci was run in static/client, which ./test does. Without it only
// the committed files can be looked at.
func installed(t *testing.T) bool {
	_, err := os.Stat(filepath.Join("..", "node_modules", "idiomorph"))
	if err != nil {
		t.Log("static/client has no node_modules: the bundles are not built again")
	}
	return err == nil
}

func TestARebuildGivesTheSameBytes(t *testing.T) {
	if !installed(t) {
		return
	}
	for entry, name := range bundles {
		built, err := bundle("../..", entry)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, committed) {
			t.Errorf("static/%s is not what its sources give; run: go run ./static/client/build", name)
		}
	}
}

func TestTypes(t *testing.T) {
	if !installed(t) {
		return
	}
	tsc := exec.Command("node", "node_modules/typescript/bin/tsc", "--project", ".")
	tsc.Dir = ".."
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSize(t *testing.T) {
	sum := 0
	for _, name := range bundles {
		content, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		_, _ = w.Write(content)
		_ = w.Close()
		sum += zipped.Len()
	}
	if sum > 13_700 {
		t.Errorf("client.js and app.js are %d bytes gzip, want at most 13700", sum)
	}
}
