package planning

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// obj is a JSON object in a test.
type obj = map[string]any

func encodeJSON(t testing.TB, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call applies one call under the normal limits.
func call(t testing.TB, s State, tool string, input any) Result {
	t.Helper()
	raw, ok := input.(string)
	if !ok {
		raw = string(encodeJSON(t, input))
	}
	return Apply(s, Call{Tool: tool, Input: json.RawMessage(raw), Time: at}, NormalLimits())
}

// must applies a call that has to be accepted.
func must(t testing.TB, s State, tool string, input any) State {
	t.Helper()
	res := call(t, s, tool, input)
	if res.Err != nil || res.Refused {
		t.Fatalf("%s %v: refused=%v err=%v", tool, input, res.Refused, res.Err)
	}
	return res.State
}

// wantError asserts a tool error with that code and path, an unchanged state,
// and every given word in its message.
func wantError(t *testing.T, before State, res Result, code, path string, words ...string) {
	t.Helper()
	if res.Err == nil {
		t.Fatalf("accepted, want %s at %q", code, path)
	}
	if res.Err.Code != code || res.Err.Path != path {
		t.Errorf("error %s at %q, want %s at %q (%s)", res.Err.Code, res.Err.Path, code, path, res.Err.Message)
	}
	for _, w := range words {
		if !strings.Contains(res.Err.Message, w) {
			t.Errorf("message %q does not say %q", res.Err.Message, w)
		}
	}
	if res.Output != nil || res.Changed || res.Refused {
		t.Errorf("a failed call gave output %s, changed %v, refused %v", res.Output, res.Changed, res.Refused)
	}
	if got, want := string(encodeJSON(t, res.State)), string(encodeJSON(t, before)); got != want {
		t.Errorf("a failed call changed the state\n got %s\nwant %s", got, want)
	}
}

// stagesOf reads id:status words; 'text' behind a word is the content.
func stagesOf(s string) []Stage {
	statuses := map[string]Status{"p": Pending, "i": InProgress, "d": Done}
	var stages []Stage
	for _, w := range strings.Fields(s) {
		id, rest, _ := strings.Cut(w, ":")
		letter, content, quoted := strings.Cut(rest, "'")
		if content = strings.TrimSuffix(content, "'"); !quoted {
			content = id
		}
		stages = append(stages, Stage{ID: id, Content: content, Status: statuses[letter]})
	}
	return stages
}

// show writes a list in the notation of stagesOf; ids only where a content differs.
func show(stages []Stage) string {
	letters := map[Status]string{Pending: "p", InProgress: "i", Done: "d"}
	var words []string
	for _, s := range stages {
		w := s.ID + ":" + letters[s.Status]
		if s.Content != s.ID {
			w += "'" + s.Content + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// todosInput is the input of write_todos for a list.
func todosInput(s string) obj {
	items := []obj{}
	for _, st := range stagesOf(s) {
		items = append(items, obj{"id": st.ID, "content": st.Content, "status": string(st.Status)})
	}
	return obj{"todos": items}
}

// stagesInput is the input of the metronome's plan for ids.
func stagesInput(ids ...string) obj {
	items := []obj{}
	for _, id := range ids {
		items = append(items, obj{"id": id, "content": id, "deliverable": id + ".md"})
	}
	return obj{"stages": items}
}

// vector is one case of a file in testdata: its lines as pairs of a word and
// the rest.
type vector struct {
	name  string
	lines [][2]string
}

func vectors(t *testing.T, file string) []vector {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []vector
	for scan := bufio.NewScanner(f); scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "case" {
			all = append(all, vector{name: rest})
			continue
		}
		v := &all[len(all)-1]
		v.lines = append(v.lines, [2]string{word, rest})
	}
	if len(all) == 0 {
		t.Fatalf("%s holds no case", file)
	}
	return all
}
