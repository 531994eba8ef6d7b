package agent

import (
	"context"
	"errors"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

var (
	// ErrFenced: another owner took the run over; this one must stop at once and write nothing.
	ErrFenced = errors.New("the run is owned by another worker")
	// ErrStopRequested: the durable cancel flag is set.
	ErrStopRequested = errors.New("the run was stopped")
)

// Log is a run's log as its owner writes it. One goroutine calls it. Entries
// are given without Seq; the log numbers them when it commits them. Adjacent
// deltas of one part may be joined into one entry.
type Log interface {
	// Append adds entries. Deltas wait for the shared commit (50 ms at most);
	// any other entry starts one at once. It returns without waiting. An error is
	// an earlier commit's: ErrFenced, ErrStopRequested or a database failure. With
	// ErrStopRequested the entries were taken all the same, with the others not.
	Append(entries ...*part.Entry) error
	// Sync waits until everything appended is durable.
	Sync(ctx context.Context) error
	// CommitPlan stores a planner's new state with the chat, the revision if
	// change is not nil, and the entries, in one transaction, and waits. On an
	// error nothing of it is stored.
	CommitPlan(ctx context.Context, state planning.State, change *part.PlanData, entries ...*part.Entry) error
	// CommitStep appends the entries and marks the step as completed with the
	// plan state a takeover would go on from, and waits.
	CommitStep(ctx context.Context, step int, state planning.State, entries ...*part.Entry) error
	// SetWaiting stores that the run waits (or, with nil, that it goes on), and waits.
	SetWaiting(ctx context.Context, waiting []part.Waiting, entries ...*part.Entry) error
	// SaveOutput keeps the whole output of a tool call whose entry is truncated.
	SaveOutput(ctx context.Context, toolCallID, mediaType string, output []byte) error
	// Finish settles the run in one transaction: the entries (the last is the
	// finish entry), the run's state, the chat's plan (nil retires it). Later
	// calls append nothing that changes a row.
	Finish(ctx context.Context, plan *planning.State, entries ...*part.Entry) error
}
