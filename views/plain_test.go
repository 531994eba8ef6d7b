package views

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing to do":               {"naïve 北京 🙂\n\ttab", "naïve 北京 🙂\n\ttab"},
		"colour":                      {"\x1b[31mred\x1b[0m", "red"},
		"clear screen":                {"a\x1b[2Jb", "ab"},
		"window title":                {"\x1b]0;evil\x07text", "text"},
		"window title with ST":        {"\x1b]0;evil\x1b\\text", "text"},
		"link":                        {"\x1b]8;;http://x\x07label\x1b]8;;\x07", "label"},
		"title without an end":        {"\x1b]0;evil\nnext", "\nnext"},
		"charset":                     {"\x1b(Btext", "text"},
		"one-character sequence":      {"\x1bMtext\x1b7", "text"},
		"escape at the end":           {"text\x1b", "text"},
		"C1 control sequence":         {"\u009b31mred", "red"},
		"C1 controls":                 {"a\u0085b\u0090c", "abc"},
		"NUL and bell":                {"a\x00b\x07c\x7f", "abc"},
		"bad bytes":                   {"a\xff\xfeb", "a\uFFFD\uFFFDb"},
		"CRLF":                        {"a\r\nb\r\n", "a\nb\n"},
		"progress":                    {"10%\r20%\r100%\n", "100%\n"},
		"progress still running":      {"10%\r20%\r", "20%"},
		"progress on the last line":   {"start\n1/3\r2/3\r3/3", "start\n3/3"},
		"forged server event":         {"step 1\r\revent: datastar-patch-signals\rdata: signals\r\rtail", "tail"},
		"overstrike":                  {"b\bbold", "bold"},
		"backspace stays on its line": {"a\n\b\bb", "a\nb"},
		"CR then colour then LF":      {"done\r\x1b[K\n", "done\n"},
	} {
		if got := Plain(c.in); got != c.want {
			t.Errorf("%s: Plain(%q) = %q, want %q", name, c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	if got := Line("  a\n\tb\x1b[1m c\r\n"); got != "a b c" {
		t.Errorf("Line = %q", got)
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"", "\x1b[31m", "\x1b]0;x\x07", "a\rb\n", "\xff\x1b", "\u009b1", "\x1b\x1b[["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Plain(s)
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("control character %U in %q", r, got)
			}
		}
		if again := Plain(got); again != got {
			t.Fatalf("not stable: %q, then %q", got, again)
		}
	})
}
