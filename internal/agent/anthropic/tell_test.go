package anthropic

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"stagefold/internal/agent"
	"stagefold/internal/agent/fakeprovider"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// tell writes an answer down, one line a chunk: fragments of one text are
// joined, signs of life and usage so far are left out.
func tell(chunks []agent.Chunk) string {
	var lines []string
	var last agent.Chunk
	for _, c := range chunks {
		joins := len(lines) > 0 && c.Kind == last.Kind && c.ID == last.ID
		switch c.Kind {
		case agent.ChunkAlive, agent.ChunkUsage:
			continue
		case agent.ChunkText, agent.ChunkReasoning, agent.ChunkToolDelta:
			if joins {
				c.Text = last.Text + c.Text
				lines = lines[:len(lines)-1]
			}
		}
		last = c
		lines = append(lines, line(c))
	}
	return strings.Join(lines, "\n")
}

func line(c agent.Chunk) string {
	switch c.Kind {
	case agent.ChunkText:
		return fmt.Sprintf("text %q", c.Text)
	case agent.ChunkReasoning:
		return fmt.Sprintf("reasoning %q", c.Text)
	case agent.ChunkReasoningEnd:
		return strings.TrimSpace("reasoning-end " + string(c.Metadata))
	case agent.ChunkToolStart:
		return fmt.Sprintf("start %s %s", c.ID, c.Name)
	case agent.ChunkToolDelta:
		return fmt.Sprintf("delta %s %s", c.ID, c.Text)
	case agent.ChunkToolEnd:
		return fmt.Sprintf("end %s %s", c.ID, c.Text)
	case agent.ChunkToolBroken:
		return "broken " + c.Text
	case agent.ChunkSource:
		return strings.TrimSpace("source " + c.URL + " " + c.Title)
	case agent.ChunkFinish:
		u := c.Usage
		out := fmt.Sprintf("finish %s in=%d out=%d", c.Reason, u.Input, u.Output)
		if u.CacheRead+u.CacheWrite+u.Reasoning > 0 {
			out += fmt.Sprintf(" read=%d write=%d reasoning=%d", u.CacheRead, u.CacheWrite, u.Reasoning)
		}
		if c.Pause {
			out += " pause"
		}
		return out
	}
	return fmt.Sprintf("unknown %d", c.Kind)
}

// ask sends a request and collects the answer.
func ask(m agent.Model, req agent.Request) ([]agent.Chunk, error) {
	var chunks []agent.Chunk
	for c, err := range m.Stream(context.Background(), req) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// hello is a small request.
func hello() agent.Request {
	return agent.Request{ModelName: "fake", Messages: []agent.Message{user("Hello")}}
}

func user(text string) agent.Message {
	return agent.Message{Role: agent.RoleUser, Content: []agent.Content{{Kind: agent.ContentText, Text: text}}}
}

// client has a transport of its own, which dies with the test.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func connect(t *testing.T, s *fakeprovider.Server) agent.Model {
	return New(Options{BaseURL: s.Anthropic(), APIKey: "sk-test-7Qzz9", HTTPClient: client(t)})
}

// replay is a model whose every answer is these bytes.
func replay(r *fakeprovider.Replay) agent.Model {
	return New(Options{BaseURL: "http://provider.test", APIKey: "sk-test-7Qzz9", HTTPClient: r.Client()})
}
