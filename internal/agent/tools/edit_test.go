package tools

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct{ name, file, old, with, want, says string }{
		{"one word", "a b c\n", "b", "x", "a x c\n", "1 line from line 1 on replaced by 1"},
		{"delete", "a\nb\nc\n", "b\n", "", "a\nc\n", "1 line from line 2 on replaced by 0"},
		{"more lines", "a\nb\n", "b", "b\nc", "a\nb\nc\n", "1 line from line 2 on replaced by 2"},
		{"CRLF, read as LF", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n", "2 lines from line 1 on replaced by 3"},
		{"CRLF, sent as CRLF", "a\r\nb\r\n", "a\r\nb", "b\r\na", "b\r\na\r\n", "2 lines from line 1 on replaced by 2"},
		{"CRLF, one line becomes two", "a\r\nb\r\n", "a", "a\na", "a\r\na\r\nb\r\n", "1 line from line 1 on replaced by 2"},
		{"CRLF, old begins with a line end", "a\r\nb\r\n", "\nb", "", "a\r\n", "2 lines from line 1 on replaced by 0"},
		{"mostly LF stays LF", "a\r\nb\nc\nd\n", "a\nb", "x\ny", "x\ny\nc\nd\n", "2 lines from line 1 on replaced by 2"},
		{"mostly LF, the rest untouched", "a\r\nb\nc\n", "b\n", "x\n", "a\r\nx\nc\n", "1 line from line 2 on replaced by 1"},
		{"LF gets no CR", "a\nb\n", "b", "x\r\ny", "a\nx\ny\n", "1 line from line 2 on replaced by 2"},
		{"lone CR kept", "a\rb\nc\n", "c", "x", "a\rb\nx\n", "1 line from line 2 on replaced by 1"},
		{"byte order mark kept", "\xef\xbb\xbfa\n", "a", "b", "\xef\xbb\xbfb\n", "1 line from line 1 on replaced by 1"},
		{"bad bytes kept", "gr\xfcn\nb\n", "b", "c", "gr\xfcn\nc\n", "1 line from line 2 on replaced by 1"},
		{"no end of line", "a", "a", "b", "b", "1 line from line 1 on replaced by 1"},
		{"dollar signs are plain", "a\n", "a", "$1 \\1", "$1 \\1\n", "1 line from line 1 on replaced by 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := folder(t, Limits{}, map[string]string{"f.txt": c.file})
			got := call(t, s, "edit_file", args("path", "f.txt", "old", c.old, "new", c.with))
			if text := textOf(t, got); text != "modified f.txt: "+c.says {
				t.Errorf("said %q", text)
			}
			if file := get(t, filepath.Join(s.Dir(), "f.txt")); file != c.want {
				t.Errorf("the file is %q", file)
			}
			if diff := cmp.Diff([]part.FileChange{{Path: "f.txt", Op: "modified"}}, got.Files); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, old, with, code, field, says string }{
		{"nothing", "a\n", "x", "y", "no_match", "old", "old was found 0 times. Read the file again and copy the passage exactly, with its spaces and tabs"},
		{"other spaces", "a\n\tif x {\n\t\ty()\n\t}\n", "if x {\n    y()\n}", "z", "no_match", "old", "; the lines from 2 on differ only in white space"},
		{"twice", "a\nb\na\n", "a", "y", "many_matches", "old", "old was found 2 times (lines 1, 3). Add lines before or after it so that it is found once"},
		{"overlapping", "aaa\n", "aa", "y", "many_matches", "old", "old was found 2 times (lines 1, 1)"},
		{"very often", strings.Repeat("a\n", 50), "a", "y", "many_matches", "old", "found 50 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)"},
		{"empty old", "a\n", "", "y", "invalid_input", "old", "use write_file"},
		{"empty old, empty file", "", "", "y", "invalid_input", "old", "use write_file"},
		{"empty file", "", "a", "y", "no_match", "old", "0 times"},
		{"the same", "a\n", "a", "a", "invalid_input", "new", "nothing would change"},
		{"the same but for line ends", "a\r\nb\r\n", "a\nb", "a\r\nb", "invalid_input", "new", "nothing would change"},
		{"binary", "a\x00b", "a", "b", "binary_file", "path", "binary"},
		{"too large", strings.Repeat("x\n", 600), "x", "b", "too_large", "path", "1200 bytes"},
		{"grows too large", "a\n", "a", strings.Repeat("x", 1001), "too_large", "content", "at most 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := folder(t, Limits{File: 1000}, map[string]string{"f.txt": c.file})
			got := call(t, s, "edit_file", args("path", "f.txt", "old", c.old, "new", c.with))
			if got.Err == nil {
				t.Fatalf("succeeded: %s", got.Output)
			}
			if got.Err.Code != c.code || got.Err.Path != c.field || !strings.Contains(got.Err.Message, c.says) {
				t.Errorf("got %+v", *got.Err)
			}
			if file := get(t, filepath.Join(s.Dir(), "f.txt")); file != c.file {
				t.Errorf("the file is %q", file)
			}
		})
	}
}

// settledLines is s with every CR in front of an LF gone, also one that another
// left there: a file may hold CR CR LF.
func settledLines(s string) string {
	for plain := unixLines(s); plain != s; plain = unixLines(s) {
		s = plain
	}
	return s
}

func FuzzReplace(f *testing.F) {
	f.Add("\r\r\nb", "b", "0")
	f.Add("a\r\nb\r\n", "a\nb", "x\ny")
	f.Add("a\rb\nc", "b\n", "")
	f.Fuzz(func(t *testing.T, file, old, with string) {
		changed, line, bad := replace([]byte(file), old, with)
		if bad != nil {
			return
		}
		plain := unixLines(file)
		if want := strings.Replace(plain, unixLines(old), unixLines(with), 1); settledLines(string(changed)) != settledLines(want) {
			t.Errorf("%q with %q for %q: %q", file, with, old, changed)
		}
		if line < 1 || line > 1+strings.Count(plain, "\n") {
			t.Errorf("line %d", line)
		}
	})
}
