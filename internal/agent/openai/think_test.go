package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "stagefold/internal/agent/fakeprovider"
)

// filter is what the filter makes of the pieces; reasoning stands in [].
func filter(pieces ...string) string {
	var t thinkFilter
	var all []piece
	for _, p := range pieces {
		all = append(all, t.add(p)...)
	}
	all = append(all, t.flush()...)
	var out strings.Builder
	for i := 0; i < len(all); i++ {
		text := string(all[i].text)
		for i+1 < len(all) && all[i+1].reasoning == all[i].reasoning {
			i++
			text += string(all[i].text)
		}
		if all[i].reasoning {
			text = "[" + text + "]"
		}
		out.WriteString(text)
	}
	return out.String()
}

var thoughts = []struct{ in, want string }{
	{"", ""},
	{"Answer", "Answer"},
	{"  Answer\n", "  Answer\n"},
	{" \n", " \n"},
	{"<think>plan A</think>Answer 42", "[plan A]Answer 42"},
	{"\n<think>\nplan A\n</think>\n\nAnswer 42\n", "[plan A\n]Answer 42\n"},
	{"<think></think>Answer", "Answer"},
	{"<think>\n\n</think>\n\nAnswer", "Answer"},
	{"<think>a</think>\n<think>b</think>\nAnswer", "[ab]Answer"},
	{"<THINK>a</Think>b", "[a]b"},
	{"<thinking>a</thinking>b", "[a]b"},
	{"< think >a< / think >b", "[a]b"},
	{"<think>a < b <b> </thin </think>c", "[a < b <b> </thin ]c"},
	{"<think>a <think> b</think>c", "[a <think> b]c"},
	{"<think>never closed", "[never closed]"},
	{"<think>北京 🙂</think>é", "[北京 🙂]é"},
	{"<thinker>a</thinker>", "<thinker>a</thinker>"},
	{"<", "<"},
	{"<thi", "<thi"},
	{"a<b and <<think>c</think>d", "a<b and <[c]d"},
	{"</think>Answer", "Answer"},
	{"plan A</think>Answer", "plan A</think>Answer"},
	{"One. <think>two</think> Three.", "One. [two] Three."},
	{"One.\n<think>\ntwo\n</think>\nThree.", "One.\n[two]\nThree."},
	{"The <think> tag opens a block.", "The <think> tag opens a block."},
	{"Write `<think>` and `</think>` around it.", "Write `<think>` and `</think>` around it."},
	{"Write ``<think>`a</think>`` so.", "Write ``<think>`a</think>`` so."},
	{"So:\n```html\n<think>a</think>\n```\nend <think>b</think>.", "So:\n```html\n<think>a</think>\n```\nend [b]."},
	{"So:\n~~~~\n```\n<think>a</think>\n~~~~\n<think>b</think>.", "So:\n~~~~\n```\n<think>a</think>\n~~~~\n[b]."},
	{"It's `odd\n<think>b</think>.", "It's `odd\n[b]."},
}

func TestThinkFilter(t *testing.T) {
	for _, c := range thoughts {
		if got := filter(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
		for at := range c.in {
			if got := filter(c.in[:at], c.in[at:]); got != c.want {
				t.Errorf("%q cut at %d: %q, want %q", c.in, at, got, c.want)
			}
		}
		if got := filter(strings.Split(c.in, "")...); got != c.want {
			t.Errorf("%q in letters: %q, want %q", c.in, got, c.want)
		}
	}
}

// What is certain is told at once.
func TestThinkFilterTellsEarly(t *testing.T) {
	var f thinkFilter
	for _, step := range []struct {
		in   string
		want []piece
	}{
		{" <thi", nil},
		{"nk> pl", []piece{{true, []byte("pl")}}},
		{"an</", []piece{{true, []byte("an")}}},
		{"think> \nAns", []piece{{false, []byte("Ans")}}},
		{"wer <", []piece{{false, []byte("wer ")}}},
		{"b>", []piece{{false, []byte("<b>")}}},
	} {
		if diff := cmp.Diff(step.want, f.add(step.in), cmp.AllowUnexported(piece{})); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", step.in, diff)
		}
	}
}

// Cuts change nothing, and nothing but tags and white space is lost.
func FuzzThinkFilter(f *testing.F) {
	for _, c := range thoughts {
		f.Add(c.in, 1, 3)
	}
	f.Fuzz(func(t *testing.T, in string, a, b int) {
		whole := filter(in)
		if len(in) > 0 {
			a, b = abs(a)%len(in), abs(b)%len(in)
			a, b = min(a, b), max(a, b)
			if got := filter(in[:a], in[a:b], in[b:]); got != whole {
				t.Fatalf("cut at %d and %d: %q, at once %q", a, b, got, whole)
			}
		}
		if !strings.Contains(strings.ToLower(in), "think") && whole != in {
			t.Fatalf("%q became %q", in, whole)
		}
		if len(whole) > len(in)+2*strings.Count(in, "<") {
			t.Fatalf("%q grew to %q", in, whole)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

// No chunk of any shape makes the decoder fail or tell invalid text.
func FuzzDecoder(f *testing.F) {
	for _, a := range answers {
		for i, s := range a.steps {
			if i < 2 {
				f.Add(string(Wire(s)), "{}")
			}
		}
	}
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"length"}]}`, `{"choices":[{"delta":{"content":"<think>"}}]}`)
	f.Fuzz(func(t *testing.T, one, two string) {
		d := &decoder{}
		var all []string
		for _, raw := range []string{one, two, one, two} {
			chunks, err := d.take(strings.TrimPrefix(raw, "data: "))
			all = append(all, tell(chunks))
			if err != nil {
				return
			}
		}
		chunks, err := d.end(nil)
		if out := strings.Join(all, "\n") + tell(chunks); !strings.Contains(out, "finish ") && err == nil {
			t.Fatalf("no end: %s", out)
		}
		for _, c := range chunks {
			if strings.ToValidUTF8(c.Text, "") != c.Text {
				t.Fatalf("invalid text %q", c.Text)
			}
		}
	})
}
