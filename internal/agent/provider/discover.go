package provider

import (
	"context"
	"net/http"
)

// Base addresses that are used where none is set.
const (
	OpenAIBase    = "https://api.openai.com/v1"
	AnthropicBase = "https://api.anthropic.com"
	LocalBase     = "http://127.0.0.1:11434/v1" // the usual Ollama port
)

// Options say which providers are configured.
type Options struct {
	OpenAIKey, OpenAIBase       string
	AnthropicKey, AnthropicBase string
	HTTPClient                  *http.Client // nil for a client of its own
}

// Found is one model that can be picked.
type Found struct {
	ID            string // PROVIDER/NAME
	Provider      string // openai or anthropic
	Name          string // as the provider spells it
	ContextWindow int64  // tokens, 0 where unknown
}

// Discover asks the configured providers for their models.
func Discover(ctx context.Context, o Options) []Found { return nil }

// Best is the ID of the model to use where the user chose none.
func Best(found []Found) string { return "" }
