package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Three instances share Postgres and NATS: each shows a run that another one
// works on, stops it, and hands it its answer.
func TestAnyInstanceShowsStopsAndAnswers(t *testing.T) {
	c := newCluster(t)
	list := c.apps(3)
	c.model.hold(placeWord(c.model.callOf(0), 20))
	chat := list[0].newChat(planning.Metronome)
	id := list[0].send(chat, "m1", "task: plan").RunID
	_, other := owner(t, list, id)
	page, reader := other.openPage(chat, true), other.follow("another instance", id)
	eventually(t, "the words on another instance's page", func() bool { return strings.Contains(page.text(), "w0-20") })
	c.model.hold("")
	for i, s := range list {
		if r := s.wait(id, ended); r.State != "finished" {
			t.Errorf("instance %d: %s", i, r.State)
		}
	}
	reader.checkSeen(t, checkSame(t, list, id))
	eventually(t, "the end on the page", func() bool { return strings.Contains(page.text(), `"finished"`) })
	c.checkFiles()

	c.model.hold(placeWord(c.model.callOf(1), 3))
	id = list[1].send(list[1].newChat(planning.Metronome), "m1", "task: plan").RunID
	_, other = owner(t, list, id)
	other.seen(id, "text", textHas("w1-3 "))
	var out struct{ Result string }
	from := time.Now()
	other.call("POST", "/api/runs/"+id+"/stop", nil, &out)
	if r := other.wait(id, ended); r.State != "stopped" || out.Result != "delivered" {
		t.Errorf("stop from another instance: %s, %s", out.Result, r.State)
	}
	if d := time.Since(from); d > time.Second {
		t.Errorf("the stop took %s", d)
	}
	c.model.hold("")
	checkSame(t, list, id)

	for _, task := range []string{"task: ask", "task: close"} {
		chat = list[2].newChat(planning.Metronome)
		id = list[2].send(chat, "m1", task).RunID
		_, other = owner(t, list, id)
		other.wait(id, waits)
		if got := other.send(chat, "m2", "Red, please"); got.State != "answered" || got.RunID != id {
			t.Errorf("%s: the answer came to %+v", task, got)
		}
		if r := other.wait(id, ended); r.State != "finished" {
			t.Errorf("%s: %s", task, r.State)
		}
		checkSame(t, list, id)
	}
}

// NATS is away: what happens is still shown, stored, stopped and answered, only
// later; a new run begins when NATS is back.
func TestNATSAwayAndBack(t *testing.T) {
	c := newCluster(t)
	list := c.apps(2)
	c.model.hold(placeWord(c.model.callOf(0), 10))
	chat := list[0].newChat(planning.Metronome)
	id := list[0].send(chat, "m1", "task: plan").RunID
	_, other := owner(t, list, id)
	page, reader := other.openPage(chat, true), other.follow("another instance", id)
	eventually(t, "the first words", func() bool { return strings.Contains(page.text(), "w0-10") })

	waiting := list[0].newChat(planning.Metronome)
	waitingID := list[0].send(waiting, "m1", "task: ask").RunID
	_, otherOfWaiting := owner(t, list, waitingID)
	otherOfWaiting.wait(waitingID, waits)
	toStop := list[0].send(list[0].newChat(planning.Metronome), "m1", "task: close").RunID
	_, otherOfStop := owner(t, list, toStop)
	otherOfStop.wait(toStop, waits)

	c.nats.shut()
	for _, s := range list {
		eventually(t, "NATS away", func() bool { return !s.bus.Connected() })
	}
	c.model.hold(placeWord(c.model.callOf(1), 30))
	within(t, 5*time.Second, "words while NATS is away", func() bool { return strings.Contains(page.text(), "w1-30") })
	if got := otherOfWaiting.send(waiting, "m2", "Red, please"); got.State != "answered" {
		t.Errorf("an answer while NATS is away: %+v", got)
	}
	if r := otherOfWaiting.wait(waitingID, ended); r.State != "finished" {
		t.Errorf("answered while NATS is away: %s", r.State)
	}
	var out struct{ Result string }
	otherOfStop.call("POST", "/api/runs/"+toStop+"/stop", nil, &out)
	if r := otherOfStop.wait(toStop, ended); r.State != "stopped" {
		t.Errorf("stopped while NATS is away: %s", r.State)
	}
	late := list[1].send(list[1].newChat(planning.Metronome), "m1", "task: talk")
	c.model.hold("")
	if r := other.wait(id, ended); r.State != "finished" {
		t.Errorf("ended while NATS is away: %s", r.State)
	}
	eventually(t, "the end on the page", func() bool { return strings.Contains(page.text(), `"finished"`) })
	c.nats.open()
	if r := list[0].wait(late.RunID, ended); r.State != "finished" {
		t.Errorf("a run that was sent while NATS was away: %s", r.State)
	}
	for _, run := range []string{waitingID, toStop, late.RunID} {
		checkSame(t, list, run)
	}
	reader.checkSeen(t, checkSame(t, list, id))
	c.checkFiles()
}

// The database is away for a while: every instance says so, and the run goes on
// where it was when it is back.
func TestDatabaseAwayAndBack(t *testing.T) {
	c := newCluster(t)
	list := c.apps(2)
	c.model.hold(placeWord(c.model.callOf(1), 10))
	chat := list[0].newChat(planning.Metronome)
	id := list[0].send(chat, "m1", "task: plan").RunID
	_, other := owner(t, list, id)
	reader := other.follow("another instance", id)
	other.seen(id, "text", textHas("w1-10 "))
	for range 3 {
		c.db.shut()
		for _, s := range list {
			eventually(t, "healthz says so", func() bool { return s.call("GET", "/healthz", nil, nil) == 503 })
		}
		c.model.hold(placeBefore(c.model.callOf(2))) // words come while nothing can be stored
		if code := other.call("GET", "/api/runs/"+id, nil, nil); code < 500 {
			t.Errorf("a read without a database: %d", code)
		}
		c.db.open()
		for _, s := range list {
			eventually(t, "healthz", func() bool { return s.call("GET", "/healthz", nil, nil) == 200 })
		}
	}
	c.model.hold("")
	if r := other.wait(id, ended); r.State != "finished" || len(r.Stages) != c.model.stages {
		t.Errorf("ended as %s with %d stages", r.State, len(r.Stages))
	}
	reader.checkSeen(t, checkSame(t, list, id))
	c.checkFiles()
	if r := list[1].wait(list[1].send(chat, "m2", "task: talk").RunID, ended); r.State != "finished" {
		t.Errorf("the next message: %s", r.State)
	}
}

// The database is away for longer than a commit is tried: the run is left, and
// goes on by itself when it is back.
func TestDatabaseAwayForLong(t *testing.T) {
	c := newCluster(t)
	cfg := c.config()
	cfg.patience = 300 * time.Millisecond
	s := startServer(t, cfg)
	c.model.hold(placeWord(c.model.callOf(1), 10))
	id := s.send(s.newChat(planning.Metronome), "m1", "task: plan").RunID
	before := s.seen(id, "text", textHas("w1-10 "))
	c.db.shut()
	c.model.hold(placeWord(c.model.callOf(2), 10)) // words and calls that cannot be stored
	eventually(t, "the run left", func() bool { return !s.runs.Live(id) })
	c.model.hold("")
	c.db.open()
	if r := s.wait(id, ended); r.State != "finished" || len(r.Stages) != c.model.stages {
		t.Errorf("ended as %s with %d stages", r.State, len(r.Stages))
	}
	log := s.entriesAfter(id, 0)
	if lost := lostText(before, log); lost != "" {
		t.Errorf("text is gone: %q", lost)
	}
	checkNotRunAgain(t, "left", before, log)
	checkFolds(t, "left", log)
	c.checkFiles()
}

// An instance that ends in order hands its run over at once.
func TestHandOverIsAtOnce(t *testing.T) {
	c := newCluster(t)
	list := c.apps(2)
	c.model.hold(placeWord(c.model.callOf(1), 10))
	chat := list[0].newChat(planning.Metronome)
	id := list[0].send(chat, "m1", "task: plan").RunID
	first, other := owner(t, list, id)
	reader := other.follow("the next owner", id)
	before := other.seen(id, "text", textHas("w1-10 "))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	from := time.Now()
	first.endStreams(ctx)
	if err := first.close(ctx); err != nil {
		t.Fatal(err)
	}
	other.seen(id, "the next owner", has(func(e *part.Entry) bool { return e.Type == part.Resume }))
	if d := time.Since(from); d > 1500*time.Millisecond {
		t.Errorf("the hand-over took %s", d)
	}
	c.model.hold("")
	if r := other.wait(id, ended); r.State != "finished" {
		t.Errorf("ended as %s", r.State)
	}
	log := checkSame(t, []*server{other}, id)
	checkNotRunAgain(t, "handed over", before, log)
	reader.checkSeen(t, log)
	c.checkFiles()
}

// takenOver: the owner in a process of its own is killed or frozen, and the
// other instance goes on within 11 s. It gives both, and what was seen.
func takenOver(t *testing.T, c *cluster, end func(owner *process)) (id string, owner, other *process, r *reader, before []*part.Entry) {
	t.Helper()
	owner = c.process()
	c.model.hold(placeWord(c.model.callOf(1), 10))
	chat := owner.newChat(planning.Metronome)
	id = owner.send(chat, "m1", "task: plan").RunID
	owner.seen(id, "text", textHas("w1-10 "))
	other = c.process()
	r = other.follow("the next owner", id)
	page := other.openPage(chat, true)
	eventually(t, "the page shows it", func() bool { return strings.Contains(page.text(), "w1-10") })
	before = other.entriesAfter(id, 0)
	from := time.Now()
	end(owner)
	within(t, 15*time.Second, "another owner", func() bool {
		return has(func(e *part.Entry) bool { return e.Type == part.Resume })(other.entriesAfter(id, int64(len(before))))
	})
	t.Logf("taken over after %s", time.Since(from))
	return id, owner, other, r, before
}

// kill -9 of the owner: another instance goes on within 11 s.
func TestAnotherInstanceTakesOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	from := time.Time{}
	id, _, other, reader, before := takenOver(t, c, func(p *process) { p.kill(); from = time.Now() })
	if d := time.Since(from); d > 11*time.Second {
		t.Errorf("taken over after %s", d)
	}
	c.model.hold("")
	if r := other.wait(id, ended); r.State != "finished" || len(r.Stages) != c.model.stages {
		t.Errorf("ended as %s with %d stages", r.State, len(r.Stages))
	}
	log := checkSame(t, []*server{other.server}, id)
	checkNotRunAgain(t, "taken over", before, log)
	reader.checkSeen(t, log)
	c.checkFiles()
}
