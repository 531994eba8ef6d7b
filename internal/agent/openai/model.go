package openai

import (
	"context"
	"iter"
	"net/http"
	"time"

	"stagefold/internal/agent"
)

// Options configure the adapter.
type Options struct {
	BaseURL     string
	APIKey      string
	HTTPClient  *http.Client
	Silence     time.Duration
	OutputLimit int64
}

type model struct{}

// New returns the Model.
func New(o Options) agent.Model { return model{} }

func (model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		yield(agent.Chunk{}, &agent.ProviderError{Kind: agent.KindConnect, Message: "not connected"})
	}
}
