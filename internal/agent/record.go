package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stagefold/internal/part"
)

// writeLimit bounds how long a run waits for its log.
const writeLimit = 15 * time.Second

// logFailure is a log that did not keep what it was given.
type logFailure struct{ err error }

func (f *logFailure) Error() string { return "writing the log: " + f.err.Error() }
func (f *logFailure) Unwrap() error { return f.err }

// emit logs entries and keeps them for the history. While the run ends they
// are gathered for its last transaction instead.
func (r *run) emit(entries ...*part.Entry) error {
	kept := r.keep(entries...)
	if r.ending {
		r.closing = append(r.closing, kept...)
		return nil
	}
	return r.logError(r.log.Append(kept...))
}

// stream logs entries that the history does not need: deltas, which are kept
// joined when their part ends, and preliminary outputs.
func (r *run) stream(entries ...*part.Entry) error {
	for _, e := range entries {
		r.stamp(e)
	}
	return r.logError(r.log.Append(entries...))
}

// keep stamps entries, keeps them for the history and returns copies for the
// log, which numbers what it is given.
func (r *run) keep(entries ...*part.Entry) []*part.Entry {
	r.entries = append(r.entries, r.stamped(entries)...)
	return r.stamped(entries)
}

// stamped is stamped copies.
func (r *run) stamped(entries []*part.Entry) []*part.Entry {
	copies := make([]*part.Entry, len(entries))
	for i, e := range entries {
		r.stamp(e)
		c := *e
		copies[i] = &c
	}
	return copies
}

func (r *run) stamp(e *part.Entry) {
	if e.Step == 0 {
		e.Step = r.step
	}
	if e.Time.IsZero() {
		e.Time = r.now()
	}
}

// now is the time as entries hold it.
func (r *run) now() time.Time {
	return r.job.Now().UTC().Truncate(time.Millisecond)
}

// nextID is an id for a part of the kind, unique in the run.
func (r *run) nextID(kind string) string {
	r.ids[kind]++
	return fmt.Sprintf("%s-%d", kind, r.ids[kind])
}

// uniqueCallID is the provider's id, made unique in the run.
func (r *run) uniqueCallID(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; r.callIDs[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	r.callIDs[unique] = true
	return unique
}

// writing is the context of one write that the run waits for: an end of the
// run does not cut it short, so that its outcome is known.
func (r *run) writing() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.ctx), writeLimit)
}

// sync waits until everything logged so far is stored.
func (r *run) sync() error {
	ctx, cancel := r.writing()
	defer cancel()
	return r.stored(r.log.Sync(ctx))
}

// stored is the error of a write that was waited for.
func (r *run) stored(err error) error {
	if err == nil {
		r.durable = true
	}
	return r.logError(err)
}

// logError sorts a log's error: fenced and a requested stop are their own.
func (r *run) logError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrFenced):
		return ErrFenced
	case errors.Is(err, ErrStopRequested):
		return ErrStopRequested
	}
	return &logFailure{err}
}
