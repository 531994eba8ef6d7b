package store

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the longest word of the index, in characters; what is behind is
// dropped on both sides.
const maxWord = 64

// words cuts a text as the index has it, the same for both databases: letters
// and digits in lower case without accents; each ideograph and kana is a word,
// since such texts have no spaces. It stops behind max words.
func words(s string, max int) []string {
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = word[:0]
		}
	}
	for _, r := range norm.NFKD.String(s) {
		switch {
		case len(list) >= max:
			return list[:max]
		case unicode.Is(unicode.Mn, r): // an accent
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			list = append(list, string(r))
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.Mc, r):
			if len(word) < maxWord {
				word = append(word, unicode.ToLower(r))
			}
		default:
			end()
		}
	}
	end()
	return list[:min(len(list), max)]
}

// phrases cuts a query: what stands between two spaces is one phrase, its words
// next to each other.
func phrases(query string, max int) [][]string {
	var list [][]string
	for field := range strings.FieldsSeq(query) {
		if max <= 0 {
			break
		}
		if w := words(field, max); len(w) > 0 {
			list = append(list, w)
			max -= len(w)
		}
	}
	return list
}
