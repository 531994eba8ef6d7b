package agent

import (
	"errors"
	"sync"
)

var (
	// ErrNotLive: no run of that id is live here.
	ErrNotLive = errors.New("the run is not live")
	// ErrUnknownCall: the run has asked nothing about that tool call.
	ErrUnknownCall = errors.New("no approval was asked for this tool call")
	// ErrDecided: the approval was decided before.
	ErrDecided = errors.New("the approval was decided already")
	// ErrNotWaiting: the run waits for no answer.
	ErrNotWaiting = errors.New("the run waits for no answer")
)

// Answer is the user's answer to a question of the run. An empty ToolCallID
// answers the question that the run asked first.
type Answer struct {
	MessageID  string
	ToolCallID string
	Text       string
}

// Decision is the user's decision on an approval.
type Decision struct {
	Allow  bool
	Always bool   // with Allow: every later call of this tool in this run too
	Reason string // a denial's, for the model
}

// closing is the key of a closing question, which belongs to no tool call.
const closing = ""

// inbox takes the user's answers and decisions to the run's goroutine. What is
// open is known here, so that a caller learns at once whether it came in time.
type inbox struct {
	mu        sync.Mutex
	approvals map[string]bool // by tool call id; false once decided
	questions []string        // open ones in the order they were asked; closing or a tool call id
	queue     []letter
	bell      chan struct{} // holds a token while the queue may not be empty
}

// letter is one answer or one decision.
type letter struct {
	toolCallID string
	answer     *Answer
	decision   *Decision
}

func newInbox() *inbox {
	return &inbox{approvals: map[string]bool{}, bell: make(chan struct{}, 1)}
}

// openApproval lets decisions on the call in.
func (b *inbox) openApproval(toolCallID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.approvals[toolCallID] = true
}

// openQuestion lets an answer to the question in.
func (b *inbox) openQuestion(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.questions = append(b.questions, key)
}

// decide delivers a decision on an open approval.
func (b *inbox) decide(toolCallID string, d Decision) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	open, known := b.approvals[toolCallID]
	if !known {
		return ErrUnknownCall
	}
	if !open {
		return ErrDecided
	}
	b.approvals[toolCallID] = false
	b.put(letter{toolCallID: toolCallID, decision: &d})
	return nil
}

// settle closes an approval that was decided without the user; false where a
// decision is on its way already.
func (b *inbox) settle(toolCallID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	open := b.approvals[toolCallID]
	b.approvals[toolCallID] = false
	return open
}

// answer delivers an answer to an open question.
func (b *inbox) answer(a Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, key := range b.questions {
		if a.ToolCallID == "" || a.ToolCallID == key {
			b.questions = append(b.questions[:i:i], b.questions[i+1:]...)
			b.put(letter{toolCallID: key, answer: &a})
			return nil
		}
	}
	return ErrNotWaiting
}

func (b *inbox) put(l letter) {
	b.queue = append(b.queue, l)
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (b *inbox) take() []letter {
	b.mu.Lock()
	defer b.mu.Unlock()
	letters := b.queue
	b.queue = nil
	return letters
}
