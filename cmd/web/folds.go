package main

import (
	"container/list"
	"context"
	"sync"

	"stagefold/internal/fold"
	"stagefold/internal/markdown"
	"stagefold/internal/part"
)

// maxFolds bounds the folded finished runs that are kept for review.
const maxFolds = 64

// folds keeps the snapshots of finished runs, least recently used out first. A
// finished log never changes, so neither does its snapshot.
type folds struct {
	log func(ctx context.Context, runID string) ([]*part.Entry, error)

	mu    sync.Mutex
	order *list.List // of *folded, newest use first
	byRun map[string]*list.Element
}

type folded struct {
	runID string
	snap  *fold.Snapshot
}

func newFolds(log func(context.Context, string) ([]*part.Entry, error)) *folds {
	return &folds{log: log, order: list.New(), byRun: map[string]*list.Element{}}
}

// snapshot folds a run's log, or gives the kept snapshot of a finished one.
func (f *folds) snapshot(ctx context.Context, runID string) (*fold.Snapshot, error) {
	f.mu.Lock()
	if e, ok := f.byRun[runID]; ok {
		f.order.MoveToFront(e)
		f.mu.Unlock()
		return e.Value.(*folded).snap, nil
	}
	f.mu.Unlock()
	entries, err := f.log(ctx, runID)
	if err != nil {
		return nil, err
	}
	snap := fold.Fold(entries)
	if snap.Terminal() {
		f.keep(runID, snap)
	}
	return snap, nil
}

func (f *folds) keep(runID string, snap *fold.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.byRun[runID]; ok {
		return
	}
	f.byRun[runID] = f.order.PushFront(&folded{runID, snap})
	for f.order.Len() > maxFolds {
		last := f.order.Back()
		f.order.Remove(last)
		delete(f.byRun, last.Value.(*folded).runID)
	}
}

// render is the page's markdown renderer.
func (f *folds) render(b *fold.Block) string {
	return markdown.Block(string(b.Kind), b.Info, b.Source())
}
