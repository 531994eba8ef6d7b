package agent

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func TestMemoryLogNumbersAndJoins(t *testing.T) {
	var l MemoryLog
	var told int
	l.Committed = func(entries []*part.Entry) { told += len(entries) }
	for _, e := range []*part.Entry{
		{Type: part.TextStart, ID: "a"},
		{Type: part.TextDelta, ID: "a", Delta: "x"}, {Type: part.TextDelta, ID: "a", Delta: "y"},
		{Type: part.TextDelta, ID: "b", Delta: "z"},
		{Type: part.TextEnd, ID: "a"},
		{Type: part.TextDelta, ID: "b", Delta: "w"},
	} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []*part.Entry{
		{Seq: 1, Type: part.TextStart, ID: "a"},
		{Seq: 2, Type: part.TextDelta, ID: "a", Delta: "xy"},
		{Seq: 3, Type: part.TextDelta, ID: "b", Delta: "z"},
		{Seq: 4, Type: part.TextEnd, ID: "a"},
		{Seq: 5, Type: part.TextDelta, ID: "b", Delta: "w"},
	}
	if diff := cmp.Diff(want, l.Entries()); diff != "" {
		t.Error(diff)
	}
	if told != 5 || l.Commits() != 3 {
		t.Errorf("told of %d entries in %d commits", told, l.Commits())
	}
}

func TestMemoryLogStoresNothingOfAFailedCommit(t *testing.T) {
	full := errors.New("disk full")
	l := MemoryLog{Fail: func(n int) error {
		if n == 2 || n == 4 {
			return full
		}
		return nil
	}}
	ctx := t.Context()
	state := planning.State{HasPlan: true}
	step := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	step("start", l.Append(&part.Entry{Type: part.Start}), nil)
	step("a plan that is not stored", l.CommitPlan(ctx, state, &part.PlanData{}, &part.Entry{Type: part.DataPlan}), full)
	step("going on after it", l.Append(&part.Entry{Type: part.StartStep}), nil)
	step("losing an entry", l.Append(&part.Entry{Type: part.TextStart, ID: "a"}), nil)
	step("learning of it", l.Append(&part.Entry{Type: part.TextEnd, ID: "a"}), full)
	step("learning again", l.Sync(ctx), full)
	step("the end", l.Finish(ctx, nil, &part.Entry{Type: part.Finish}), nil)
	step("after the end", l.Append(&part.Entry{Type: part.StartStep}), nil)
	step("a second end", l.Finish(ctx, nil, &part.Entry{Type: part.Finish}), nil)

	var types []part.Type
	for _, e := range l.Entries() {
		types = append(types, e.Type)
	}
	if diff := cmp.Diff([]part.Type{part.Start, part.StartStep, part.Finish}, types); diff != "" {
		t.Error(diff)
	}
	if len(l.Revisions()) != 0 {
		t.Error("a revision of the failed commit is there")
	}
}
