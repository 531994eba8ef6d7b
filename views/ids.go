package views

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"stagefold/internal/fold"
)

// Ids of the elements that every chat page has once.
const (
	StreamID     = "stream"      // the empty element on which the page's stream sits
	TimelineID   = "timeline"    // the runs, oldest first; a new run is appended
	ChatTitleID  = "chat-title"  // ChatTitle
	ChatListID   = "chat-list"   // ChatList
	QueueID      = "queue"       // Queue
	StatusLineID = "status-line" // StatusLine
	PlanPaneID   = "plan-pane"   // PlanPane
	PinnedPlanID = "pinned-plan" // PinnedPlan
	WaitingID    = "waiting"     // Waiting
	NoticeID     = "notice"      // Notice: a sentence beside the composer
	ComposerID   = "composer"    // Composer; never patched while it stands
)

// StageKey is the KEY of a stage: the first ten hex digits of the SHA-256 of
// its id.
func StageKey(stageID string) string { return hash(stageID) }

// RunID is the id of the run's article: 'r-' and ten hex digits of the SHA-256
// of the run id, so that no id from outside (an import) stands in the page.
func RunID(runID string) string { return "r-" + hash(runID) }

// OutcomeID is the id of RunOutcome.
func (v RunView) OutcomeID() string { return v.ID() + "-outcome" }

// DebtID is the id of RunDebt.
func (v RunView) DebtID() string { return v.ID() + "-debt" }

// PlanHeadID is the id of PlanHead.
func (v RunView) PlanHeadID() string { return v.ID() + "-plan" }

// ChildrenID is the id of RunChildren.
func (v RunView) ChildrenID() string { return v.ID() + "-children" }

// ChildID is the id of a child run's line.
func (v RunView) ChildID(c *fold.Child) string { return v.ID() + "-c-" + hash(c.RunID) }

// RowsID is the id of the ol whose inner is RowList and to which rows are appended.
func (v RunView) RowsID() string { return v.ID() + "-rows" }

// ID is the id of the run's article.
func (v RunView) ID() string { return RunID(v.Snap.Start.RunID) }

// RegionID is the id of the element whose inner is RegionParts: lead, sink or
// answer. Parts of these regions are appended to it.
func (v RunView) RegionID(r fold.Region) string { return v.ID() + "-" + string(r) }

// ID is the row's id: s-KEY on the review page, else the run's id and KEY.
func (v RowView) ID() string {
	if v.Run.Review {
		return "s-" + v.Key()
	}
	return v.Run.ID() + "-s-" + v.Key()
}

// Key is the row's KEY, see StageKey.
func (v RowView) Key() string { return StageKey(v.Row.StageID) }

// HeadID is the id of RowHead.
func (v RowView) HeadID() string { return v.ID() + "-head" }

// FactsID is the id of RowFacts.
func (v RowView) FactsID() string { return v.ID() + "-facts" }

// BodyID is the id of the ol whose inner is RowBody; parts are appended to it.
func (v RowView) BodyID() string { return v.ID() + "-body" }

// ID is the part's id: p-N on the review page, else the run's id and N.
func (v PartView) ID() string {
	n := "p-" + strconv.Itoa(v.Part.N)
	if v.Run.Review {
		return n
	}
	return v.Run.ID() + "-" + n
}

// HeadID is the id of PartHead.
func (v PartView) HeadID() string { return v.ID() + "-head" }

// BodyID is the id of PartBody. Blocks of text and reasoning are appended to it.
func (v PartView) BodyID() string { return v.ID() + "-body" }

// ID is the block's id.
func (v BlockView) ID() string { return v.Part.ID() + "-b" + strconv.Itoa(v.Block.N) }

// PiecesID is the id of the element to which pieces are appended.
func (v BlockView) PiecesID() string { return v.ID() + "-pieces" }

// ID is the piece's id.
func (v PieceView) ID() string { return v.Block.ID() + "-p" + strconv.Itoa(v.Piece.N) }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:5])
}
