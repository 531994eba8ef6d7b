package fold

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// benchLog is a log of n parts, 60 % tool calls and 40 % texts of 200
// characters, under as many stages; without stages, no plan.
func benchLog(n, stages int) []*part.Entry {
	var log []*part.Entry
	step := 1
	add := func(e part.Entry) {
		e.Seq, e.Step, e.Time = int64(len(log)+1), step, epochStart.Add(time.Duration(len(log))*time.Millisecond)
		log = append(log, &e)
	}
	add(part.Entry{Type: part.Start})
	text := strings.Repeat("All work and no play. ", 10)[:200]
	for i := range n {
		if stages > 0 && i%max(n/stages, 1) == 0 && i*stages/n < stages {
			call := fmt.Sprint("plan", i)
			add(part.Entry{Type: part.ToolInputAvailable, ToolCallID: call, ToolName: "write_todos", Input: json.RawMessage(`{}`)})
			add(part.Entry{Type: part.ToolOutput, ToolCallID: call, Output: benchList(stages, i*stages/n)})
		}
		if i%10 == 0 {
			step++
			add(part.Entry{Type: part.StartStep})
		}
		if i%5 < 3 {
			call := fmt.Sprint("call", i)
			add(part.Entry{Type: part.ToolInputStart, ToolCallID: call, ToolName: "read_file"})
			add(part.Entry{Type: part.ToolInputAvailable, ToolCallID: call, ToolName: "read_file", Input: json.RawMessage(`{"path":"a.txt"}`)})
			add(part.Entry{Type: part.ToolOutput, ToolCallID: call, Output: json.RawMessage(`{"text":"content"}`)})
			continue
		}
		id := fmt.Sprint("text", i)
		add(part.Entry{Type: part.TextStart, ID: id})
		add(part.Entry{Type: part.TextDelta, ID: id, Delta: text})
		add(part.Entry{Type: part.TextEnd, ID: id})
	}
	return log
}

func benchList(stages, at int) json.RawMessage {
	type todo struct {
		ID      string          `json:"id"`
		Content string          `json:"content"`
		Status  planning.Status `json:"status"`
	}
	var list struct {
		Todos []todo `json:"todos"`
	}
	for i := range stages {
		status := planning.Pending
		switch {
		case i < at:
			status = planning.Done
		case i == at:
			status = planning.InProgress
		}
		list.Todos = append(list.Todos, todo{fmt.Sprint("s", i), fmt.Sprint("Stage ", i), status})
	}
	raw, _ := json.Marshal(list)
	return raw
}

// openFolder is a folder of a log of n parts whose last text is open.
func openFolder(n, stages int) (*Folder, int64) {
	f := New()
	log := benchLog(n, stages)
	for _, e := range log {
		f.Apply(e)
	}
	seq := int64(len(log)) + 1
	f.Apply(&part.Entry{Seq: seq, Type: part.TextStart, ID: "open"})
	f.Snapshot()
	return f, seq
}

// deltas is a text in deltas of about ten words, in paragraphs.
func deltas(n int, seq int64) []*part.Entry {
	var log []*part.Entry
	for i := range n {
		d := "ten short words of text that come in one burst "
		if i%8 == 7 {
			d += "\n\n"
		}
		log = append(log, &part.Entry{Seq: seq + int64(i) + 1, Type: part.TextDelta, ID: "open", Delta: d})
	}
	return log
}

// BenchmarkDelta is one delta, Apply and Snapshot: onto 100 parts and onto
// 10,000 in turns, so that both meet the same machine. Budgets: large/small at
// most 1.3, large at most 2 us.
func BenchmarkDelta(b *testing.B) {
	for _, stages := range []int{0, 50} {
		b.Run(fmt.Sprintf("stages=%d", stages), func(b *testing.B) {
			var runs [2][]time.Duration
			const round = 500
			b.ReportAllocs()
			for done := 0; done < b.N; done += round {
				for k, n := range []int{100, 10000} {
					b.StopTimer()
					f, seq := openFolder(n, stages)
					log := deltas(round, seq)
					runtime.GC()
					b.StartTimer()
					begin := time.Now()
					for _, e := range log {
						f.Apply(e)
						f.Snapshot()
					}
					runs[k] = append(runs[k], time.Since(begin))
				}
			}
			small, large := median(runs[0])/round, median(runs[1])/round
			b.ReportMetric(float64(small.Nanoseconds()), "ns/small")
			b.ReportMetric(float64(large.Nanoseconds()), "ns/large")
			b.ReportMetric(float64(large)/float64(small), "large/small")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// asLogged is the log with what the agent tells besides: each revision, and a
// line of activity before and after each tool.
func asLogged(log []*part.Entry) []*part.Entry {
	var all []*part.Entry
	add := func(e part.Entry) {
		e.Seq = int64(len(all) + 1)
		all = append(all, &e)
	}
	beside := func(e *part.Entry, t part.Type, v any) {
		raw, _ := json.Marshal(v)
		add(part.Entry{Step: e.Step, Time: e.Time, Type: t, Data: raw})
	}
	for _, e := range log {
		add(*e)
		switch {
		case e.Type == part.ToolInputAvailable && e.ToolName == "read_file":
			beside(e, part.DataActivity, part.ActivityData{Phase: part.PhaseAct, Summary: "read_file a.txt"})
		case e.Type == part.ToolOutput && strings.HasPrefix(e.ToolCallID, "call"):
			beside(e, part.DataActivity, part.ActivityData{Phase: part.PhaseObs, Summary: "read_file: 214 lines"})
		case e.Type == part.ToolOutput:
			plan, _ := planning.ParseOutput("write_todos", e.Output)
			beside(e, part.DataPlan, part.PlanData{Plan: plan, Tool: "write_todos"})
		}
	}
	return all
}

// BenchmarkFold folds a log of 10,000 parts at once, bare and as the agent logs
// it; budget: 5 ms. best is the quickest run, which a busy machine does not
// disturb.
func BenchmarkFold(b *testing.B) {
	for name, log := range map[string][]*part.Entry{
		"stages=0": benchLog(10000, 0), "stages=50": benchLog(10000, 50), "stages=50,logged": asLogged(benchLog(10000, 50)),
	} {
		b.Run(name, func(b *testing.B) {
			best := time.Hour
			b.ReportAllocs()
			for b.Loop() {
				begin := time.Now()
				Fold(log)
				best = min(best, time.Since(begin))
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
		})
	}
}

func BenchmarkSame(b *testing.B) {
	f, _ := openFolder(1000, 10)
	b.ReportAllocs()
	for b.Loop() {
		f.Snapshot()
	}
}

// BenchmarkChanges is what a viewer in step asks for after one delta onto
// 10,000 parts.
func BenchmarkChanges(b *testing.B) {
	f, seq := openFolder(10000, 50)
	log := deltas(2, seq)
	f.Apply(log[0])
	last := f.Snapshot()
	f.Apply(log[1])
	now := f.Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		Changes(last, now)
	}
}

// BenchmarkLongParagraph is one delta onto an open paragraph of 2 KiB and of
// 64 KiB, without a blank line: the fold's own part of it does not grow. (What a
// page shows of it does: see docs/benchmarks.md.)
func BenchmarkLongParagraph(b *testing.B) {
	for _, size := range []int{2 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			best := time.Hour
			b.ReportAllocs()
			for b.Loop() {
				f, seq := openFolder(10, 0)
				f.Apply(&part.Entry{Seq: seq + 1, Type: part.TextDelta, ID: "open", Delta: strings.Repeat("word ", size/5)})
				f.Snapshot()
				begin := time.Now()
				for i := range 100 {
					f.Apply(&part.Entry{Seq: seq + 2 + int64(i), Type: part.TextDelta, ID: "open", Delta: "ten more words come in one burst "})
					f.Snapshot()
				}
				best = min(best, time.Since(begin)/100)
			}
			b.ReportMetric(float64(best.Nanoseconds()), "best-ns/delta")
		})
	}
}
