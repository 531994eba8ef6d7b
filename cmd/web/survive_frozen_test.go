package main

import (
	"strings"
	"syscall"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

const fencedLine = "run was taken over by another worker"

// A frozen owner is replaced; when it thaws it is fenced: it adds nothing to the
// log, and takes other runs as before.
func TestAFrozenOwnerIsFenced(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	id, frozen, other, reader, before := takenOver(t, c, func(p *process) { p.signal(syscall.SIGSTOP) })
	frozen.signal(syscall.SIGCONT)
	c.model.hold("")
	eventually(t, "the fenced owner says so", func() bool { return strings.Contains(frozen.log.String(), fencedLine) })
	if r := other.wait(id, ended); r.State != "finished" || len(r.Stages) != c.model.stages {
		t.Errorf("ended as %s with %d stages", r.State, len(r.Stages))
	}
	log := checkSame(t, []*server{other.server, frozen.server}, id)
	checkNotRunAgain(t, "after the frost", before, log)
	reader.checkSeen(t, log)
	c.checkFiles()
	other.terminate()
	if r := frozen.wait(frozen.send(frozen.newChat(planning.Metronome), "m1", "task: talk").RunID, ended); r.State != "finished" {
		t.Errorf("a new run after the frost: %s", r.State)
	}
}

// The same while the run waits for the user, when its owner has nothing to
// write: it learns that it was replaced, and the answer, given to the old owner,
// reaches the new one.
func TestAFrozenOwnerOfAWaitingRunIsFenced(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	frozen := c.process()
	chat := frozen.newChat(planning.Metronome)
	id := frozen.send(chat, "m1", "task: ask").RunID
	frozen.wait(id, waits)
	other := c.process()
	frozen.signal(syscall.SIGSTOP)
	resumed := has(func(e *part.Entry) bool { return e.Type == part.Resume })
	other.seen(id, "another owner", resumed)
	frozen.signal(syscall.SIGCONT)
	other.wait(id, waits)
	if got := frozen.send(chat, "m2", "Red, please"); got.State != "answered" {
		t.Errorf("the answer came to %+v", got)
	}
	eventually(t, "the fenced owner says so", func() bool { return strings.Contains(frozen.log.String(), fencedLine) })
	checkAnswered(t, other.server, c.model, chat, id, 2)
	checkSame(t, []*server{other.server, frozen.server}, id)
}
