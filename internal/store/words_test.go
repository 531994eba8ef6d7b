package store

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"Hello, World_2!":            "hello world 2",
		"Café CAFÉ cafe\u0301":       "cafe cafe cafe",
		"Żółw İstanbul Ελλάδα":       "zołw istanbul ελλαδα",
		"数据库 GPT模型":                  "数 据 库 gpt 模 型",
		"データ":                        "テ ー タ",
		"한국어":                        norm.NFKD.String("한국어"),
		"don't main.go":              "don t main go",
		"ﬁne ² Ⅷ":                    "fine 2 viii",
		"हिन्दी":                     "हिनदी",
		strings.Repeat("x", 100):     strings.Repeat("x", 64),
		"a\x00b\xffc 'quote\" -- %_": "a b c quote",
		"🚢🚢":                         "",
	} {
		if got := strings.Join(words(text, 100), " "); got != want {
			t.Errorf("words(%q) = %q, want %q", text, got, want)
		}
	}
	if got := words("a b c d", 2); len(got) != 2 {
		t.Errorf("more words than asked for: %q", got)
	}
}

func TestPhrases(t *testing.T) {
	equal(t, "phrases", phrases(" main.go  数据 \" ... x ", 10), [][]string{{"main", "go"}, {"数", "据"}, {"x"}})
	equal(t, "bounded", phrases("a b c d.e.f", 3), [][]string{{"a"}, {"b"}, {"c"}})
}
