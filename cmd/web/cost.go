package main

import (
	"fmt"
	"strings"

	"stagefold/internal/agent/provider"
	"stagefold/internal/part"
)

// cost is what tokens cost in US dollars, nil where a price is unknown. A
// provider at an own address has its own prices, which nobody told us.
func (a *app) cost(model string, u part.Usage) *float64 {
	if u == (part.Usage{}) || a.cfg.openAIBase != "" && strings.HasPrefix(model, "openai/") || a.cfg.anthropicBase != "" && strings.HasPrefix(model, "anthropic/") {
		return nil
	}
	dollars, ok := provider.Cost(model, u)
	if !ok {
		return nil
	}
	return &dollars
}

// costText is cost as the pages show it, "" where unknown.
func (a *app) costText(model string, u part.Usage) string {
	switch c := a.cost(model, u); {
	case c == nil:
		return ""
	case *c < 0.01:
		return "under $0.01"
	default:
		return fmt.Sprintf("$%.2f", *c)
	}
}
