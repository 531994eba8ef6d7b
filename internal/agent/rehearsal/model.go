// Package rehearsal is a model that needs no key: a script that drives the real
// loop and the real tools, and says only what it read.
package rehearsal

import (
	"context"
	"iter"
	"time"

	"stagefold/internal/agent"
)

// Name is what the product calls the model.
const Name = "rehearsal"

type model struct{ pace time.Duration }

// New returns the rehearsal model. It takes pace for each word; 0 does not wait.
func New(pace time.Duration) agent.Model { return model{pace} }

// Stream answers one request, which is all that it knows.
func (m model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {}
}
