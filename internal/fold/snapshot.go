// Package fold folds a run's log into immutable snapshots of rows and says
// what changed between two of them (docs/planning.md, 'From parts to rows').
// It is pure: no clock, I/O, goroutine or log.
package fold

import (
	"strings"
	"time"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Status is a row's status as the page shows it.
type Status string

const (
	RowPending    Status = "pending"
	RowInProgress Status = "in_progress"
	RowWaiting    Status = "waiting"
	RowDone       Status = "done"
	RowError      Status = "error"
	RowAborted    Status = "aborted"
	RowCancelled  Status = "cancelled"
)

// Icon is the name of a status's icon: circle heartbeat pause check x square dash.
func (s Status) Icon() string {
	switch s {
	case RowInProgress:
		return "heartbeat"
	case RowWaiting:
		return "pause"
	case RowDone:
		return "check"
	case RowError:
		return "x"
	case RowAborted:
		return "square"
	case RowCancelled:
		return "dash"
	}
	return "circle"
}

// Part is a part in a snapshot: the part's head, and its text as blocks.
// Immutable; an unchanged part keeps its pointer from snapshot to snapshot.
type Part struct {
	part.Part // Text is empty here: see Source
	Blocks    Vec[*Block]

	text string
}

// Source is the whole text of a text or reasoning part, as the log has it.
func (p *Part) Source() string {
	if p.text != "" || p.Blocks.Len() == 0 {
		return p.text
	}
	var texts []string
	for _, b := range p.Blocks.All() {
		texts = append(texts, b.source())
	}
	return strings.Join(texts, "\n\n")
}

// Child is a child run as its parent's log tells it.
type Child struct {
	part.ChildData
	Seq     int64
	Started time.Time
	Ended   time.Time
}

// Row is one stage of the authoritative list. Immutable; an unchanged row keeps
// its pointer.
type Row struct {
	StageID        string
	Index          int // from 1
	Total          int
	Content        string
	Deliverable    string
	Evidence       string
	Status         Status
	Unverified     bool
	ClosedByRunEnd bool
	ResolvedBy     string
	Live           bool // the stage that new parts would join, while the run lives
	HasNext        bool
	Started        time.Time     // first became current; zero if never
	Ended          time.Time     // last stopped being current; zero while current
	Elapsed        time.Duration // sum of the closed spans in which it was current
	Since          time.Time     // start of the open span; zero if none
	Usage          part.Usage
	Tools          int // tool parts in Parts
	Files          []part.FileChange
	Children       []*Child
	Parts          Vec[*Part]
	Activity       string // the one line of live activity: running tool with its subject, or the last words; only while Live
}

// Settled: the row is terminal and nothing in it can change any more.
func (r *Row) Settled() bool {
	return r.Status == RowDone || r.Status == RowError || r.Status == RowAborted || r.Status == RowCancelled
}

// Activity is one line of the run's activity view.
type Activity struct {
	part.ActivityData
	Step int
	Time time.Time
	Seq  int64
}

// Snapshot is a folded log. Immutable.
type Snapshot struct {
	Seq   int64 // the last entry folded
	Start part.StartData
	// State is running until a wait or finish entry says otherwise.
	State        part.State
	FinishReason part.FinishReason // empty while the run lives
	Error        *part.RunError
	Note         string // the limit or reason named at the end
	Debt         []part.Debt
	Waiting      []part.Waiting
	Started      time.Time
	Finished     time.Time
	Step         int // the newest step
	Usage        part.Usage
	Planned      bool           // the run ever had a plan; sticky
	Plan         *planning.Plan // authoritative list; nil without a plan
	PlanData     *part.PlanData // newest data-plan, for wire clients
	Done         int            // done stages that the run's end did not close
	Total        int
	Lead         Vec[*Part]
	Rows         Vec[*Row]
	Sink         Vec[*Part]
	Answer       Vec[*Part]
	Unattached   []*Child // children of no row, shown after the rows
	Activity     Vec[*Activity]
	PartCount    int        // parts in all regions
	Calls        Vec[*Part] // planner calls and complete, in the order in which they were accepted; in no region
}

// Terminal: a finish entry was folded.
func (s *Snapshot) Terminal() bool { return s.State.Terminal() }
