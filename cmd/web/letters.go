package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"stagefold/internal/agent"
	"stagefold/internal/bus"
	"stagefold/internal/part"
	"stagefold/internal/store"
)

// A letter tells a run's owner of a stop or an answer that the database holds.
// Letters get lost: the owner died, or NATS is away. What they say does not: an
// owner looks for it when its run begins to wait, and every now and then.

// letters knows the runs that this process works on, and which messages they
// were handed as answers, so that each is handed over once.
type letters struct {
	mu   sync.Mutex
	held map[string]heldRun // by run id
	bell chan struct{}      // look now
}

// heldRun is a run that this process works on.
type heldRun struct {
	epoch  int64           // of its claim
	handed map[string]bool // message ids
}

func newLetters() *letters {
	return &letters{held: map[string]heldRun{}, bell: make(chan struct{}, 1)}
}

func (l *letters) begin(runID string, epoch int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[runID] = heldRun{epoch: epoch, handed: map[string]bool{}}
}

func (l *letters) end(runID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, runID)
}

// holds gives the epoch of a run that is worked on here.
func (l *letters) holds(runID string) (epoch int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.held[runID]
	return r.epoch, ok
}

func (l *letters) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held) == 0
}

// deliver hands a letter to the run, if it is live here.
func (d *dispatcher) deliver(runID string, l bus.Letter) bool {
	switch l.Kind {
	case "stop":
		return d.runs.Stop(runID)
	case "answer":
		return d.answer(runID, agent.Answer{MessageID: l.MessageID, ToolCallID: l.ToolCallID, Text: l.Text})
	}
	return false
}

// answer hands the run an answer; one that is a stored message only once.
func (d *dispatcher) answer(runID string, a agent.Answer) bool {
	d.letters.mu.Lock()
	defer d.letters.mu.Unlock()
	handed := d.letters.held[runID].handed
	if handed[a.MessageID] {
		return true
	}
	if d.runs.Answer(runID, a) != nil {
		return false
	}
	if handed != nil && a.MessageID != "" {
		handed[a.MessageID] = true
	}
	return true
}

// tell hands a letter to the run here or to its owner elsewhere.
func (d *dispatcher) tell(ctx context.Context, runID string, l bus.Letter) bool {
	if d.deliver(runID, l) {
		return true
	}
	ok, err := d.bus.Tell(ctx, runID, l)
	if err != nil {
		d.log.Warn("letter was not delivered", slog.String("run", runID), slog.Any("err", err))
	}
	return ok
}

// lookForLetters has catchUp look at once; it never blocks.
func (d *dispatcher) lookForLetters() {
	select {
	case d.letters.bell <- struct{}{}:
	default:
	}
}

// catchUp hands the runs here what stands in the database for them and did not
// reach them.
func (d *dispatcher) catchUp(ctx context.Context) {
	tick := time.NewTicker(d.cfg.lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-d.letters.bell:
		case <-ctx.Done():
			return
		}
		if d.letters.idle() {
			continue
		}
		if err := d.catchUpOnce(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("stops and answers were not looked for", slog.Any("err", err))
		}
	}
}

func (d *dispatcher) catchUpOnce(ctx context.Context) error {
	open, err := d.db.Leftovers(ctx)
	if err != nil {
		return err
	}
	for _, run := range open {
		epoch, ok := d.letters.holds(run.ID)
		if !ok {
			continue
		}
		if run.CancelRequested || run.Epoch > epoch {
			d.runs.Stop(run.ID) // one that another worker claimed is fenced: it writes nothing
			continue
		}
		if run.State != part.Waits {
			continue
		}
		pending, err := d.pendingAnswers(ctx, run)
		if err != nil {
			return err
		}
		for _, m := range pending {
			if !d.answer(run.ID, agent.Answer{MessageID: m.ID, Text: m.Text}) {
				break // the run waits for nothing now
			}
		}
	}
	return nil
}

// pendingAnswers are the messages that answered the run and are not in its log,
// oldest first.
func (d *dispatcher) pendingAnswers(ctx context.Context, run store.Run) ([]store.Message, error) {
	pending, err := d.db.PendingAnswers(ctx, run.ID)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	log, err := d.db.Entries(ctx, run.ID, 0, 0)
	if err != nil {
		return nil, err
	}
	logged := answersIn(log)
	kept := pending[:0]
	for _, m := range pending {
		if !logged[m.ID] {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// answersIn are the ids of the messages that a log has as answers.
func answersIn(log []*part.Entry) map[string]bool {
	ids := map[string]bool{}
	for _, e := range log {
		var a part.AnswerData
		if e.Type == part.DataAnswer && json.Unmarshal(e.Data, &a) == nil && a.MessageID != "" {
			ids[a.MessageID] = true
		}
	}
	return ids
}
