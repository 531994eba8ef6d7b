// Package rehearsal is a model that needs no key: a script that drives the real
// loop and the real tools, and says only what it read. It knows nothing but the
// request: what to do next follows from the calls so far and their results.
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

// New returns the rehearsal model. It takes pace for each word; 0 waits never.
func New(pace time.Duration) agent.Model { return model{pace} }

// Stream answers one request. Equal requests get equal answers.
func (m model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		r := newScript(look(req)).next()
		newSpeaker(ctx, m.pace, yield).reply(r, req)
	}
}

// reply is one answer of the model.
type reply struct {
	reasoning string
	text      string
	calls     []order
	failure   *agent.ProviderError // the answer breaks off with it
}

// order is a tool call that the script wants.
type order struct {
	tool  string
	input string // a JSON object
}
