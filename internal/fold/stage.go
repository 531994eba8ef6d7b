package fold

import (
	"slices"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// stage is a stage of the run's plans while they are folded. It stays when a
// plan drops it: its parts are in the sink then.
type stage struct {
	id string
	region
	listed   bool // it is in the list, and its region is a row's
	index    int  // in the list
	list     int  // the newest list that it is in, by Folder.lists
	usage    part.Usage
	files    []part.FileChange
	children []*Child
	span     span
	row      *Row // as a snapshot holds it
	stale    bool // row is to be made anew
}

// span is the time in which a stage was current.
type span struct {
	started, ended, since time.Time
	elapsed               time.Duration
}

func (s *stage) addFiles(files []part.FileChange) {
	all := slices.Clone(s.files)
	for _, file := range files {
		if !slices.ContainsFunc(all, func(f part.FileChange) bool { return f.Path == file.Path }) {
			all = append(all, file)
		}
	}
	if len(all) > len(s.files) {
		s.files, s.stale = all, true
	}
}

// ledger is what the run's plans were, and when which stage was current: enough
// to take a step back.
type ledger struct {
	plans []settledPlan
	turns []turn
}

// settledPlan is an accepted planner call.
type settledPlan struct {
	plan *planning.Plan
	step int
}

// turn: from then on the stage was current; nil for none.
type turn struct {
	stage *stage
	at    time.Time
	step  int
}

// turn notes that another stage became current.
func (l *ledger) turn(at time.Time, to *stage, step int) {
	var from *stage
	if n := len(l.turns); n > 0 {
		from = l.turns[n-1].stage
	}
	if from == to {
		return
	}
	l.turns = append(l.turns, turn{to, at, step})
	if from != nil {
		from.span.stop(at)
	}
	if to != nil {
		to.span.start(at)
	}
}

func (s *span) start(at time.Time) {
	if s.started.IsZero() {
		s.started = at
	}
	s.since, s.ended = at, time.Time{}
}

func (s *span) stop(at time.Time) {
	s.elapsed += max(at.Sub(s.since), 0)
	s.since, s.ended = time.Time{}, at
}

// back takes the accepted calls and turns of a step back; false where it had
// none.
func (l *ledger) back(step int) bool {
	plans := slices.DeleteFunc(l.plans, func(p settledPlan) bool { return p.step == step })
	if len(plans) == len(l.plans) {
		return false
	}
	l.plans = plans
	turns := slices.DeleteFunc(slices.Clone(l.turns), func(t turn) bool { return t.step == step })
	for _, t := range l.turns {
		if t.stage != nil {
			t.stage.span = span{}
		}
	}
	l.turns = nil
	for _, t := range turns {
		l.turn(t.at, t.stage, t.step)
	}
	return true
}

// currentOf is the index of the stage that is current in a list: the one in
// progress, else the last terminal one, else the first; -1 where none is open.
func currentOf(list []planning.Stage) int {
	current, open := 0, false
	for i, s := range list {
		switch {
		case s.Status.IsActive():
			return i
		case s.Status.IsTerminal():
			current = i
		default:
			open = true
		}
	}
	if !open {
		return -1
	}
	return current
}
