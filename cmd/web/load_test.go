package main

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stagefold/internal/agent"
	"stagefold/internal/part"
	"stagefold/internal/planning"
	"stagefold/internal/store"
)

// clockModel answers with words that carry the time at which they were made:
// tokens of them, rate a second.
type clockModel struct{ tokens, rate int }

func (m clockModel) Stream(ctx context.Context, _ agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		tick := time.NewTicker(time.Second / time.Duration(m.rate))
		defer tick.Stop()
		for i := range m.tokens {
			select {
			case <-tick.C:
			case <-ctx.Done():
				yield(agent.Chunk{}, ctx.Err())
				return
			}
			end := " "
			if i%40 == 39 {
				end = "\n\n"
			}
			if !yield(agent.Chunk{Kind: agent.ChunkText, Text: fmt.Sprintf("w%d%s", time.Now().UnixNano(), end)}, nil) {
				return
			}
		}
		yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: part.ReasonStop}, nil)
	}
}

var clockWord = regexp.MustCompile(`w(\d{19})`)

// watch reads a chat's page stream until its run has ended and all its tokens
// were seen, and gives for each word how long it took from the model to here.
func watch(ctx context.Context, url string, tokens int) (words []string, delays []time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	seen, finished := map[string]bool{}, false
	lines := bufio.NewReaderSize(res.Body, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		now := time.Now()
		for _, m := range clockWord.FindAllStringSubmatch(line, -1) {
			if seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			made, _ := strconv.ParseInt(m[1], 10, 64)
			words, delays = append(words, m[0]), append(delays, now.Sub(time.Unix(0, made)))
		}
		if err != nil {
			return words, delays, err
		}
		finished = finished || strings.Contains(line, `data-run-state="finished"`) || strings.Contains(line, `"state":"finished"`)
		if finished && len(words) >= tokens {
			return words, delays, nil
		}
	}
}

// load runs n chats at once, each with a viewer, and compares what the viewers
// saw with what the database holds.
func load(tb testing.TB, n int, m clockModel) []time.Duration {
	cfg := testConfig(tb)
	a := testApp(tb, cfg)
	a.models.rehearsal = m
	s := startServerOf(tb, a)
	var mu sync.Mutex
	var all []time.Duration
	var viewers sync.WaitGroup
	for i := range n {
		chat, err := a.db.CreateChat(tb.Context(), store.Chat{PlanningMode: planning.None, Model: rehearsalName})
		if err != nil {
			tb.Fatal(err)
		}
		viewers.Go(func() {
			words, delays, err := watch(tb.Context(), s.url+"/chats/"+chat.ID+"/stream", m.tokens)
			if err != nil {
				tb.Error(err)
				return
			}
			mu.Lock()
			all = append(all, delays...)
			mu.Unlock()
			runs, err := a.db.ChatRuns(tb.Context(), chat.ID)
			if err != nil || len(runs) != 1 {
				tb.Errorf("%d runs, %v", len(runs), err)
				return
			}
			snap, err := a.folds.snapshot(tb.Context(), runs[0].ID)
			if err != nil {
				tb.Error(err)
				return
			}
			var stored []string
			for _, p := range snap.Lead.All() {
				stored = append(stored, clockWord.FindAllString(p.Source(), -1)...)
			}
			if !slices.Equal(stored, words) {
				tb.Errorf("viewer %d saw %d words, the database holds %d", i, len(words), len(stored))
			}
		})
		if _, err := a.post(tb.Context(), chat.ID, "m1", "Count, please"); err != nil {
			tb.Fatal(err)
		}
	}
	viewers.Wait()
	slices.Sort(all)
	return all
}

// Every viewer sees exactly what the database holds.
func TestViewersSeeWhatIsStored(t *testing.T) {
	if delays := load(t, 8, clockModel{tokens: 60, rate: 200}); len(delays) != 8*60 {
		t.Errorf("%d words were seen", len(delays))
	}
}

// BenchmarkLiveRuns is the load of docs/architecture.md: 100 live runs of 50
// tokens/s, persisted, one viewer each.
func BenchmarkLiveRuns(b *testing.B) {
	for b.Loop() {
		delays := load(b, 100, clockModel{tokens: 500, rate: 50})
		b.ReportMetric(float64(delays[len(delays)/2].Milliseconds()), "p50-ms")
		b.ReportMetric(float64(delays[len(delays)*99/100].Milliseconds()), "p99-ms")
	}
}
