package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	jobStream   = "STAGEFOLD_JOBS"
	jobSubject  = "stagefold.jobs."
	jobConsumer = "workers"
)

// Verdict is what a worker says of a job when it leaves it.
type Verdict int

const (
	// Done: the run is terminal; the job is gone.
	Done Verdict = iota
	// Later: not now; the job comes again in a moment.
	Later
	// Lost: another worker has the run; this one says nothing more of the job.
	Lost
	// HandOver: this worker ends; the job goes to another one at once.
	HandOver
)

// ensure makes the stream and its consumer where they are missing.
func (b *Bus) ensure(ctx context.Context) error {
	storage := jetstream.MemoryStorage
	if b.o.URL != "" {
		storage = jetstream.FileStorage
	}
	_, err := b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: jobStream, Subjects: []string{jobSubject + "*"}, Retention: jetstream.WorkQueuePolicy, Storage: storage,
		// One message a run: a second one is refused while the first is there.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	if err != nil {
		return fmt.Errorf("ensure the job stream: %w", err)
	}
	_, err = b.js.CreateOrUpdateConsumer(ctx, jobStream, jetstream.ConsumerConfig{
		Durable: jobConsumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: b.o.AckWait, MaxAckPending: 10_000, MaxDeliver: -1,
	})
	if err != nil {
		return fmt.Errorf("ensure the job consumer: %w", err)
	}
	return nil
}

// Enqueue makes a job for a run. A job that is there already stays; that is no
// error.
func (b *Bus) Enqueue(ctx context.Context, runID string) error {
	_, err := b.js.Publish(ctx, jobSubject+runID, nil)
	if err != nil && !strings.Contains(err.Error(), "maximum messages per subject exceeded") {
		return fmt.Errorf("enqueue run %s: %w", runID, err)
	}
	return nil
}

// Reconcile makes a job for each run that list names, now and every o.Reconcile
// until ctx ends; it mends the stream and the consumer where they were lost.
func (b *Bus) Reconcile(ctx context.Context, list func(context.Context) ([]string, error)) {
	tick := time.NewTicker(b.o.Reconcile)
	defer tick.Stop()
	for {
		if err := b.reconcileOnce(ctx, list); err != nil && ctx.Err() == nil {
			b.o.Logger.Warn("jobs were not reconciled", slog.Any("err", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (b *Bus) reconcileOnce(ctx context.Context, list func(context.Context) ([]string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, b.o.Reconcile)
	defer cancel()
	if err := b.ensure(ctx); err != nil {
		return err
	}
	runs, err := list(ctx)
	if err != nil {
		return fmt.Errorf("list open runs: %w", err)
	}
	for _, id := range runs {
		if err := b.Enqueue(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Work takes jobs until ctx ends, each in a goroutine of its own, at most n at
// once, and returns when all of them have. handle gets ctx and keeps the job for
// as long as it runs.
func (b *Bus) Work(ctx context.Context, n int, handle func(ctx context.Context, runID string) Verdict) {
	var jobs sync.WaitGroup
	defer jobs.Wait()
	slots := make(chan struct{}, n)
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		msg, err := b.next(ctx)
		if err != nil {
			<-slots
			if ctx.Err() == nil && !errors.Is(err, jetstream.ErrNoMessages) && !errors.Is(err, context.DeadlineExceeded) {
				pause(ctx, 200*time.Millisecond)
			}
			continue
		}
		jobs.Go(func() {
			defer func() { <-slots }()
			b.keep(ctx, msg, handle)
		})
	}
}

// next pulls one job. The pull expires before AckWait, else the server would
// hand the job back to a worker that is frozen.
func (b *Bus) next(ctx context.Context) (jetstream.Msg, error) {
	consumer, err := b.js.Consumer(ctx, jobStream, jobConsumer)
	if err != nil {
		return nil, err
	}
	wait := min(b.o.AckWait/2, 2*time.Second)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return consumer.Next(jetstream.FetchContext(ctx))
}

// keep runs handle and says in between that the worker lives.
func (b *Bus) keep(ctx context.Context, msg jetstream.Msg, handle func(context.Context, string) Verdict) {
	runID := strings.TrimPrefix(msg.Subject(), jobSubject)
	over := make(chan struct{})
	var beat sync.WaitGroup
	beat.Go(func() {
		tick := time.NewTicker(b.o.AckWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = msg.InProgress() // NATS may be away; the database fences a worker that lost its job
			case <-over:
				return
			}
		}
	})
	verdict := handle(ctx, runID)
	close(over)
	beat.Wait()
	var err error
	switch verdict {
	case Done:
		err = msg.Ack()
	case Later:
		err = msg.NakWithDelay(time.Second)
	case HandOver:
		err = msg.Nak()
		if err == nil {
			err = b.conn.FlushTimeout(time.Second)
		}
	}
	if err != nil {
		b.o.Logger.Debug("a job was not answered", slog.String("run", runID), slog.Any("err", err))
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
