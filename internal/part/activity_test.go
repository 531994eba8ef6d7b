package part

import (
	"encoding/json"
	"testing"
)

// FuzzActivityOf: a line is read as encoding/json reads it.
func FuzzActivityOf(f *testing.F) {
	for _, s := range []string{
		`{"phase":"act","summary":"read_file a.txt"}`, `{"phase":"obs","summary":"12 \u003clines\u003e"}`, `{"phase":"plan","summary":"é"}`,
		`{"phase":"a","summary":"b","summary":"c"}`, `{"phase":"a"","summary":"b"}`, `{"phase":"a","summary":"b" }`, `{"phase":"a","summary":"b\"}`,
		`{"phase":"a\","summary":"b"}`, `{"summary":"b","phase":"a"}`, `{"phase":1}`, `{}`, ``, "{\"phase\":\"a\",\"summary\":\"\x01\"}", `{"phase":"","summary":""}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want ActivityData
		err := json.Unmarshal([]byte(s), &want)
		got, ok := ActivityOf(&Entry{Data: json.RawMessage(s)})
		if ok != (err == nil) || ok && got != want {
			t.Errorf("%q: %+v %v, want %+v %v", s, got, ok, want, err)
		}
	})
}

// What the agent writes is read without encoding/json.
func TestPlainActivity(t *testing.T) {
	want := ActivityData{Phase: PhaseAct, Summary: "read_file docs/a-b_c (2).txt: 'x'"}
	raw, _ := json.Marshal(want)
	if got, ok := plainActivity(string(raw)); !ok || got != want {
		t.Errorf("%s: %+v %v", raw, got, ok)
	}
}
