// Package anthropic is an agent.Model behind Anthropic's Messages, through
// Anthropic's SDK (docs/protocols.md, section 4).
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
)

// Options configure the adapter.
type Options struct {
	BaseURL string // without /v1, which is taken off; "" is Anthropic's own. User info and query are sent along and never shown
	APIKey  string
	// HTTPClient is used for every request, without redirects; nil for one of its own.
	HTTPClient *http.Client
	Silence    time.Duration // without a byte from the provider; 0 is 120 s
	// OutputLimit bounds an answer, in tokens; 0 is what the catalogue says of the
	// model, at most 32000, else 8192.
	OutputLimit int64
}

const (
	// defaultOutput is the output limit of a model that the catalogue does not know.
	defaultOutput = 8192
	// largestOutput bounds what the catalogue says: the limit is taken from the
	// context window.
	largestOutput = 32_000
)

// alive is the event that stands for bytes that say nothing; the SDK would
// swallow a ping.
var alive = provider.Frame{Event: "alive", Data: []byte(`{"type":"alive"}`)}

type model struct {
	endpoint    *provider.Endpoint
	messages    anthropic.MessageService
	outputLimit int64
}

// New returns the model behind one base address. It connects only when asked.
func New(o Options) agent.Model {
	if o.BaseURL == "" {
		o.BaseURL = provider.AnthropicBase
	}
	e := provider.NewEndpoint(o.BaseURL, o.APIKey, o.HTTPClient, o.Silence)
	e.Base = provider.WithoutVersion(e.Base)
	options := []option.RequestOption{
		option.WithBaseURL(e.Base), option.WithHTTPClient(e.Client), option.WithMaxRetries(0),
	}
	if o.APIKey != "" {
		options = append(options, option.WithAPIKey(o.APIKey))
		if !e.Is(provider.AnthropicBase) { // others know only the older header
			options = append(options, option.WithHeader("X-Api-Key", o.APIKey))
		}
	}
	for key, values := range e.Query {
		for _, v := range values {
			options = append(options, option.WithQueryAdd(key, v))
		}
	}
	return &model{endpoint: e, messages: anthropic.NewMessageService(options...), outputLimit: o.OutputLimit}
}

// Stream sends one request (agent.Model).
func (m *model) Stream(ctx context.Context, req agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		call, err := m.endpoint.Begin(ctx, rewrite)
		if err != nil {
			yield(agent.Chunk{}, err)
			return
		}
		defer call.End()
		stream := m.messages.NewStreaming(call.Context(), m.params(req), option.WithMiddleware(call.Do))
		defer stream.Close()

		d := &decoder{}
		for !d.finished() && stream.Next() {
			for _, c := range d.take(stream.Current().RawJSON()) {
				if !yield(c, nil) {
					return
				}
			}
		}
		if err = stream.Err(); err != nil {
			err = call.Fail(err)
		}
		chunks, err := d.end(err)
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(agent.Chunk{}, err)
		}
	}
}
