package agent

import "context"

// Run works on the job until the run has ended and returns how. It writes to
// log from one goroutine only. Cancelling ctx with the cause ErrStopRequested
// ends the run as stopped; any other cause abandons it: nothing more is
// written, and Outcome.Err says why.
func Run(ctx context.Context, job Job, log Log) Outcome {
	return work(ctx, job, log, newInbox())
}

func work(ctx context.Context, job Job, log Log, in *inbox) Outcome {
	<-ctx.Done()
	return Outcome{Err: context.Cause(ctx)}
}
