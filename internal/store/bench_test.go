package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"stagefold/internal/part"
)

// begun is a new chat's claimed run, with its start.
func begun(b *testing.B, db *DB, id string) *RunLog {
	b.Helper()
	ctx := context.Background()
	if _, err := db.CreateChat(ctx, Chat{ID: "chat-" + id}); err != nil {
		b.Fatal(err)
	}
	if _, err := db.PostMessage(ctx, Post{ChatID: "chat-" + id, MessageID: "m", Text: "go", NewRunID: id, Model: "m"}); err != nil {
		b.Fatal(err)
	}
	l, _, err := db.Claim(ctx, id)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Append(start()); err != nil {
		b.Fatal(err)
	}
	return l
}

func benched(b *testing.B) *DB {
	b.Helper()
	db, err := Open(context.Background(), Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// BenchmarkCommitOf100Runs is one shared commit: 100 runs at 50 deltas a second
// have two or three deltas each in it. Twenty of them a second are the load of
// the budget.
func BenchmarkCommitOf100Runs(b *testing.B) {
	db := benched(b)
	logs := make([]*RunLog, 100)
	for i := range logs {
		logs[i] = begun(b, db, fmt.Sprint(i))
	}
	b.ResetTimer()
	for range b.N {
		for _, l := range logs {
			if err := l.Append(delta(1, "t", "some "), delta(1, "t", "words "), delta(1, "t", "here ")); err != nil {
				b.Fatal(err)
			}
		}
		var wait sync.WaitGroup
		for _, l := range logs {
			wait.Go(func() { _ = l.Sync(context.Background()) })
		}
		wait.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/300, "ns/delta")
}

// Benchmark16Writers is 16 runs that wait for each of their entries.
func Benchmark16Writers(b *testing.B) {
	db := benched(b)
	logs := make([]*RunLog, 16)
	for i := range logs {
		logs[i] = begun(b, db, fmt.Sprint(i))
	}
	b.ResetTimer()
	var wait sync.WaitGroup
	for _, l := range logs {
		wait.Go(func() {
			for range b.N {
				_ = l.Append(textStart(1, "t"))
				if err := l.Sync(context.Background()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/entry")
}

// long stores a run of 10,000 parts: 60 % tools, 40 % texts of 200 characters.
func long(b *testing.B, db *DB) *RunLog {
	b.Helper()
	l := begun(b, db, "long")
	for i := range 10_000 {
		id := fmt.Sprint("p", i)
		entries := []*part.Entry{callStart(1, id), callInput(1, id, `{"path":"internal/store/runlog.go"}`), {Type: part.ToolStart, Step: 1, ToolCallID: id},
			callOutput(1, id, `"package store\n\nimport \"context\"\n\n// RunLog is a run's log as its owner writes it."`)}
		if i%5 < 2 {
			entries = []*part.Entry{textStart(1, id)}
			for range 5 { // as if five commits had come between
				entries = append(entries, delta(1, id, "forty characters of an answer's text... "), &part.Entry{Type: part.DataActivity, Step: 1, Data: []byte(`{}`)})
			}
			entries = append(entries, textEnd(1, id))
		}
		if err := l.Append(entries...); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Sync(context.Background()); err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkReadLongRun reads a finished run of 10,000 parts for its review.
func BenchmarkReadLongRun(b *testing.B) {
	db := benched(b)
	if err := long(b, db).Finish(context.Background(), nil, finish(part.Finished)); err != nil {
		b.Fatal(err)
	}
	if err := db.packEnded(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Packed(context.Background(), "long", 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFinishLongRun is the end of a run of 10,000 parts; stall is how long
// another run waits for a commit meanwhile.
func BenchmarkFinishLongRun(b *testing.B) {
	var stall time.Duration
	for range b.N {
		b.StopTimer()
		db := benched(b)
		l, other := long(b, db), begun(b, db, "other")
		done := make(chan error, 1)
		b.StartTimer()
		go func() { done <- l.Finish(context.Background(), nil, finish(part.Finished)) }()
		for ended := false; !ended; {
			from := time.Now()
			if err := other.Append(textStart(1, "t")); err != nil {
				b.Fatal(err)
			}
			if err := other.Sync(context.Background()); err != nil {
				b.Fatal(err)
			}
			stall = max(stall, time.Since(from))
			select {
			case err := <-done:
				if ended = true; err != nil {
					b.Fatal(err)
				}
			default:
			}
		}
	}
	b.ReportMetric(float64(stall.Milliseconds()), "ms-stall")
}

// BenchmarkRecover1000 settles 1,000 runs that a killed process left; the budget
// is 2 s.
func BenchmarkRecover1000(b *testing.B) {
	for range b.N {
		b.StopTimer()
		db := benched(b)
		var last *RunLog
		for i := range 1000 {
			last = begun(b, db, fmt.Sprint(i))
			for _, e := range []*part.Entry{startStep(1), textStart(1, "t"), delta(1, "t", "x"), callStart(1, "c"), delta(1, "t", "y")} {
				if err := last.Append(e); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := last.Sync(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		left, err := db.Leftovers(context.Background())
		if err != nil || len(left) != 1000 {
			b.Fatal(len(left), err)
		}
		ids := make([]string, len(left))
		for i, r := range left {
			ids[i] = r.ID
		}
		if err := db.SettleAllInterrupted(context.Background(), ids, "The server was killed."); err != nil {
			b.Fatal(err)
		}
	}
}
