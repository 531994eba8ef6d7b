// Package openai is an agent.Model behind every server that speaks OpenAI's
// chat completions, through OpenAI's SDK (docs/protocols.md, section 4).
package openai

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
)

// Options configure the adapter.
type Options struct {
	BaseURL string // with /v1; "" is OpenAI's own. User info and query are sent along and never shown
	APIKey  string // "" sends none, as local servers want it
	// HTTPClient is used for every request, without redirects; nil for one of its own.
	HTTPClient *http.Client
	Silence    time.Duration // without a byte from the provider; 0 is 120 s
	// OutputLimit bounds an answer, in tokens; 0 leaves it to the provider.
	OutputLimit int64
}

// afterFinish is how long usage is awaited once the finish reason came.
const afterFinish = 10 * time.Second

// alive is the chunk that stands for bytes that say nothing.
var alive = provider.Frame{Data: []byte(`{"choices":[]}`)}

type model struct {
	endpoint    *provider.Endpoint
	chat        openai.ChatCompletionService
	official    bool
	outputLimit int64
}

// New returns the model behind one base address. It connects only when asked.
func New(o Options) agent.Model {
	if o.BaseURL == "" {
		o.BaseURL = provider.OpenAIBase
	}
	e := provider.NewEndpoint(o.BaseURL, o.APIKey, o.HTTPClient, o.Silence)
	options := []option.RequestOption{
		option.WithBaseURL(e.Base), option.WithHTTPClient(e.Client), option.WithMaxRetries(0),
	}
	if o.APIKey != "" {
		options = append(options, option.WithAPIKey(o.APIKey))
	}
	for key, values := range e.Query {
		for _, v := range values {
			options = append(options, option.WithQueryAdd(key, v))
		}
	}
	return &model{
		endpoint: e, chat: openai.NewChatCompletionService(options...),
		official: e.Is(provider.OpenAIBase), outputLimit: o.OutputLimit,
	}
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
		stream := m.chat.NewStreaming(call.Context(), m.params(req), option.WithMiddleware(call.Do))
		defer stream.Close()

		d := &decoder{}
		var chunks []agent.Chunk
		for err == nil && stream.Next() {
			chunks, err = d.take(stream.Current().RawJSON())
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
			if d.finished() {
				call.Expect(afterFinish)
			}
		}
		if err == nil {
			err = stream.Err()
		}
		if err != nil {
			err = call.Fail(err)
		}
		chunks, err = d.end(err)
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
