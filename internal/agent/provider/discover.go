package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"charm.land/catwalk/pkg/embedded"
)

// Base addresses that are used where none is set.
const (
	OpenAIBase    = "https://api.openai.com/v1"
	AnthropicBase = "https://api.anthropic.com"
	LocalBase     = "http://127.0.0.1:11434/v1" // the usual Ollama port
)

const (
	// patience bounds each question to a provider.
	patience = 4 * time.Second
	// longestList bounds an answer, in bytes.
	longestList = 8 << 20
)

// Options say which providers are configured. A provider without key and base
// is not asked.
type Options struct {
	OpenAIKey, OpenAIBase       string
	AnthropicKey, AnthropicBase string
	// LocalBase is the local server's address; "" is the constant.
	LocalBase  string
	HTTPClient *http.Client // nil for one of its own
}

// Found is one model that can be picked.
type Found struct {
	ID            string // PROVIDER/NAME
	Provider      string // openai or anthropic
	Name          string // as the provider spells it
	ContextWindow int64  // tokens, 0 where unknown
}

// Discover asks every configured provider for its models, side by side, and
// returns after a few seconds at most. Where OpenAI is not configured, the usual
// port of a local server is asked and its models are openai's. A provider with
// a key that does not answer gives the names that the catalogue knows. The
// result is sorted by provider and name.
func Discover(ctx context.Context, o Options) []Found {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	var mu sync.Mutex
	var found []Found
	var wait sync.WaitGroup
	ask := func(provider, base, key string, known func() []Found) {
		wait.Go(func() {
			list, err := models(ctx, provider, base, key, o.HTTPClient)
			if err != nil && key != "" {
				list = known()
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, list...)
		})
	}
	if o.AnthropicKey != "" || o.AnthropicBase != "" {
		base := cmp.Or(o.AnthropicBase, AnthropicBase)
		ask("anthropic", base, o.AnthropicKey, func() []Found { return knownModels("anthropic", base) })
	}
	if o.OpenAIKey != "" || o.OpenAIBase != "" {
		base := cmp.Or(o.OpenAIBase, OpenAIBase)
		ask("openai", base, o.OpenAIKey, func() []Found { return knownModels("openai", base) })
	} else {
		ask("openai", cmp.Or(o.LocalBase, LocalBase), "", nil)
	}
	wait.Wait()
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(found, func(a, b Found) bool { return a.ID == b.ID })
}

// models asks one provider.
func models(ctx context.Context, provider, base, key string, client *http.Client) ([]Found, error) {
	e := NewEndpoint(base, key, client, 0)
	if e.invalid != nil {
		return nil, e.invalid
	}
	address, query := strings.TrimSuffix(e.Base, "/")+"/models", url.Values{}
	for name, values := range e.Query {
		query[name] = values
	}
	if provider == "anthropic" {
		address = WithoutVersion(e.Base) + "/v1/models"
		query.Set("limit", "1000")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = query.Encode()
	switch {
	case provider == "anthropic":
		req.Header.Set("X-Api-Key", key)
		req.Header.Set("Anthropic-Version", "2023-06-01")
	case key != "":
		req.Header.Set("Authorization", "Bearer "+key)
	case e.User != nil:
		password, _ := e.User.Password()
		req.SetBasicAuth(e.User.Username(), password)
	}
	res, err := e.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("listing models: %s", res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, longestList))
	if err != nil {
		return nil, err
	}
	return readList(provider, e.Is(OpenAIBase), body)
}

// WithoutVersion is an Anthropic base address without the /v1 that its SDK adds.
func WithoutVersion(base string) string {
	return strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/v1")
}

// listed is one model of a list; servers name the same things differently.
type listed struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Window  Count  `json:"context_window"`
	Length  Count  `json:"context_length"`
	Longest Count  `json:"max_model_len"`
	Input   Count  `json:"max_input_tokens"`
}

func readList(provider string, official bool, body []byte) ([]Found, error) {
	var doc struct {
		Data   []listed `json:"data"`
		Models []listed `json:"models"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("reading the list of models: %w", err)
	}
	var found []Found
	for _, m := range append(doc.Data, doc.Models...) {
		name := cmp.Or(m.ID, m.Name)
		if name == "" || noChat.MatchString(name) || official && noCompletions.MatchString(name) {
			continue
		}
		f := Found{ID: provider + "/" + name, Provider: provider, Name: name}
		f.ContextWindow = int64(cmp.Or(m.Window, m.Length, m.Longest, m.Input))
		if info, ok := Lookup(f.ID); ok && f.ContextWindow == 0 {
			f.ContextWindow = info.ContextWindow
		}
		found = append(found, f)
	}
	return found, nil
}

var (
	// noChat are models that hold no conversation.
	noChat = regexp.MustCompile(`(?i)embed|whisper|\btts\b|dall-e|moderation|transcri|audio|realtime|image|sora|davinci|babbage|rerank|^bge-|\bclip\b|turbo-instruct`)
	// noCompletions are OpenAI's models that chat completions do not serve.
	noCompletions = regexp.MustCompile(`-pro(-|$)|codex|deep-research|computer-use|^ft:`)
)

// knownModels are the names that the catalogue knows for an address: the
// provider's own, or a known host's.
func knownModels(provider, base string) []Found {
	at := &Endpoint{Base: SafeURL(base)}
	official := at.Is(OpenAIBase) || at.Is(AnthropicBase)
	var found []Found
	for _, p := range embedded.GetAll() {
		own := official && string(p.ID) == provider
		if !own && (official || !at.Is(p.APIEndpoint)) {
			continue
		}
		for _, m := range p.Models {
			if own && provider == "openai" && noCompletions.MatchString(m.ID) {
				continue
			}
			found = append(found, Found{
				ID: provider + "/" + m.ID, Provider: provider, Name: m.ID, ContextWindow: m.ContextWindow,
			})
		}
	}
	return found
}
