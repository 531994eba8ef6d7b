package provider

import (
	"regexp"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"stagefold/internal/part"
)

// Info is what the built-in catalogue knows of a model.
type Info struct {
	ContextWindow int64 // tokens
	MaxOutput     int64 // tokens
	price         price
}

// price is in US dollars a million tokens; 0 where unknown.
type price struct {
	input, output, cacheRead, cacheWrite float64
}

// catalogue is read when it is first needed.
var catalogue = sync.OnceValue(func() map[string]Info {
	known := map[string]Info{}
	for _, p := range embedded.GetAll() {
		if p.ID != catwalk.InferenceProviderOpenAI && p.ID != catwalk.InferenceProviderAnthropic {
			continue
		}
		for _, m := range p.Models {
			id := string(p.ID) + "/" + m.ID
			known[id] = Info{
				ContextWindow: m.ContextWindow, MaxOutput: m.DefaultMaxTokens, price: priceOf(m),
			}
			if bare := dated.ReplaceAllString(id, ""); bare != id {
				if _, has := known[bare]; !has {
					known[bare] = known[id]
				}
			}
		}
	}
	return known
})

// priceOf sorts the two cached prices by size, because the catalogue means
// different things by them: reading costs less than the input, writing at
// least as much.
func priceOf(m catwalk.Model) price {
	p := price{input: m.CostPer1MIn, output: m.CostPer1MOut}
	for _, cached := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		switch {
		case cached <= 0:
		case cached >= p.input:
			p.cacheWrite = cached
		case p.cacheRead == 0 || p.cacheRead == cached:
			p.cacheRead = cached
		default:
			p.cacheRead = -1 // two prices for one thing: neither is believed
		}
	}
	p.cacheRead = max(p.cacheRead, 0)
	return p
}

// dated is the date at the end of a model's name.
var dated = regexp.MustCompile(`-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$`)

// Lookup finds a model by its ID, PROVIDER/NAME, with or without the date at the
// end of the name.
func Lookup(id string) (Info, bool) {
	known := catalogue()
	info, ok := known[id]
	if !ok {
		info, ok = known[dated.ReplaceAllString(id, "")]
	}
	return info, ok
}

// Cost is what a usage costs in US dollars. False where the catalogue does not
// know a price that counts: no cost is better than a wrong one.
func Cost(id string, u part.Usage) (dollars float64, ok bool) {
	info, known := Lookup(id)
	if !known {
		return 0, false
	}
	for _, item := range []struct {
		tokens int64
		price  float64
	}{
		{u.Input, info.price.input}, {u.Output, info.price.output},
		{u.CacheRead, info.price.cacheRead}, {u.CacheWrite, info.price.cacheWrite},
	} {
		if item.tokens > 0 && item.price <= 0 {
			return 0, false
		}
		dollars += float64(item.tokens) * item.price / 1e6
	}
	return dollars, true
}
