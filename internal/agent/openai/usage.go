package openai

import (
	"encoding/json"
	"slices"

	"stagefold/internal/agent"
	"stagefold/internal/agent/provider"
	"stagefold/internal/part"
)

// tokens is the usage as this kind of server counts: the prompt includes what
// was read from the cache.
type tokens struct {
	Prompt     provider.Count `json:"prompt_tokens"`
	Completion provider.Count `json:"completion_tokens"`
	CacheHit   provider.Count `json:"prompt_cache_hit_tokens"`
	Details    struct {
		Cached  provider.Count `json:"cached_tokens"`
		Written provider.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Parts struct {
		Reasoning provider.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// countUsage keeps the last usage that says something; servers send it in the
// finish chunk, after it, in every chunk or twice.
func (d *decoder) countUsage(raw json.RawMessage) {
	var t tokens
	if len(raw) == 0 || json.Unmarshal(raw, &t) != nil {
		return
	}
	read := max(t.Details.Cached, t.CacheHit)
	usage := part.Usage{
		Input:      int64(max(t.Prompt-read-t.Details.Written, 0)),
		Output:     int64(t.Completion),
		CacheRead:  int64(read),
		CacheWrite: int64(t.Details.Written),
		Reasoning:  int64(t.Parts.Reasoning),
	}
	if usage == (part.Usage{}) || usage == d.usage {
		return
	}
	d.usage = usage
	d.out = append(d.out, agent.Chunk{Kind: agent.ChunkUsage, Usage: usage})
}

// annotate keeps the sources that a delta names.
func (d *decoder) annotate(raw json.RawMessage) {
	var list []struct {
		Citation struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"url_citation"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, a := range list {
		d.source(a.Citation.URL, a.Citation.Title)
	}
}

// cite keeps the sources that some servers list beside the choices.
func (d *decoder) cite(raw json.RawMessage) {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, url := range list {
		d.source(url, "")
	}
}

// source keeps a source for the end of the answer: told at once it would cut the
// text in two.
func (d *decoder) source(url, title string) {
	known := slices.ContainsFunc(d.cited, func(c agent.Chunk) bool { return c.URL == url })
	if url != "" && !known {
		d.cited = append(d.cited, agent.Chunk{Kind: agent.ChunkSource, URL: url, Title: title})
	}
}
