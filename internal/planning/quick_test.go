package planning

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// quickTexts are outputs and plans as this package writes them, and texts that
// are almost that.
func quickTexts(t testing.TB) []string {
	var texts []string
	for _, p := range plansOfAllModes() {
		texts = append(texts, string(encodeJSON(t, p)), string(output(p)))
		spaced, _ := json.MarshalIndent(json.RawMessage(output(p)), " ", "\t")
		texts = append(texts, string(spaced))
	}
	for _, odd := range []string{
		``, `{}`, `{"todos":[]}`, `{"todos":null}`, `{"todos":[null]}`, `{"todos":[{}]}`, `{"todos":[{"id":"a"},]}`, `{"todos":[],}`,
		`{"todos":[{"ID":"a","content":"A","status":"done"}]}`, `{"todos":[{"id":"a","id":"b","content":"A","status":"done"}]}`,
		`{"todos":[{"id":"a","content":"A","status":"done","deliverable":"d","unverified":true}]}`,
		`{"todos":[{"id":"a","content":null,"text":"A","status":"done"}]}`, `{"todos":[{"id":7}]}`,
		`{"todos":[{"id":"\ud83d\ude00\u003c\n","content":"\\\"","status":"done"}]}`, "{\"todos\":[{\"id\":\"\xff\"}]}",
		"{\"todos\":[{\"id\":\"a\tb\"}]}", `{"todos":[{"id":"a\`, `{"todos":[{"id":"a\"`, `{"todos":[{"id":"\x"}]}`,
		`{"message":"m","plan":{"mode":"checklist","revision":01,"stages":[]}}`, `{"plan":{"revision":-1}}`, `{"plan":{"revision":1.0}}`,
		`{"plan":{"revision":1e3}}`, `{"plan":{"revision":1234567890123}}`, `{"plan":{"pointer":null}}`, `{"plan":{"settledAt":"2026-01-01T00:00:00+02:00"}}`,
		`{"plan":{"settledAt":"2026-01-01 00:00:00"}}`, `{"plan":{"settledAt":null}}`, `{"plan":{"stages":[{"unverified":false}]}}`,
		`{"plan":{"stages":[{"unverified":truer}]}}`, `{"plan":{"mode":"steps","stages":[],"more":1}}`, `{"plan":{"mode":"steps"}} x`,
		`{"plan":{},"plan":{"mode":"steps"}}`, `{"refused":true,"plan":{"mode":"metronome"}}`, `{"error":{},"todos":[]}`, ` { "todos" : [ ] } `,
		`{"plan":{"mode":"steps"},"todos":[{"id":1}]}`, `{"":"", "todos":[]}`, `{"todos":[{"id":"a"}{"id":"b"}]}`, `{"todos":[{"id" "a"}]}`, `[`, `{"todos":[`,
	} {
		texts = append(texts, odd)
	}
	return texts
}

// quickFault says where quick read a text otherwise than encoding/json.
func quickFault(text string) string {
	for _, tool := range []string{ToolWriteTodos, ToolPlan} {
		got, ok := quickOutput(tool, text)
		want, can := slowOutput(tool, json.RawMessage(text))
		if ok && (!can || !reflect.DeepEqual(got, want)) {
			return "as an output of " + tool
		}
	}
	var want slowPlan
	got, ok := quickPlan(text)
	if err := json.Unmarshal([]byte(text), &want); ok && (err != nil || !reflect.DeepEqual(got, Plan(want))) {
		return "as a plan"
	}
	return ""
}

// What quick reads it reads as encoding/json does; cut anywhere, it reads nothing.
func TestQuickReadsAsJSONDoes(t *testing.T) {
	for _, text := range quickTexts(t) {
		for n := range len(text) + 1 {
			if fault := quickFault(text[:n]); fault != "" {
				t.Errorf("%q is read otherwise, %s", text[:n], fault)
			}
		}
	}
}

// What this package writes, quick reads: encoding/json is not asked.
func TestQuickReadsWhatIsWritten(t *testing.T) {
	for name, p := range plansOfAllModes() {
		if got, ok := quickPlan(string(encodeJSON(t, p))); !ok || !reflect.DeepEqual(got, p) {
			t.Errorf("%s as a plan: %v %+v", name, ok, got)
		}
		for _, tool := range p.Mode.Tools() {
			if _, ok := quickOutput(tool, string(output(p))); !ok {
				t.Errorf("%s: the output of %s is not read", name, tool)
			}
		}
	}
	odd := `{"todos":[{"id":"a","content":"A","status":"done","more":1}]}`
	if _, ok := quickOutput(ToolWriteTodos, odd); ok {
		t.Error("an unknown key is read")
	}
	if p, ok := ParseOutput(ToolWriteTodos, json.RawMessage(odd)); !ok || len(p.Stages) != 1 {
		t.Error("what quick gives up on is lost")
	}
}

// Reading a plan does not hold on to the bytes it was read from.
func TestParseOutputIsACopy(t *testing.T) {
	raw := []byte(`{"todos":[{"id":"a","content":"A","status":"done"}]}`)
	p, _ := ParseOutput(ToolWriteTodos, raw)
	copy(raw, strings.Repeat("x", len(raw)))
	if p.Stages[0].Content != "A" {
		t.Errorf("the plan changed to %+v", p)
	}
}

// FuzzQuick: where quick reads a text, encoding/json reads the same.
func FuzzQuick(f *testing.F) {
	for _, text := range quickTexts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if fault := quickFault(text); fault != "" {
			t.Errorf("read otherwise, %s", fault)
		}
	})
}

// BenchmarkParseOutput reads a list of 50 stages: by quick, and by
// encoding/json.
func BenchmarkParseOutput(b *testing.B) {
	var stages []Stage
	for i := range 50 {
		stages = append(stages, Stage{ID: string(rune('A' + i)), Content: "Read the notes of the meeting", Status: Pending})
	}
	raw := output(Plan{Mode: Classic, Stages: stages})
	b.Run("quick", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ParseOutput(ToolWriteTodos, raw)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			slowOutput(ToolWriteTodos, raw)
		}
	})
}
