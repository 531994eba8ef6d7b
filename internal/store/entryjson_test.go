package store

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stagefold/internal/part"
)

// fill sets every field below v, so that a field that is new is not forgotten.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(begin.Add(time.Duration(*n) * time.Millisecond)))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{ "a<b>" : [1, "\u2028\\"],` + "\n" + ` "n":1e400}`)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text \"<&>\\\n\r\t\x00\x1f\u2028 é日𝔘 " + strings.Repeat("x", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	}
}

// Every field of an entry comes back, raw ones byte for byte, both ways of
// reading agree, and a packed row holds it too.
func TestEveryFieldIsStored(t *testing.T) {
	full, n := &part.Entry{}, 0
	fill(reflect.ValueOf(full).Elem(), &n)
	for i := range full.Waiting { // compared by value below; spaces in it need not stay
		full.Waiting[i].Input = json.RawMessage(`{"a":1}`)
	}
	empty := &part.Entry{Seq: 1, Time: begin, Type: part.Finish}
	for _, e := range []*part.Entry{full, empty} {
		body := entryJSON(e)
		if !json.Valid([]byte(body)) {
			t.Fatalf("no JSON: %s", body)
		}
		fast, slow := &part.Entry{}, &part.Entry{}
		if end, ok := parseEntry(body, 0, fast); !ok || end != len(body) {
			t.Errorf("the fast way gave up on %s", body)
		}
		if err := json.Unmarshal([]byte(body), slow); err != nil {
			t.Fatal(err)
		}
		equal(t, "fast", fast, e)
		equal(t, "slow", slow, e)
		list, ok := parseEntries("[" + body + "," + body + "]")
		if !ok {
			t.Error("the fast way gave up on a packed row")
		}
		equal(t, "packed", list, []*part.Entry{e, e})
	}
	if list, ok := parseEntries("[]"); !ok || len(list) != 0 {
		t.Errorf("an empty row: %v %v", list, ok)
	}
}

// What is no entry is an error, or read by encoding/json; never a panic.
func FuzzParseEntry(f *testing.F) {
	full, n := &part.Entry{}, 0
	fill(reflect.ValueOf(full).Elem(), &n)
	for _, s := range []string{
		"", "{", "{}", "[", `{"seq":1}`, `{"seq":-1}`, `{"seq":1.5}`, `{"seq":01}`, `{"seq":"1"}`, `{ "seq": 1 }`, `{"seq":1,}`, `{"seq"}`, `{"type":"\u0074ext"}`,
		`{"delta":"a\`, `{"delta":"a\"`, `{"input":{"a":[}`, `{"input":null}`, `{"dynamic":false}`, `{"time":"2026"}`, `{"unknown":1}`, `{"id":"a","id":"b"}`, `{"Seq":3}`, `null`, `[{}]`,
		entryJSON(full), entryJSON(delta(1, "a", "x")),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fast, slow := &part.Entry{}, &part.Entry{}
		end, ok := parseEntry(s, 0, fast)
		parseEntries("[" + s + "]")
		if !ok || end != len(s) || !utf8.ValidString(s) {
			return
		}
		if err := json.Unmarshal([]byte(s), slow); err != nil {
			return // entryJSON writes no such thing; what matters is that valid JSON is read alike
		}
		equal(t, "entry", fast, slow)
	})
}
