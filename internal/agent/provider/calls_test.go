package provider

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"stagefold/internal/agent"
	"stagefold/internal/part"
)

func TestObject(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{`{}`, true}, {` {"a":1} ` + "\n", true}, {`{"a":"}"}`, true}, {`{"a":"\""}`, true}, {`{"a":"\\"}`, true},
		{`{"a":[1,{"b":2}]}`, true}, {``, false}, {`{`, false}, {`{"a":"}`, false}, {`{"a":"\"}`, false},
		{`{}{`, false}, {`{}}`, false}, {`[1]`, false}, {`x{}`, false}, {`"{}"`, false},
	} {
		for at := range len(c.text) + 1 {
			var o object
			o.scan(c.text[:at])
			o.scan(c.text[at:])
			if o.complete() != c.want {
				t.Errorf("%q cut at %d: complete is %v", c.text, at, o.complete())
			}
		}
	}
}

// Whatever the fragments are: every call that was begun has a name and an id of
// its own, its end tells what its deltas told, and its end comes once.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{0, 1, 1, 3, 2, 0, 0, 4}, true)
	f.Add([]byte("abcdefghijklmnop"), false)
	f.Fuzz(func(t *testing.T, recipe []byte, cut bool) {
		ids := []string{"", "a", "b", "call_1", "a-2"}
		names := []string{"", "read", "write"}
		args := []string{"", "{}", `{"p":`, `1}`, "[", `"x"`, "\xf0\x9f", "\x99\x82"}
		var calls Calls
		var out []agent.Chunk
		for len(recipe) >= 4 {
			out = append(out, calls.Add(Fragment{
				Index: int(recipe[0] % 3), HasIndex: recipe[0]%4 > 0,
				ID: ids[int(recipe[1])%len(ids)], Name: names[int(recipe[2])%len(names)], Args: []byte(args[int(recipe[3])%len(args)]),
			})...)
			recipe = recipe[4:]
		}
		reason := part.ReasonStop
		if cut {
			reason = part.ReasonLength
		}
		out = append(out, calls.End(reason)...)

		told, ended := map[string]string{}, map[string]bool{}
		for _, c := range out {
			_, begun := told[c.ID]
			switch c.Kind {
			case agent.ChunkToolStart:
				if begun || c.Name == "" || c.ID == "" {
					t.Fatalf("start %+v", c)
				}
				told[c.ID] = ""
			case agent.ChunkToolDelta:
				if !begun || ended[c.ID] || !utf8.ValidString(c.Text) {
					t.Fatalf("delta %+v", c)
				}
				told[c.ID] += c.Text
			case agent.ChunkToolEnd:
				if !begun || ended[c.ID] || c.Text != told[c.ID] {
					t.Fatalf("end %+v, told %q", c, told[c.ID])
				}
				ended[c.ID] = true
			case agent.ChunkToolBroken:
				if c.Text == "" {
					t.Fatal("broken without words")
				}
			}
		}
		if !cut && len(ended) != len(told) {
			t.Fatalf("%d calls, %d ends", len(told), len(ended))
		}
	})
}

// However arguments are cut, they come to the same.
func TestArgumentsInPieces(t *testing.T) {
	const args = `{"path":"北京 🙂","n":[1,{"a":"}"}]}`
	for at := range len(args) + 1 {
		for _, index := range []bool{true, false} {
			var calls Calls
			calls.Add(Fragment{HasIndex: index, ID: "c", Name: "f", Args: []byte(args[:at])})
			calls.Add(Fragment{HasIndex: index, Args: []byte(args[at:])})
			got := calls.End(part.ReasonToolCalls)
			if len(got) != 1 || got[0].Text != args {
				t.Errorf("cut at %d, index %v: %+v", at, index, got)
			}
		}
	}
}

func FuzzJoiner(f *testing.F) {
	f.Add([]byte("naive-café 北京 🙂"), 5, 9)
	f.Add([]byte("\xed\xa0\xbd\xed\xb9\x82 \xed\xa0\xbd \xed\xb9\x82 \xff\xc3"), 3, 4)
	f.Fuzz(func(t *testing.T, b []byte, x, y int) {
		join := func(pieces ...[]byte) string {
			var j Joiner
			var out strings.Builder
			for _, p := range pieces {
				out.WriteString(j.Add(p))
				if len(j.held) > 5 {
					t.Fatalf("%d bytes held", len(j.held))
				}
			}
			return out.String() + j.Flush()
		}
		x, y = max(x, 0)%(len(b)+1), max(y, 0)%(len(b)+1)
		x, y = min(x, y), max(x, y)
		var letters [][]byte
		for i := range b {
			letters = append(letters, b[i:i+1])
		}
		want := join(letters...)
		if got := join(b[:x], b[x:y], b[y:]); got != want || !utf8.ValidString(got) || utf8.Valid(b) && got != string(b) {
			t.Fatalf("%q cut at %d, %d: %q, byte by byte %q", b, x, y, got, want)
		}
	})
}

func TestBytes(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"caf\u00e9"`: "café", `"\ud83d\ude42"`: "🙂",
		`"北京"`: "北京", `"\ud83d"`: "\xed\xa0\xbd", "\"\xc3\"": "\xc3", `"\u00"`: "\ufffd",
	} {
		if got, ok := Bytes([]byte(raw)); !ok || string(got) != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	for _, raw := range []string{``, `null`, `1`, `{}`, `"`, `["a"]`} {
		if got, ok := Bytes([]byte(raw)); ok {
			t.Errorf("%s: %q", raw, got)
		}
	}
}

func TestIndexWordArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`0`: "0 true", `"3"`: "3 true", `2.0`: "2 true", `-1`: "0 false", `null`: "0 false", ``: "0 false", `1.5`: "0 false", `9999999`: "0 false", `{}`: "0 false", `"x"`: "0 false",
	} {
		n, ok := Index([]byte(raw))
		if got := fmt.Sprint(n, ok); got != want {
			t.Errorf("index %s: %s, want %s", raw, got, want)
		}
	}
	for raw, want := range map[string]string{`"a"`: "a", `17`: "17", `null`: "", `{}`: "", ``: "", `true`: ""} {
		if got := Word([]byte(raw)); got != want {
			t.Errorf("word %s: %q, want %q", raw, got, want)
		}
	}
	for raw, want := range map[string]string{`"{\"a\":1}"`: `{"a":1}`, `{"a": 1}`: `{"a":1}`, `null`: "", ``: "", `""`: "", `[1]`: "[1]"} {
		if got := string(Arguments([]byte(raw))); got != want {
			t.Errorf("arguments %s: %q, want %q", raw, got, want)
		}
	}
}
