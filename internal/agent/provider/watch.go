package provider

import (
	"context"
	"errors"
	"time"
)

// DefaultSilence is the silence limit where none is set.
const DefaultSilence = 120 * time.Second

// errSilence is the cause with which a watch cancels a call.
var errSilence = errors.New("the provider was silent for too long")

// watch cancels a call when the provider sends no byte for limit. It counts
// only while somebody waits for the provider, not while the answer is used.
type watch struct {
	limit time.Duration
	timer *time.Timer
}

func newWatch(limit time.Duration, cancel context.CancelCauseFunc) *watch {
	if limit <= 0 {
		limit = DefaultSilence
	}
	w := &watch{limit: limit, timer: time.AfterFunc(limit, func() { cancel(errSilence) })}
	w.disarm()
	return w
}

func (w *watch) arm()    { w.timer.Reset(w.limit) }
func (w *watch) disarm() { w.timer.Stop() }
