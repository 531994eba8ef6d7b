package agent

import (
	"context"
	"time"
)

// clock is the time budget of a run; it stands still while the run waits for
// the user. One goroutine uses it.
type clock struct {
	left    time.Duration
	since   time.Time
	timer   *time.Timer // nil while it stands still
	expired context.CancelCauseFunc
}

// start lets the time pass.
func (c *clock) start() {
	if c.timer != nil {
		return
	}
	c.since = time.Now()
	c.timer = time.AfterFunc(c.left, func() { c.expired(errRunTimeout) })
}

// stop lets it stand still.
func (c *clock) stop() {
	if c.timer == nil {
		return
	}
	c.timer.Stop()
	c.timer = nil
	c.left -= time.Since(c.since)
}
