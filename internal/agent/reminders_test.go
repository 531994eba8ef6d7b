package agent

import "testing"

func TestReminders(t *testing.T) {
	var r reminders
	if got := r.take(); got != "" {
		t.Fatalf("an empty set gave %q", got)
	}
	r.set("todos", "first")
	r.set("todos", "second") // upsert
	r.set("once:plan", "now or never")
	r.set("baseline", "a <b> c")
	want := "<task_reminder>\na \\u003cb> c\nnow or never\nsecond\n</task_reminder>"
	if got := r.take(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want = "<task_reminder>\na \\u003cb> c\nsecond\n</task_reminder>"
	for range 2 {
		if got := r.take(); got != want {
			t.Errorf("later: got %q, want %q", got, want)
		}
	}
	r.set("todos", "")
	r.set("baseline", "")
	if got := r.take(); got != "" {
		t.Errorf("a cleared set gave %q", got)
	}
}
