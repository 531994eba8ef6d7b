package live

import (
	"sync"

	"stagefold/internal/fold"
	"stagefold/internal/markdown"
	"stagefold/views"
)

// maxCached bounds one generation of the cache, in bytes of markdown and HTML.
const maxCached = 4 << 20

// htmlCache keeps the HTML of blocks by what they say. It has two generations:
// what is asked for lives on in the young one, and the old one goes when the
// young one is full.
type htmlCache struct {
	make views.Renderer

	mu         sync.Mutex
	young, old map[blockText]string
	size       int
}

type blockText struct {
	kind         fold.BlockKind
	info, source string
}

func newHTMLCache(make views.Renderer) *htmlCache {
	if make == nil {
		make = func(b *fold.Block) string { return markdown.Block(string(b.Kind), b.Info, b.Source()) }
	}
	return &htmlCache{make: make, young: map[blockText]string{}}
}

func (c *htmlCache) render(b *fold.Block) string {
	key := blockText{b.Kind, b.Info, b.Source()}
	c.mu.Lock()
	html, ok := c.young[key]
	if !ok {
		if html, ok = c.old[key]; ok {
			c.keep(key, html)
		}
	}
	c.mu.Unlock()
	if ok {
		return html
	}
	html = c.make(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, html)
	return html
}

// keep adds to the young generation; the caller holds the lock.
func (c *htmlCache) keep(key blockText, html string) {
	n := len(key.source) + len(html)
	if c.size+n > maxCached {
		c.old, c.young, c.size = c.young, map[blockText]string{}, 0
	}
	if n <= maxCached {
		c.young[key] = html
		c.size += n
	}
}
