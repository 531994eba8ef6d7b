package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"stagefold/internal/agent"
	"stagefold/internal/agent/anthropic"
	"stagefold/internal/agent/openai"
	"stagefold/internal/agent/provider"
	"stagefold/internal/agent/rehearsal"
	"stagefold/views"
)

const rehearsalName = "rehearsal"

// models knows which models there are. Discovery runs in the background, so
// that a slow provider never delays the start.
type models struct {
	cfg       config
	openAI    agent.Model // nil without a key or base
	anthropic agent.Model
	rehearsal agent.Model
	ready     chan struct{} // closed when discovery has ended

	mu    sync.Mutex
	found []provider.Found
}

func newModels(cfg config) *models {
	m := &models{cfg: cfg, rehearsal: rehearsal.New(cfg.pace), ready: make(chan struct{})}
	if cfg.openAIKey != "" || cfg.openAIBase != "" {
		m.openAI = openai.New(openai.Options{BaseURL: cfg.openAIBase, APIKey: cfg.openAIKey, Silence: cfg.silence})
	}
	if cfg.anthropicKey != "" {
		m.anthropic = anthropic.New(anthropic.Options{BaseURL: cfg.anthropicBase, APIKey: cfg.anthropicKey, Silence: cfg.silence})
	}
	return m
}

// discover asks the providers for their models, once.
func (m *models) discover(ctx context.Context) {
	defer close(m.ready)
	found := provider.Discover(ctx, provider.Options{
		OpenAIKey: m.cfg.openAIKey, OpenAIBase: m.cfg.openAIBase,
		AnthropicKey: m.cfg.anthropicKey, AnthropicBase: m.cfg.anthropicBase,
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found = found
	if m.openAI == nil {
		for _, f := range found {
			if f.Provider == "openai" { // a local server answered
				m.openAI = openai.New(openai.Options{BaseURL: provider.LocalBase, Silence: m.cfg.silence})
				break
			}
		}
	}
}

// wait gives discovery a moment: the first message should not go to the
// rehearsal model only because the provider was asked a second ago.
func (m *models) wait(ctx context.Context) {
	if m.cfg.model != "" {
		return
	}
	timer := time.NewTimer(3 * time.Second)
	defer timer.Stop()
	select {
	case <-m.ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// standard is the model of new chats: the setting, else the best one found.
func (m *models) standard() string {
	if m.cfg.model != "" {
		return m.cfg.model
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if best := provider.Best(m.found); best != "" {
		return best
	}
	return rehearsalName
}

// list is every model that can be picked, the rehearsal model last.
func (m *models) list() []provider.Found {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := append([]provider.Found(nil), m.found...)
	has := func(id string) bool {
		for _, f := range list {
			if f.ID == id {
				return true
			}
		}
		return false
	}
	if name := m.cfg.model; name != "" && name != rehearsalName && !has(name) {
		p, n, _ := strings.Cut(name, "/")
		list = append(list, provider.Found{ID: name, Provider: p, Name: n})
	}
	return append(list, provider.Found{ID: rehearsalName, Provider: rehearsalName, Name: rehearsalName})
}

func (m *models) choices(current string) []views.ModelChoice {
	var out []views.ModelChoice
	for _, f := range m.list() {
		out = append(out, views.ModelChoice{ID: f.ID, Provider: f.Provider, Name: f.Name, Current: f.ID == current})
	}
	return out
}

// resolve gives the Model behind a name. A name that the provider does not list
// is used as given.
func (m *models) resolve(name string) (agent.Model, error) {
	if name == rehearsalName {
		return m.rehearsal, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	prefix, model, _ := strings.Cut(name, "/")
	switch {
	case prefix == "openai" && model != "" && m.openAI != nil:
		return m.openAI, nil
	case prefix == "anthropic" && model != "" && m.anthropic != nil:
		return m.anthropic, nil
	case prefix == "openai" && model != "":
		return nil, fmt.Errorf("the model %s needs OPENAI_API_KEY or OPENAI_BASE_URL to be set at the start", name)
	case prefix == "anthropic" && model != "":
		return nil, fmt.Errorf("the model %s needs ANTHROPIC_API_KEY to be set at the start", name)
	}
	return nil, fmt.Errorf("the model %q is unknown; use anthropic/NAME, openai/NAME or rehearsal", name)
}
