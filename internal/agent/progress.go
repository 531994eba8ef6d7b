package agent

import (
	"encoding/json"
	"maps"
	"sync"
	"time"
)

// progressPace is the shortest time between two preliminary outputs that are
// logged; what comes faster is replaced by the newest.
const progressPace = 500 * time.Millisecond

// progress collects the newest preliminary output of each running call.
type progress struct {
	mu     sync.Mutex
	newest map[string]json.RawMessage // by call id
	timer  *time.Timer                // nil while nothing waits
	bell   chan struct{}              // holds a token when outputs are due
}

func newProgress() *progress {
	return &progress{newest: map[string]json.RawMessage{}, bell: make(chan struct{}, 1)}
}

// put notes an output; it may be called from any goroutine at any time.
func (p *progress) put(callID string, output json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest[callID] = output
	if p.timer == nil {
		p.timer = time.AfterFunc(progressPace, func() {
			select {
			case p.bell <- struct{}{}:
			default:
			}
		})
	}
}

// take returns the outputs that are due.
func (p *progress) take() map[string]json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := maps.Clone(p.newest)
	clear(p.newest)
	p.timer = nil
	return due
}

// drop forgets a call that has ended.
func (p *progress) drop(callID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.newest, callID)
	if len(p.newest) == 0 && p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}
