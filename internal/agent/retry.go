package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"stagefold/internal/part"
)

// maxRetries bounds the automatic retries of one model call.
const maxRetries = 2

// maxRetryAfter is the longest time that a provider may ask to wait.
const maxRetryAfter = 2 * time.Minute

// ask makes the step's model call. It is repeated only while nothing of the
// answer was shown, for errors of a retryable kind.
func (r *run) ask(req Request) (*answer, error) {
	var usage part.Usage
	for n := 1; ; n++ {
		a, err := r.listen(r.ctx, req)
		a.usage = a.usage.Plus(usage)
		failed, ok := AsProviderError(err)
		if !ok || !failed.Retryable || a.shown || n > maxRetries || failed.RetryAfter > maxRetryAfter {
			return a, err
		}
		usage = a.usage
		wait := max(r.limits.Backoff(n), failed.RetryAfter)
		if err := r.emit(retryNotice(failed, n, wait)); err != nil {
			return a, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.ctx.Done():
			timer.Stop()
			return a, context.Cause(r.ctx)
		}
	}
}

// retryNotice says on the page that a model call is repeated.
func retryNotice(p *ProviderError, n int, wait time.Duration) *part.Entry {
	text := fmt.Sprintf("retry %d of %d: %s", n, maxRetries, p.Message)
	if wait > 0 {
		text = fmt.Sprintf("retry %d of %d in %s: %s", n, maxRetries, wait.Round(time.Second), p.Message)
	}
	data, _ := json.Marshal(part.NoticeData{Kind: "retry", Text: oneLine(text, 500)})
	return &part.Entry{Type: part.DataNotice, Data: data}
}
