package store

import (
	"strings"
	"testing"

	"stagefold/internal/part"
)

// Runs are found by the words of the user's message, of the chat's title and of
// the answers, the same on both databases.
func TestSearch(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for id, text := range map[string]string{"ship": "Welche Häfen hat Ägypten?", "code": "Fix internal/store/main.go, please", "zh": "请优化数据库查询", "long": "plain"} {
			w.chat("c-" + id)
			w.post("c-"+id, "m", text, id)
		}
		answer := func(id string, texts ...string) {
			l, _, err := w.Claim(w.ctx, id)
			w.must(err)
			for i, s := range texts {
				part := string(rune('a' + i))
				w.must(l.Append(textStart(1, part), delta(1, part, s[:len(s)/2]), delta(2, "other", "x"), delta(1, part, s[len(s)/2:]), textEnd(1, part)))
			}
			w.must(l.Append(&part.Entry{Type: part.ReasoningStart, ID: "t"}, &part.Entry{Type: part.ReasoningDelta, ID: "t", Delta: "pondering"}))
			w.must(l.Append(startStep(3), textStart(3, "z"), delta(3, "z", "retracted")))
			w.must(l.Finish(w.ctx, nil, &part.Entry{Type: part.StepReset, Step: 3}, finish(part.Finished)))
		}
		answer("ship", "The harbours are Alexandria", "and Port Saïd.")
		answer("long", strings.Repeat("word ", 100_000)+"behind")
		w.must(w.UpdateChat(w.ctx, "c-code", func(c *Chat) { c.Title = "Refactoring the Vault" }))

		for query, want := range map[string]string{
			"häfen":                        "ship",
			"HAFEN":                        "ship",
			"haf":                          "ship", // a beginning
			"afen":                         "",
			"ägypten alexandria":           "ship",
			"said port":                    "ship",
			"harbo alexandria":             "", // only the last word may be a beginning
			"harbours alex":                "ship",
			"pondering":                    "",
			"retracted":                    "",
			"main.go":                      "code",
			"store/main":                   "code",
			"go.main":                      "",
			"vault":                        "code",
			"vault please":                 "code", // title and message together
			"fix-internal":                 "code",
			"数据库":                          "zh",
			"据库查":                          "zh",
			"据数":                           "",
			"优 查":                          "zh",
			"word wor":                     "long",
			"please alexandria":            "",
			"🚢":                            "",
			"' OR 1=1; --":                 "",
			`"`:                            "",
			`häfen" OR "code`:              "",
			"NEAR häfen":                   "",
			"title:häfen":                  "",
			"häfen*":                       "ship",
			"(häfen)":                      "ship",
			"-häfen":                       "ship",
			"hä\x00fen":                    "",
			"häfen \xff":                   "ship",
			"& | ! <-> : \\ '":             "",
			"^ * ( ) \" { } [ ]":           "",
			strings.Repeat("häfen ", 5000): "ship",
			strings.Repeat("x", 100_000):   "",
		} {
			list, _, err := w.Runs(w.ctx, RunFilter{Query: query})
			if err != nil {
				t.Fatalf("%.40q: %v", query, err)
			}
			if got := strings.Join(ids(list), " "); got != want {
				t.Errorf("%.40q found %q, want %q", query, got, want)
			}
		}
		if list, _, err := w.Runs(w.ctx, RunFilter{Query: " \t "}); err != nil || len(list) != 4 {
			t.Errorf("an empty query: %v, %v", ids(list), err)
		}
		list, _, err := w.Runs(w.ctx, RunFilter{Query: "plain", State: "finished"})
		w.must(err)
		equal(t, "with a filter", ids(list), []string{"long"})
	})
}

// A message is found while its run waits; a deleted chat is not found.
func TestSearchFollowsTheChat(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.chat("c")
		w.post("c", "m", "needle", "r")
		found := func() int {
			list, _, err := w.Runs(w.ctx, RunFilter{Query: "needle"})
			w.must(err)
			return len(list)
		}
		if found() != 1 {
			t.Error("a queued run is not found")
		}
		w.must(w.SettleInterrupted(w.ctx, "r", "restart"))
		again, err := w.RunAgain(w.ctx, "r", "r2")
		w.must(err)
		if found() != 2 || again.ID != "r2" {
			t.Error("the new run is not found")
		}
		w.must(w.SettleInterrupted(w.ctx, "r2", "restart"))
		w.must(w.DeleteChat(w.ctx, "c"))
		if found() != 0 {
			t.Error("a deleted run is found")
		}
	})
}

// No query is an error, and both databases agree on what it finds.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{`"`, "a* NEAR/3 b", "':* & !", "数据*", "\x00\xff", "-a -b", "title:x", "(((", "ﷺ", "ß"} {
		f.Add(s)
	}
	w := newWorld(f, Options{Dir: f.TempDir()})
	w.chat("c")
	w.post("c", "m", "needle in a haystack", "r")
	f.Fuzz(func(t *testing.T, query string) {
		if _, _, err := w.Runs(w.ctx, RunFilter{Query: query}); err != nil {
			t.Errorf("%q: %v", query, err)
		}
	})
}
