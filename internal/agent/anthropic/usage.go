package anthropic

import (
	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
	"stagefold/internal/part"
)

// tokens is the usage as Anthropic counts: the input is without what the cache
// took part in.
type tokens struct {
	Input      provider.Count `json:"input_tokens"`
	Output     provider.Count `json:"output_tokens"`
	CacheRead  provider.Count `json:"cache_read_input_tokens"`
	CacheWrite provider.Count `json:"cache_creation_input_tokens"`
	Parts      struct {
		Thinking provider.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// countUsage takes cumulative numbers: the start tells the input, later events
// the output so far and sometimes the input again.
func (d *decoder) countUsage(t *tokens) {
	if t == nil {
		return
	}
	before := d.usage
	keep := func(field *int64, n provider.Count) {
		if n > 0 {
			*field = int64(n)
		}
	}
	keep(&d.usage.Input, t.Input)
	keep(&d.usage.Output, t.Output)
	keep(&d.usage.CacheRead, t.CacheRead)
	keep(&d.usage.CacheWrite, t.CacheWrite)
	keep(&d.usage.Reasoning, t.Parts.Thinking)
	if d.usage != before && d.usage != (part.Usage{}) {
		d.out = append(d.out, agent.Chunk{Kind: agent.ChunkUsage, Usage: d.usage})
	}
}
