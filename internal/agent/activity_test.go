package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func TestReflectLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"first sentence", "I read the file. Now I write.", "I read the file."},
		{"whole text without an end", "reading on", "reading on"},
		{"a dot inside a word ends nothing", "Version 1.2 of a.txt is old! Next.", "Version 1.2 of a.txt is old!"},
		{"a line ends it", "# Findings\nThe cause is known.", "Findings"},
		{"markup at the start goes", "**Bold** claim. More.", "Bold** claim."},
		{"Chinese full stop needs no space", "读完了。下一步", "读完了。"},
		{"white space becomes one space", "one\ttwo  three.", "one two three."},
		{"control characters go", "a\x1b[31mb.", "a [31mb."},
		{"blank", " \n ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reflectLine(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	long := reflectLine(strings.Repeat("wörter ", 60) + ".")
	if n := utf8.RuneCountInString(long); n > activityCap || !strings.HasSuffix(long, "…") {
		t.Errorf("%d characters: %q", n, long)
	}
}

func TestSubject(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{"path":"a.txt","content":"x"}`, "read a.txt"},
		{`{"command":"ls -l","path":""}`, "read ls -l"},
		{`{"other":"x"}`, "read"},
		{`{"path":7}`, "read"},
		{`[]`, "read"},
	} {
		if got := actLine("read", json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.input, got, tt.want)
		}
	}
}

// The four phases of a run with a plan, in the order in which they happened;
// what the planner's calls came to is the Plan phase, refusals included.
func TestPhasesOfAPlannedRun(t *testing.T) {
	advance := func(id string) []Chunk { return calls(id, "advance", `{"evidence":"seen"}`) }
	tr := try(t, planning.Metronome,
		answers(say("Two things to do."), calls("p1", "plan", stages("a", "b")), advance("v0"), tools()),
		answers(reads("w1"), advance("v1"), calls("p2", "plan", stages("b")), tools()),
		answers(calls("k1", "complete", `{}`), calls("w2", "read_file", `{"path":1}`), tools()),
		answers(say("Read again."), reads("w3"), advance("v2"), calls("k2", "complete", `{}`), tools()))
	tr.ended(part.Finished, part.ReasonStop)
	var got []string
	for _, e := range tr.log.Entries() {
		if e.Type == part.DataActivity {
			var a part.ActivityData
			if err := json.Unmarshal(e.Data, &a); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %s: %s", e.Step, a.Phase, a.Summary))
		}
	}
	want := []string{
		"1 plan: planned 2 stages - do a",
		"1 plan: advance refused",
		"1 reflect: Two things to do.",
		"2 act: read_file a",
		"2 obs: read_file: 1 line",
		"2 plan: 1/2 done - do b",
		"2 plan: 1/2 done, unchanged - do b",
		"3 plan: complete refused, 1 open",
		"3 obs: read_file: got number, want string",
		"4 act: read_file a",
		"4 obs: read_file: 1 line",
		"4 plan: 2/2 done",
		"4 plan: run completed",
		"4 reflect: Read again.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The Plan phase says what the list came to, whichever planner wrote it.
func TestPlanLine(t *testing.T) {
	apply := func(s planning.State, tool, input string) planning.State {
		return planning.Apply(s, planning.Call{Tool: tool, Input: json.RawMessage(input)}, planning.NormalLimits()).State
	}
	for _, mode := range planners {
		tool, first, second := lists(mode)
		none := planning.NewState(mode)
		one := apply(none, tool, first)
		two := apply(one, tool, second)
		carried, _ := planning.Carry(one)
		active, total := "a", 3
		switch mode {
		case planning.Metronome:
			active = "do a"
		case planning.Checklist:
			total = 2
		}
		for _, c := range []struct{ got, want string }{
			{planLine(none, one), "planned 2 stages - " + active},
			{planLine(one, two), fmt.Sprintf("0/%d done - %s", total, active)},
			{planLine(one, apply(one, tool, first)), "0/2 done, unchanged - " + active},
			{planLine(carried, apply(carried, tool, first)), "planned 2 stages - " + active},
		} {
			if c.got != c.want {
				t.Errorf("%s: %q, want %q", mode, c.got, c.want)
			}
		}
	}
	list := apply(planning.NewState(planning.Checklist), "update_plan", `{"steps":[{"text":"a","status":"pending"}]}`)
	if got := planLine(list, apply(list, "update_plan", `{"steps":[]}`)); got != "plan cleared" {
		t.Errorf("cleared: %q", got)
	}
}
