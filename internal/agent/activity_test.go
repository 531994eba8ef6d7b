package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReflectLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"first sentence", "I read the file. Now I write.", "I read the file."},
		{"whole text without an end", "reading on", "reading on"},
		{"a dot inside a word ends nothing", "Version 1.2 of a.txt is old! Next.", "Version 1.2 of a.txt is old!"},
		{"a line ends it", "# Findings\nThe cause is known.", "Findings"},
		{"markup at the start goes", "**Bold** claim. More.", "Bold** claim."},
		{"Chinese full stop needs no space", "读完了。下一步", "读完了。"},
		{"white space becomes one space", "one\ttwo  three.", "one two three."},
		{"control characters go", "a\x1b[31mb.", "a [31mb."},
		{"blank", " \n ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reflectLine(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	long := reflectLine(strings.Repeat("wörter ", 60) + ".")
	if n := utf8.RuneCountInString(long); n > activityCap || !strings.HasSuffix(long, "…") {
		t.Errorf("%d characters: %q", n, long)
	}
}

func TestSubject(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{"path":"a.txt","content":"x"}`, "read a.txt"},
		{`{"command":"ls -l","path":""}`, "read ls -l"},
		{`{"other":"x"}`, "read"},
		{`{"path":7}`, "read"},
		{`[]`, "read"},
	} {
		if got := actLine("read", json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.input, got, tt.want)
		}
	}
}
