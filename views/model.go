package views

import (
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// Renderer turns one markdown block into safe HTML.
type Renderer func(b *fold.Block) string

// RunView is one run on a page.
type RunView struct {
	Snap   *fold.Snapshot
	Review bool // the review page: ids are s-KEY and p-N, every body stands in the page
	Static bool // no lazy bodies (prints, exports)
	Now    time.Time
	Render Renderer
	Cost   string // "" where unknown

	shown map[fold.Region]Span // cuts the regions on a review page
}

// RowView is one row of a run; PartView one part of it (Row nil outside rows).
type RowView struct {
	Run  RunView
	Row  *fold.Row
	Body bool // render the subparts in the page; else an empty body that loads when opened
	// Open shows the row open from the start; the live row is anyway.
	Open bool
	// Shown cuts the parts on a review page.
	Shown Span
}

type PartView struct {
	Run  RunView
	Row  *fold.Row
	Part *fold.Part
}

type BlockView struct {
	Part  PartView
	Block *fold.Block
}

type PieceView struct {
	Block BlockView
	Piece *fold.Piece
}

// ChatItem is one line of the chat list.
type ChatItem struct {
	ID      string
	Title   string
	State   part.State // of its newest run; "" without one
	Debt    int        // open stages of a finished run
	Updated time.Time
	Current bool
}

// Queued is a message that waits for the run to end.
type Queued struct {
	ID   string
	Text string
	Held bool // after Stop or failure: waits for the reader to send it
}

// ChatState is the chat page without its runs: what changes beside the log.
type ChatState struct {
	ID           string
	Title        string
	PlanningMode planning.Mode
	Model        string
	ApproveAll   bool // --approve always, said on the page
	Stopping     bool // Stop was asked for and the run has not ended yet
	Chats        []ChatItem
	Queue        []Queued
	RunIDs       []string // root runs in order, oldest first
	Now          time.Time
}

// ModelChoice is one model of the picker.
type ModelChoice struct {
	ID       string // anthropic/NAME, openai/NAME, rehearsal
	Provider string
	Name     string
	Current  bool
}

// ChatPageView is the whole chat page.
type ChatPageView struct {
	Page   PageView
	Chat   ChatState
	Runs   []RunView // the newest ones, oldest first
	Older  int       // runs before them, linked to /runs
	Models []ModelChoice
	Modes  []planning.Mode
	Draft  string // refused text, given back
	Error  string // a sentence beside the composer
	// MessageID is the id of the message that the form sends without JavaScript;
	// the page's client makes a new one for each message.
	MessageID string
}

// PageView is what every page's frame needs.
type PageView struct {
	Title  string
	Nonce  string
	Nav    string // "chats", "runs", "settings", "gallery"
	CSS    string // hashed URLs
	Icon   string
	Render Renderer // only the gallery needs it: for the fixtures' texts
	Client string
	App    string
	Dev    bool
}

// RunItem is one line of /runs.
type RunItem struct {
	ID, ChatID, ChatTitle string
	Text                  string // the user message, one line
	State                 part.State
	FinishReason          part.FinishReason
	Debt                  int
	Model                 string
	Started               time.Time
	Duration              time.Duration
	StagesDone, Stages    int
	Tokens                int64
	Cost                  string
}

// RunsPageView is /runs.
type RunsPageView struct {
	Page                PageView
	Runs                []RunItem
	State, Model, Query string // the filters as given
	Models              []string
	Next                string // cursor; "" at the end
	Now                 time.Time
}

// RunPageView is /runs/{id}.
type RunPageView struct {
	Page      PageView
	Run       RunView
	ChatID    string
	ChatTitle string
	Model     string
	StageKey  string // ?stage=: show this stage's parts from PartPage on
	PartPage  int
}

// SettingsView is /settings.
type SettingsView struct {
	Page      PageView
	Models    []ModelChoice
	Modes     []planning.Mode
	Mode      planning.Mode
	Workspace string
	DataDir   string
	Approve   string
	Notes     []string // plain sentences, for instance "no API key found"
}

// ErrorView is an error page.
type ErrorView struct {
	Page    PageView
	Status  int
	Message string
	Hint    string
}
