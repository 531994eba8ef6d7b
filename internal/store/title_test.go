package store

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitle(t *testing.T) {
	long := "Write a report about the harbour and everything that was ever shipped through it"
	for text, want := range map[string]string{
		"":                            "",
		" \n\t ":                      "",
		"Hello":                       "Hello",
		"\n\n  Hello \t there \n":     "Hello there",
		"# Heading\ntext":             "Heading",
		"> - **Bold** item":           "**Bold** item",
		"-5 degrees":                  "-5 degrees",
		"```\nfmt.Println()\n```":     "fmt.Println()",
		"---\n***\nthird":             "third",
		"🚢":                           "🚢",
		"\u202egnp.exe\u2066x":        "gnp.exex",
		"a\x00b\x1b[31mc\xff":         "ab[31mc",
		"windows\r\nlines":            "windows",
		long:                          "Write a report about the harbour and everything that was…",
		strings.Repeat("x", 60):       strings.Repeat("x", 60),
		strings.Repeat("x", 61):       strings.Repeat("x", 59) + "…",
		strings.Repeat("数据", 40):      strings.Repeat("数据", 29) + "数…",
		strings.Repeat("e\u0301", 40): strings.Repeat("e\u0301", 29) + "…",
		strings.Repeat("a", 58) + "👩\u200d👩\u200d👧 and more x": strings.Repeat("a", 58) + "…",
	} {
		if got := Title(text); got != want {
			t.Errorf("Title(%q) = %q, want %q", text, got, want)
		}
	}
}

// Whatever the text, a title is one short line of valid text, and its own title.
func FuzzTitle(f *testing.F) {
	f.Add("# a\n\u202e\xff" + strings.Repeat("é ", 70))
	f.Add(strings.Repeat("\u200d", 100) + "a")
	f.Fuzz(func(t *testing.T, s string) {
		title := Title(s)
		if n := utf8.RuneCountInString(title); n > maxTitle || !utf8.ValidString(title) || strings.ContainsAny(title, "\n\r\x00") {
			t.Errorf("Title(%q) = %q", s, title)
		}
	})
}
