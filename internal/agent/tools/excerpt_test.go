package tools

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestExcerpt(t *testing.T) {
	l := DefaultLimits()
	wide := strings.Repeat("x", 200) + "\n"
	for _, c := range []struct {
		name, text string
		want       excerpt
	}{
		{"empty", "", excerpt{}},
		{"one line without an end", "a", excerpt{"a", 1, false}},
		{"500 lines", numbered(1, 500), excerpt{numbered(1, 500), 500, false}},
		{"501 lines", numbered(1, 501), excerpt{
			numbered(1, 200) + "[... lines 201-201 of 501 left out ...]\n" + numbered(202, 501), 501, true}},
		{"many lines", numbered(1, 10_000), excerpt{
			numbered(1, 200) + "[... lines 201-9700 of 10000 left out ...]\n" + numbered(9701, 10_000), 10_000, true}},
		{"few lines, too wide", strings.Repeat(wide, 300), excerpt{
			strings.Repeat(wide, 64) + "[... lines 65-203 of 300 left out ...]\n" + strings.Repeat(wide, 97), 300, true}},
		{"one very long line", strings.Repeat("y", 3000) + "\nend", excerpt{
			strings.Repeat("y", 2000) + " [... 1000 bytes more]\nend", 2, true}},
		{"a line just over the limit is kept", strings.Repeat("y", 2010), excerpt{strings.Repeat("y", 2010), 1, false}},
		{"cut between characters", strings.Repeat("ü", 1500), excerpt{
			strings.Repeat("ü", 1000) + " [... 1000 bytes more]", 1, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := l.excerptOf(c.text, 1, len(splitLines(c.text)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\n", 3, 600)
	f.Add(strings.Repeat("ü", 900)+"\n\n", 600, 512)
	f.Fuzz(func(t *testing.T, piece string, times, output int) {
		l := Limits{Output: min(max(output, 1), 1<<16)}.withDefaults()
		text := strings.ToValidUTF8(strings.Repeat(piece, min(max(times, 1), 1000)), "?")
		text = prefix(text, 1<<20)
		got := l.excerptOf(text, 1, len(splitLines(text)))
		if len(got.Text) > l.Output {
			t.Errorf("%d bytes of %d", len(got.Text), l.Output)
		}
		if !utf8.ValidString(got.Text) {
			t.Error("not UTF-8")
		}
		if !got.Cut && got.Text != text {
			t.Error("not cut, but changed")
		}
	})
}

func TestIsBinary(t *testing.T) {
	for text, want := range map[string]bool{
		"":                             false,
		"plain\ttext\r\n":              false,
		"\x1b[31mred\x1b[0m\n":         false,
		"gr\xfc\xdfe aus dem Norden\n": false, // Latin-1
		"\xef\xbb\xbfmarked\n":         false,
		"a\x00b":                       true,
		"\x89PNG\r\n\x1a\n\x00\x00":    true,
		"\xff\xfeh\x00i\x00":           true,
		"\x01\x02\x03\x04abc":          true,
		strings.Repeat("日本語", 3000):    false, // cut inside a character at 8 KiB
	} {
		if got := isBinary([]byte(text)); got != want {
			t.Errorf("%.12q: %v", text, got)
		}
	}
}
