package live

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sseEvent is an event as a client sees it.
type sseEvent struct {
	kind, data, id string
}

// parseSSE reads a stream as the HTML standard says: a line ends at CR LF, CR
// or LF; an event without data is dropped; an id with NUL is ignored.
func parseSSE(stream string) []sseEvent {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	var events []sseEvent
	var kind, id string
	var data []string
	for _, line := range lines[:len(lines)-1] { // what follows the last line end is not a line yet
		if line == "" {
			if data != nil {
				events = append(events, sseEvent{kind, strings.Join(data, "\n"), id})
			}
			kind, data, id = "", nil, ""
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case strings.HasPrefix(line, ":"):
		case name == "event":
			kind = value
		case name == "data":
			data = append(data, value)
		case name == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
	}
	return events
}

// unixLines is what the encoder makes of a text: CR and CR LF are line ends.
func unixLines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func prefixed(name, s string) []string {
	var out []string
	for line := range strings.SplitSeq(unixLines(s), "\n") {
		out = append(out, name+" "+line)
	}
	return out
}

const forged = "step 1\r\revent: datastar-patch-signals\rdata: signals (document.title=String(7*6),{a:1})\r\rtail"

func TestNoTextForgesAnEvent(t *testing.T) {
	for name, text := range map[string]string{
		"carriage returns": forged,
		"progress bar":     "10%\r20%\r30%\r100%\n",
		"both line ends":   strings.ReplaceAll(forged, "\r", "\r\n"),
		"line feeds":       strings.ReplaceAll(forged, "\r", "\n"),
		"at the end":       "text\r",
	} {
		e := NewEncoder()
		e.Elements(Elements{HTML: "<p>" + text + "</p>", Selector: text, Mode: "inner", ID: text})
		e.Comment(text)
		e.Signals(asJSON(map[string]string{"a": text}), "7")
		e.Event(text, text, text)
		one := field(text)
		want := []sseEvent{
			{"datastar-patch-elements", strings.Join(append([]string{"selector " + one, "mode inner"}, prefixed("elements", "<p>"+text+"</p>")...), "\n"), one},
			{"datastar-patch-signals", "signals " + string(asJSON(map[string]string{"a": text})), "7"},
			{one, unixLines(text), one},
		}
		if diff := cmp.Diff(want, parseSSE(string(e.Bytes())), cmp.AllowUnexported(sseEvent{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzEncoder(f *testing.F) {
	f.Add("<p>x</p>", "#a", "1", forged)
	f.Add(forged, forged, forged, "\r\n\r\n")
	f.Add("\r", "\n", "\x00", "")
	f.Fuzz(func(t *testing.T, html, selector, id, data string) {
		e := NewEncoder()
		e.Comment(data)
		e.Elements(Elements{HTML: html, Selector: selector, ID: id})
		e.Event("kind", data, id)
		e.Comment(html)
		lines := []string(nil)
		if selector != "" {
			lines = append(lines, "selector "+field(selector))
		}
		if html != "" {
			lines = append(lines, prefixed("elements", html)...)
		}
		var want []sseEvent
		if lines != nil {
			want = append(want, sseEvent{"datastar-patch-elements", strings.Join(lines, "\n"), field(id)})
		}
		want = append(want, sseEvent{"kind", unixLines(data), field(id)})
		got := parseSSE(string(e.Bytes()))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sseEvent{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Random texts of the bytes that matter to a parser, many of them.
func TestRandomTextsForgeNoEvent(t *testing.T) {
	const alphabet = "\r\n\r\n: \x00adeintv:"
	r := rand.New(rand.NewPCG(1, 19))
	text := func() string {
		b := make([]byte, r.IntN(24))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	e := NewEncoder()
	for range 100_000 {
		html, id := text(), text()
		e.Elements(Elements{HTML: "<" + html, ID: id})
		e.Comment(html)
		got := parseSSE(string(e.Bytes()))
		want := sseEvent{"datastar-patch-elements", strings.Join(prefixed("elements", "<"+html), "\n"), field(id)}
		if len(got) != 1 || got[0] != want {
			t.Fatalf("%q with id %q gives %q, want %q", html, id, got, want)
		}
	}
}
