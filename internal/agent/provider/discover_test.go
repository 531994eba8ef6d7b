package provider_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/agent/fakeprovider"
	. "stagefold/internal/agent/provider"
	"stagefold/internal/part"
)

func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestDiscover(t *testing.T) {
	remote := fakeprovider.Start(t)
	remote.Models = []string{"gpt-4o", "text-embedding-3-small", "gpt-4o", "whisper-1", "qwen3:8b", "claude-opus-4-5"}
	got := Discover(t.Context(), Options{
		OpenAIKey: "k", OpenAIBase: remote.OpenAI(), AnthropicKey: "k", AnthropicBase: remote.Anthropic(), HTTPClient: client(t),
	})
	want := []Found{
		{ID: "anthropic/claude-opus-4-5", Provider: "anthropic", Name: "claude-opus-4-5", ContextWindow: 200000},
		{ID: "anthropic/gpt-4o", Provider: "anthropic", Name: "gpt-4o"},
		{ID: "anthropic/qwen3:8b", Provider: "anthropic", Name: "qwen3:8b"},
		{ID: "openai/claude-opus-4-5", Provider: "openai", Name: "claude-opus-4-5"},
		{ID: "openai/gpt-4o", Provider: "openai", Name: "gpt-4o", ContextWindow: 128000},
		{ID: "openai/qwen3:8b", Provider: "openai", Name: "qwen3:8b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func TestDiscoverLocal(t *testing.T) {
	local := fakeprovider.Start(t)
	local.Models = []string{"llama3.2:latest"}
	o := Options{LocalBase: local.OpenAI(), HTTPClient: client(t)}
	want := []Found{{ID: "openai/llama3.2:latest", Provider: "openai", Name: "llama3.2:latest"}}
	if diff := cmp.Diff(want, Discover(t.Context(), o)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	o.OpenAIBase = "http://127.0.0.1:1/v1"
	if got := Discover(t.Context(), o); len(got) > 0 {
		t.Errorf("the local server was asked beside a configured one: %v", got)
	}
}

// A provider with a key that gives no list: the names that the catalogue knows.
func TestDiscoverWithoutAnswer(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	got := Discover(gone, Options{AnthropicKey: "k", OpenAIKey: "k", HTTPClient: client(t)})
	providers := map[string]int{}
	for _, f := range got {
		providers[f.Provider]++
		if f.ID != f.Provider+"/"+f.Name || f.ContextWindow == 0 {
			t.Errorf("found %+v", f)
		}
	}
	if providers["anthropic"] < 5 || providers["openai"] < 5 {
		t.Errorf("known names %v", providers)
	}
	if got := Discover(gone, Options{OpenAIKey: "k", OpenAIBase: "http://10.1.2.3/v1", HTTPClient: client(t)}); len(got) > 0 {
		t.Errorf("names of an unknown host: %v", got)
	}
	if got := Discover(gone, Options{OpenAIKey: "k", OpenAIBase: "https://api.deepseek.com/v1", HTTPClient: client(t)}); len(got) == 0 || got[0].Provider != "openai" {
		t.Errorf("names of a known host: %v", got)
	}
	if got := Discover(gone, Options{LocalBase: "http://127.0.0.1:1/v1", HTTPClient: client(t)}); len(got) > 0 {
		t.Errorf("names of nobody: %v", got)
	}
}

func TestDiscoverSendsTheKeyAndOnlyThere(t *testing.T) {
	var seen []http.Header
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		if r.URL.Query().Get("key") != "qk" {
			t.Errorf("query %q", r.URL.RawQuery)
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	c := client(t)
	Discover(t.Context(), Options{OpenAIKey: "k1", OpenAIBase: s.URL + "/v1?key=qk", HTTPClient: c})
	Discover(t.Context(), Options{AnthropicKey: "k2", AnthropicBase: s.URL + "?key=qk", OpenAIBase: "none", HTTPClient: c})
	if len(seen) != 2 || seen[0].Get("Authorization") != "Bearer k1" || seen[1].Get("X-Api-Key") != "k2" {
		t.Errorf("headers %v", seen)
	}
}

func TestBest(t *testing.T) {
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"", nil},
		{"anthropic/claude-opus-4-8", []string{"openai/gpt-5.5", "anthropic/claude-sonnet-5", "anthropic/claude-opus-4-6", "anthropic/claude-opus-4-8", "anthropic/claude-opus-4-20250514"}},
		{"anthropic/claude-sonnet-4-6", []string{"openai/gpt-5.5", "anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-haiku-4-5"}},
		{"openai/gpt-5.6-sol", []string{"openai/gpt-5.6-luna", "openai/gpt-5.6-sol", "openai/gpt-5.6-terra", "openai/gpt-5.5", "openai/gpt-5-mini", "openai/gpt-5.9-mini"}},
		{"openai/gpt-4.1", []string{"openai/gpt-4o-mini", "openai/gpt-4.1", "openai/gpt-4o", "openai/gpt-3.5-turbo"}},
		{"openai/qwen3:32b", []string{"openai/llama3.2:3b", "openai/qwen3:32b", "openai/gemma2:9b"}},
		{"openai/llama3.1:8b", []string{"openai/llama3.2:1b", "openai/llama3.1:8b"}},
		{"openai/anthropic/claude-sonnet-4.5", []string{"openai/meta/llama-3.3-70b", "openai/anthropic/claude-sonnet-4.5", "openai/anthropic/claude-sonnet-4"}},
		{"openai/something", []string{"openai/something-mini", "openai/something"}},
	} {
		var found []Found
		for _, n := range c.names {
			_, name, _ := strings.Cut(n, "/")
			found = append(found, Found{ID: n, Name: name})
		}
		if got := Best(found); got != c.want {
			t.Errorf("best of %v: %s, want %s", c.names, got, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for id, want := range map[string]int64{
		"anthropic/claude-opus-4-5-20251101": 200000, "anthropic/claude-opus-4-5": 200000, "anthropic/claude-opus-4-6-20991231": 200000,
		"openai/gpt-4o": 128000, "openai/gpt-4o-2024-08-06": 128000, "openai/llama3": 0, "gpt-4o": 0, "": 0,
	} {
		info, ok := Lookup(id)
		if info.ContextWindow != want || ok != (want > 0) {
			t.Errorf("%s: %+v, %v", id, info, ok)
		}
	}
}

// The catalogue's two cached prices mean different things for different models.
func TestCost(t *testing.T) {
	const million = 1_000_000
	for _, c := range []struct {
		id    string
		usage part.Usage
		want  float64
		ok    bool
	}{
		{"anthropic/claude-opus-4-6", part.Usage{Input: million, Output: million}, 30, true},
		{"anthropic/claude-opus-4-6", part.Usage{CacheRead: million}, 0.5, true},
		{"anthropic/claude-opus-4-6", part.Usage{CacheWrite: million}, 6.25, true},
		{"openai/gpt-5.2", part.Usage{CacheRead: million, Output: million}, 14.175, true},
		{"openai/gpt-4.1", part.Usage{CacheRead: million}, 0.5, true},
		{"openai/gpt-5.5", part.Usage{CacheRead: million}, 0.5, true},
		{"openai/gpt-5.5-pro", part.Usage{Input: million, CacheRead: 1}, 0, false},
		{"openai/gpt-4.1", part.Usage{CacheWrite: 1}, 0, false},
		{"openai/llama3", part.Usage{Input: 1}, 0, false},
		{"openai/gpt-4.1", part.Usage{}, 0, true},
	} {
		got, ok := Cost(c.id, c.usage)
		if ok != c.ok || got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s %+v: %v, %v, want %v, %v", c.id, c.usage, got, ok, c.want, c.ok)
		}
	}
}
