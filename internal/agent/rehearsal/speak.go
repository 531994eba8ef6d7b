package rehearsal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"stagefold/internal/agent"
	"stagefold/internal/part"
)

// speaker says a reply word by word.
type speaker struct {
	ctx   context.Context
	pace  time.Duration
	yield func(agent.Chunk, error) bool
	ended bool // nobody listens, or ctx is over
	words int64
}

func newSpeaker(ctx context.Context, pace time.Duration, yield func(agent.Chunk, error) bool) *speaker {
	return &speaker{ctx: ctx, pace: pace, yield: yield}
}

// reply says r and ends the stream the way the contract of agent.Model asks.
func (s *speaker) reply(r reply, req agent.Request) {
	usage := usageOf(req)
	s.say(agent.Chunk{Kind: agent.ChunkUsage, Usage: usage})
	if r.reasoning != "" {
		s.speak(agent.ChunkReasoning, r.reasoning)
		s.say(agent.Chunk{Kind: agent.ChunkReasoningEnd})
	}
	usage.Reasoning = tokens(s.words)
	s.speak(agent.ChunkText, strings.TrimSpace(r.text))
	if r.failure != nil {
		s.fail(r.failure)
		return
	}
	for i, o := range r.calls {
		s.order(callID(req, i), o)
	}
	reason := part.ReasonStop
	if len(r.calls) > 0 {
		reason = part.ReasonToolCalls
	}
	usage.Output = tokens(s.words)
	s.say(agent.Chunk{Kind: agent.ChunkFinish, Reason: reason, Usage: usage})
}

// wordPattern cuts a text into words that keep the space behind them.
var wordPattern = regexp.MustCompile(`\s*\S+\s*`)

func (s *speaker) speak(kind agent.ChunkKind, text string) {
	for _, word := range wordPattern.FindAllString(text, -1) {
		if !s.wait() {
			return
		}
		s.words++
		s.say(agent.Chunk{Kind: kind, Text: word})
	}
}

// fragment is about how many bytes of arguments come at a time.
const fragment = 24

func (s *speaker) order(id string, o order) {
	s.say(agent.Chunk{Kind: agent.ChunkToolStart, ID: id, Name: o.tool})
	for rest := o.input; rest != ""; {
		n := min(fragment, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		if !s.wait() {
			return
		}
		s.words += fragment / 8
		s.say(agent.Chunk{Kind: agent.ChunkToolDelta, ID: id, Text: rest[:n]})
		rest = rest[n:]
	}
	s.say(agent.Chunk{Kind: agent.ChunkToolEnd, ID: id, Text: o.input})
}

// say hands one chunk over, unless the stream has ended.
func (s *speaker) say(c agent.Chunk) {
	if s.ended {
		return
	}
	if err := s.ctx.Err(); err != nil {
		s.fail(err)
		return
	}
	s.ended = !s.yield(c, nil)
}

// fail ends the stream with an error.
func (s *speaker) fail(err error) {
	if !s.ended {
		s.ended = true
		s.yield(agent.Chunk{}, err)
	}
}

// wait takes the time of a word; false: the stream has ended.
func (s *speaker) wait() bool {
	if s.ended || s.pace <= 0 {
		return !s.ended
	}
	timer := time.NewTimer(s.pace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
		s.fail(s.ctx.Err())
	}
	return !s.ended
}

// callID is unique in a chat and the same for the same request.
func callID(req agent.Request, n int) string {
	h := sha256.New()
	fmt.Fprintln(h, len(req.Messages), n)
	for _, m := range req.Messages {
		for _, c := range m.Content {
			fmt.Fprintln(h, m.Role, c.Kind, c.Text, c.ToolCallID)
		}
	}
	return "rehearsal_" + hex.EncodeToString(h.Sum(nil)[:8])
}

// usageOf counts the request. What was sent before counts as read from a cache.
func usageOf(req agent.Request) part.Usage {
	known, last := words(req.System), 0
	for _, t := range req.Tools {
		known += words(t.Description) + words(string(t.Schema))
	}
	for i, m := range req.Messages {
		if m.Role == agent.RoleAssistant {
			last = i
		}
	}
	fresh := words(req.Reminder)
	for i, m := range req.Messages {
		for _, c := range m.Content {
			n := words(c.Text) + int64(len(c.Input))/8
			if i < last {
				known += n
			} else {
				fresh += n
			}
		}
	}
	if last == 0 {
		return part.Usage{Input: tokens(known + fresh)}
	}
	return part.Usage{Input: tokens(fresh), CacheRead: tokens(known)}
}

func words(text string) int64 { return int64(len(strings.Fields(text))) }

// tokens: four for three words, as is usual for English.
func tokens(words int64) int64 { return (words*4 + 2) / 3 }
