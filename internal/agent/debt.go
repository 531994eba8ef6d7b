package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// debtOf is the debt that the open stages make.
func debtOf(s planning.State) []part.Debt {
	var debt []part.Debt
	for _, stage := range s.Owes() {
		debt = append(debt, part.Debt{ID: stage.ID, Content: stage.Content})
	}
	return debt
}

// debtNote says how many stages stayed open, as a sentence.
func debtNote(debt []part.Debt) string {
	if len(debt) == 1 {
		return "finished, 1 stage open"
	}
	return fmt.Sprintf("finished, %d stages open", len(debt))
}

// debtAsk names every open stage and what the model can do about it.
func debtAsk(open []planning.Stage) string {
	var b strings.Builder
	b.WriteString("The plan still has open stages:\n")
	for _, s := range open {
		fmt.Fprintf(&b, "- %s (%s, %s)\n", strings.Join(strings.Fields(s.Content), " "), s.ID, s.Status)
	}
	b.WriteString("Work on them now, or update the plan so that it says what is really open. ")
	b.WriteString("If you cannot go on without the user, ask your question.")
	return b.String()
}

// askForDebt asks the model once more about the stages it left open. A refused
// complete has its ask in its result; text alone gets a hidden user message.
func (r *run) askForDebt(a *answer) error {
	text := debtAsk(r.state.Owes())
	r.reminders.set(keyOnceAsk, text)
	r.pace = r.pace.Asked()
	if a.refused {
		return nil
	}
	return r.tell(text)
}

// tell stores a hidden user message for the next request.
func (r *run) tell(text string) error {
	data, _ := json.Marshal(part.AskData{Text: text})
	return r.emit(&part.Entry{Type: part.DataAsk, ID: r.nextID("ask"), Data: data})
}

// trailingMarkup is markup at the end of a text that a reader does not see.
var trailingMarkup = regexp.MustCompile(`(?:\]\([^()\s]*\)|</?[A-Za-z][^<>]*>)$`)

// closesWithQuestion: the last visible character, after markup and quotes, is
// a question mark.
func closesWithQuestion(text string) bool {
	for {
		text = strings.TrimRightFunc(text, func(c rune) bool {
			return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) ||
				strings.ContainsRune("*_~`\"'", c) || unicode.In(c, unicode.Pi, unicode.Pf) ||
				strings.ContainsRune("„‚」』〉》＂＇", c)
		})
		cut := trailingMarkup.ReplaceAllString(text, "")
		if cut == text {
			break
		}
		text = cut
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	return last == '?' || last == '？' || last == '؟'
}

// question is the closing question of a text: its last paragraph, bounded.
func question(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = text[i:]
	}
	return oneLine(text, 500)
}
