package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

func TestShutdownAbandonsAndRefuses(t *testing.T) {
	runs := NewRuns()
	var done sync.WaitGroup
	for i := range 8 {
		tr := try(t, planning.None, hangs(say("Thinking")))
		tr.job.RunID = fmt.Sprint(i)
		done.Add(1)
		err := runs.Start(tr.job, tr.log, func(o Outcome) {
			defer done.Done()
			if !errors.Is(o.Err, ErrShutdown) {
				t.Errorf("outcome %+v", o)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := runs.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	if runs.Live("0") {
		t.Error("a run is still live")
	}
	tr := try(t, planning.None, answers(stops()))
	if err := runs.Start(tr.job, tr.log, nil); !errors.Is(err, ErrShutdown) {
		t.Errorf("starting after a shutdown: %v", err)
	}
}

func TestShutdownWaitsNoLongerThanItsContext(t *testing.T) {
	free := make(chan struct{})
	runs := NewRuns()
	tr := try(t, planning.None, func(context.Context, func(Chunk, error) bool) { <-free })
	gone := make(chan struct{})
	if err := runs.Start(tr.job, tr.log, func(Outcome) { close(gone) }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runs.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("shutdown: %v", err)
	}
	close(free)
	<-gone
}

// done may start the next run of the chat at once.
func TestDoneMayStartTheNextRun(t *testing.T) {
	runs := NewRuns()
	outcome := make(chan Outcome, 1)
	first, second := try(t, planning.None, answers(say("One."), stops())), try(t, planning.None, answers(say("Two."), stops()))
	err := runs.Start(first.job, first.log, func(Outcome) {
		if err := runs.Start(second.job, second.log, func(o Outcome) { outcome <- o }); err != nil {
			t.Error(err)
			outcome <- Outcome{}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if out := <-outcome; out.State != part.Finished {
		t.Errorf("outcome %+v", out)
	}
}
