package agent

import "testing"

func TestClosesWithQuestion(t *testing.T) {
	for text, want := range map[string]bool{
		"Shall I go on?":                     true,
		"Shall I go on? ":                    true,
		"Soll ich weitermachen？":             true,
		"هل أتابع؟":                          true,
		"**Shall I go on?**":                 true,
		"He said \"why?\"":                   true,
		"« Quoi ?\u00a0»":                    true,
		"『なぜ？』":                              true,
		"`really?`":                          true,
		"[Which one?](https://example.test)": true,
		"<p>Which one?</p>":                  true,
		"Which one?\u200b\n\n":               true,
		"- a\n- b?\n```":                     true,
		"Why? Because.":                      false,
		"Done.":                              false,
		"Which one? (a or b)":                false,
		"Shall I go on? 🙂":                   false,
		"":                                   false,
		"***":                                false,
	} {
		if got := closesWithQuestion(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestQuestionIsTheLastParagraph(t *testing.T) {
	if got, want := question("I read both.\n\nWhich one\nshall I keep?\n"), "Which one shall I keep?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
