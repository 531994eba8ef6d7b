package planning

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// quick reads the JSON that this package itself writes, in one pass and without
// copying texts: a log holds a plan for each revision, and a fold reads them
// all. It knows the exact keys, each once, and plain values. At anything else
// it gives up, and the caller asks encoding/json; where quick reads a text, both
// read the same (FuzzQuick).
type quick struct {
	s   string
	at  int
	odd bool // it gave up; what was read means nothing
}

// quickOutput is an accepted output of the tool as ParseOutput reads it, not
// yet checked; false where quick gave up.
func quickOutput(tool, output string) (Plan, bool) {
	q := quick{s: output}
	p, found := Plan{}, false
	for k := (keys{}); q.next(&k); {
		switch key := k.now(); {
		case key == "message":
			q.text()
		case key == "todos" && tool == ToolWriteTodos:
			p, found = Plan{Mode: Classic, Stages: q.stages()}, true
		case key == "plan" && tool != ToolWriteTodos:
			p, found = q.plan(), true
		default:
			q.odd = true
		}
	}
	return p, found && q.over()
}

// quickPlan is a plan's JSON; false where quick gave up.
func quickPlan(s string) (Plan, bool) {
	q := quick{s: s}
	p := q.plan()
	return p, q.over()
}

func (q *quick) plan() Plan {
	var p Plan
	for k := (keys{}); q.next(&k); {
		switch k.now() {
		case "mode":
			p.Mode = Mode(q.text())
		case "title":
			p.Title = q.text()
		case "revision":
			p.Revision = q.number()
		case "pointer":
			p.Pointer = q.number()
		case "settledAt":
			q.time(&p.SettledAt)
		case "stages":
			p.Stages = q.stages()
		default:
			q.odd = true
		}
	}
	return p
}

// stages is a list of stages, nil where it is empty.
func (q *quick) stages() []Stage {
	var stages []Stage
	if !q.take('[') {
		q.odd = true
		return nil
	}
	if q.take(']') {
		return nil
	}
	stages = make([]Stage, 0, min(strings.Count(q.s[q.at:], "{"), 64))
	for !q.odd {
		stages = append(stages, q.stage())
		if !q.take(',') {
			q.odd = !q.take(']') || q.odd
			break
		}
	}
	return stages
}

// stage is one stage, as wireStage reads it.
func (q *quick) stage() (s Stage) {
	text, label := "", ""
	for k := (keys{}); q.next(&k); {
		switch k.now() {
		case "id":
			s.ID = q.text()
		case "text":
			text = q.text()
		case "label":
			label = q.text()
		case "content":
			s.Content = q.text()
		case "deliverable":
			s.Deliverable = q.text()
		case "status":
			s.Status = Status(q.text())
		case "evidence":
			s.Evidence = q.text()
		case "advancedAt":
			q.time(&s.AdvancedAt)
		case "unverified":
			s.Unverified = q.bool()
		case "resolvedBy":
			s.ResolvedBy = q.text()
		default:
			q.odd = true
		}
	}
	if s.Content == "" {
		s.Content = text + label
	}
	return s
}

func (q *quick) time(t *time.Time) {
	q.odd = t.UnmarshalText([]byte(q.text())) != nil || q.odd
}

// keys are the keys of an object so far.
type keys struct {
	n    int
	seen [12]string
}

func (k *keys) now() string { return k.seen[k.n-1] }

// next goes to the value of the object's next key; false behind its end. A key
// that stands twice is odd.
func (q *quick) next(k *keys) bool {
	switch {
	case q.odd:
		return false
	case k.n == 0:
		q.odd = !q.take('{')
		if q.odd || q.take('}') {
			return false
		}
	case !q.take(','):
		q.odd = !q.take('}')
		return false
	}
	key := q.text()
	q.odd = q.odd || k.n == len(k.seen) || !q.take(':')
	for i := 0; i < k.n && !q.odd; i++ {
		q.odd = k.seen[i] == key
	}
	if q.odd {
		return false
	}
	k.seen[k.n] = key
	k.n++
	return true
}

// take goes over white space and then over c, if it is there.
func (q *quick) take(c byte) bool {
	q.space()
	if q.at >= len(q.s) || q.s[q.at] != c {
		return false
	}
	q.at++
	return true
}

func (q *quick) space() {
	for q.at < len(q.s) && (q.s[q.at] == ' ' || q.s[q.at] == '\n' || q.s[q.at] == '\t' || q.s[q.at] == '\r') {
		q.at++
	}
}

// text is a string's content: a view of the text where nothing in it is escaped.
func (q *quick) text() string {
	if !q.take('"') {
		q.odd = true
		return ""
	}
	start, plain := q.at, true
	for q.at < len(q.s) && q.s[q.at] != '"' {
		if c := q.s[q.at]; c == '\\' {
			q.at++
			plain = false
		} else if c < ' ' || c >= utf8.RuneSelf {
			plain = false
		}
		q.at++
	}
	if q.at >= len(q.s) {
		q.odd = true
		return ""
	}
	s := q.s[start:q.at]
	q.at++
	if plain {
		return s
	}
	return q.decoded(q.s[start-1 : q.at])
}

// decoded is the content of a string literal of any kind.
func (q *quick) decoded(literal string) (s string) {
	q.odd = json.Unmarshal([]byte(literal), &s) != nil || q.odd
	return s
}

// number is a small integer as encoding/json writes it.
func (q *quick) number() int {
	q.space()
	start := q.at
	for q.at < len(q.s) && q.s[q.at] >= '0' && q.s[q.at] <= '9' {
		q.at++
	}
	digits := q.s[start:q.at]
	n, err := strconv.Atoi(digits)
	q.odd = q.odd || err != nil || len(digits) > 9 || len(digits) > 1 && digits[0] == '0'
	return n
}

func (q *quick) bool() bool {
	q.space()
	for _, word := range []string{"true", "false"} {
		if n := q.at + len(word); n <= len(q.s) && q.s[q.at:n] == word {
			q.at = n
			return word == "true"
		}
	}
	q.odd = true
	return false
}

// over: the text was read to its end.
func (q *quick) over() bool {
	q.space()
	return !q.odd && q.at == len(q.s)
}
