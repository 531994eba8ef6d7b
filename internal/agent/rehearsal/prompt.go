package rehearsal

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// brief is what the script takes from the user's words.
type brief struct {
	question bool   // ends in a question mark: a plain answer
	fails    bool   // holds the word fail
	long     bool   // holds the word long
	topic    string // a few words of the prompt, plain
	word     string // one telling word, in small letters; "" for none
	report   string // the file that the report goes to, if it is free
}

func readPrompt(prompt string) brief {
	words := strings.FieldsFunc(prompt, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
	b := brief{topic: topicOf(prompt), report: reportName(prompt)}
	end := strings.TrimRightFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`*_)”’»", r) })
	b.question = strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") || strings.HasSuffix(end, "؟")
	for _, w := range words {
		lower := strings.ToLower(w)
		b.fails = b.fails || lower == "fail"
		b.long = b.long || lower == "long"
		if b.word == "" && len([]rune(lower)) >= 4 && !slices.Contains(plainWords, lower) && !strings.Contains(b.report, lower) {
			b.word = lower
		}
	}
	if b.word == "" && b.long {
		b.word = "import"
	}
	return b
}

// plainWords say too little to search for.
var plainWords = strings.Fields(`
	about again all also analyse analyze answer anything around check count counts create does each every
	everything explain fail file files find folder from give have into just keep like list long look make many more
	most much must need only over path plan please project read report reports review search should show some
	somebody something step stages summarise summarize summary survey take tell that their them then there these they thing things
	this those through todo todos want what when where which will with work workspace would write your`)

const topicBytes = 48

// topicOf is the beginning of the prompt in plain words, cut between two.
func topicOf(prompt string) string {
	topic := ""
	for word := range strings.FieldsSeq(prompt) {
		word = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./,:'", r) {
				return r
			}
			return -1
		}, word)
		if word == "" {
			continue
		}
		if len(topic)+1+len(word) > topicBytes {
			break
		}
		topic = strings.TrimSpace(topic + " " + word)
	}
	topic = strings.TrimRight(topic, ".,:- ")
	if topic == "" {
		return "the workspace"
	}
	return topic
}

var reportPattern = regexp.MustCompile(`[\pL\pN_][\pL\pN_./-]*\.md\b`)

// reportName is the .md file that the prompt names, else report.md.
func reportName(prompt string) string {
	name := path.Clean(reportPattern.FindString(prompt))
	if name == "." || !filepath.IsLocal(name) || len(name) > 100 {
		return "report.md"
	}
	return name
}
