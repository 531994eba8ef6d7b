package store

import (
	"strings"
	"unicode"
)

// maxTitle is a title's longest length, in characters.
const maxTitle = 60

// Title is a chat's title made of a text: its first line that has a letter or a
// digit, without markdown's marks before it, control characters and changes of
// writing direction, cut behind a word where it is long.
func Title(s string) string {
	line := ""
	for l := range strings.Lines(s) {
		if line = cleanLine(l); line != "" {
			break
		}
	}
	r := []rune(line)
	if len(r) <= maxTitle {
		return line
	}
	cut := maxTitle - 1
	for i := cut; i > maxTitle/2; i-- {
		if r[i] == ' ' {
			cut = i
			break
		}
	}
	for cut > 1 && (unicode.Is(unicode.M, r[cut]) || r[cut] == joiner || r[cut-1] == joiner) { // not through a character
		cut--
	}
	return strings.TrimRight(string(r[:cut]), " ,;:") + "…"
}

const joiner = '\u200d' // of emoji

// cleanLine is one line as a title shows it; "" where it has no word.
func cleanLine(l string) string {
	l = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar, unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && r != joiner:
			return -1
		}
		return r
	}, strings.ToValidUTF8(l, ""))
	if !strings.ContainsFunc(l, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r) }) {
		return ""
	}
	l = strings.Join(strings.Fields(l), " ")
	for {
		mark, rest, ok := strings.Cut(l, " ")
		if !ok || strings.Trim(mark, "#>*-+") != "" {
			return l
		}
		l = rest
	}
}
