package live

import (
	"context"
	"math"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/views"
)

// state is what the page of a viewer in step shows. Immutable.
type state struct {
	run    string // the newest root run; "" in a chat without one
	snap   *fold.Snapshot
	chat   views.ChatState
	chrome *chrome
	newest time.Time // of the newest entry that came with it; zero where none did
}

// base is the state as what a page shows.
func (s *state) base() base { return base{run: s.run, snap: s.snap, chrome: s.chrome} }

// begun: the run's log has its first entry, and the page its article.
func begun(s *fold.Snapshot) bool { return s != nil && s.Seq > 0 }

// follower folds the chat's newest root run.
type follower struct {
	run    string
	folder *fold.Folder
	seq    int64
	newest time.Time // of the last entry
}

// apply folds entries; false where one is missing before them.
func (f *follower) apply(entries []*part.Entry) bool {
	for _, e := range entries {
		switch {
		case e.Seq <= f.seq:
			continue
		case e.Seq != f.seq+1:
			return false
		}
		f.folder.Apply(e)
		f.seq, f.newest = e.Seq, e.Time
	}
	return true
}

// read folds what the log has behind what is folded.
func (f *follower) read(ctx context.Context, cfg Config) error {
	return f.readTo(ctx, cfg, math.MaxInt64)
}

// readTo is read up to a seq.
func (f *follower) readTo(ctx context.Context, cfg Config, seq int64) error {
	if f.seq >= seq {
		return nil
	}
	entries, err := cfg.Entries(ctx, f.run, f.seq)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Seq > f.seq && e.Seq <= seq {
			f.folder.Apply(e)
			f.seq, f.newest = e.Seq, e.Time
		}
	}
	return nil
}

// snapshot is the folded run. A run whose log is empty is queued.
func (f *follower) snapshot(cfg Config, chatID string) *fold.Snapshot {
	if f.seq == 0 {
		return &fold.Snapshot{State: part.Queued, Started: cfg.Now(), Start: part.StartData{RunID: f.run, ChatID: chatID}}
	}
	return named(f.folder.Snapshot(), f.run)
}

// named is a snapshot that knows its run, even where a broken log does not say.
func named(s *fold.Snapshot, run string) *fold.Snapshot {
	if s.Start.RunID != "" || s.Seq == 0 {
		return s
	}
	t := *s
	t.Start.RunID = run
	return &t
}

// look brings the view up to date: the followed run first, then, where the chat
// has a newer one, that. It says whether viewers got something.
func (v *view) look(p pending) (sent bool, err error) {
	cfg, f := v.hub.cfg, &v.follow
	last := v.window.Load().state
	next := &state{}
	if last != nil {
		next.chat = last.chat
	}
	if p.chrome {
		if next.chat, err = cfg.Chat(v.ctx, v.chatID); err != nil {
			return false, err
		}
	}
	newest := ""
	if ids := next.chat.RunIDs; len(ids) > 0 {
		newest = ids[len(ids)-1]
	}
	if f.run != "" && (!f.apply(p.entries) || p.log || f.run != newest) {
		if err := f.read(v.ctx, cfg); err != nil {
			return false, err
		}
	}
	if f.run != newest {
		if f.run != "" { // its end is shown before the next run begins
			end := &state{run: f.run, snap: f.snapshot(cfg, v.chatID), chat: last.chat, chrome: last.chrome}
			if sent, err = v.show(last, end); err != nil {
				return false, err
			}
			last = end
		}
		*f = follower{run: newest, folder: fold.New()}
		if newest != "" {
			if err := f.read(v.ctx, cfg); err != nil {
				return false, err
			}
		}
	}
	v.watchRun(f.run, p.runs, next.chat.RunIDs)
	next.run = f.run
	if f.run != "" {
		next.snap, next.newest = f.snapshot(cfg, v.chatID), f.newest
		if last != nil && last.run == f.run && last.snap.Seq == next.snap.Seq {
			next.snap, next.newest = last.snap, time.Time{}
		}
	}
	next.chrome = v.chromeOf(last, next, p.chrome)
	shown, err := v.show(last, next)
	v.lookEnded()
	return sent || shown, err
}

// show publishes the way from one state to the next. The first state is shown
// to nobody: each viewer joins by itself.
func (v *view) show(last, next *state) (sent bool, err error) {
	var events []byte
	if last != nil {
		p, err := v.between(last.base(), next)
		if err != nil {
			return false, err
		}
		events = p.encode()
	}
	v.publish(next, events)
	return len(events) > 0, nil
}
