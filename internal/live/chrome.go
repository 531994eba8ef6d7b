package live

import (
	"time"

	"github.com/a-h/templ"

	"stagefold/internal/fold"
	"stagefold/views"
)

// What stands beside the runs: each is one element of the page, patched whole.
const (
	chatTitle = iota
	chatList
	queue
	statusLine
	planPane
	pinnedPlan
	waiting
	chromeParts
)

// chrome is what stands beside the runs, rendered. Immutable.
type chrome struct {
	key  [chromeParts]string // rendered at a time that stands still: equal means nothing changed
	html [chromeParts]string
}

var stillTime = time.Unix(0, 0).UTC()

// chromeOf is the chrome of next, made from the last one's where it can be.
func (v *view) chromeOf(last, next *state, chat bool) *chrome {
	if last == nil {
		last = &state{chrome: &chrome{}}
		chat = true
	}
	run := last.run != next.run || last.snap != next.snap && planMoved(last.snap, next.snap)
	if !chat && !run {
		return last.chrome
	}
	c := *last.chrome
	keys := v.chromeViews(next, stillTime)
	shown := v.chromeViews(next, v.hub.cfg.Now())
	for i := range chromeParts {
		if i <= queue && !chat {
			continue
		}
		if key := rendered(keys[i]); key != c.key[i] {
			c.key[i], c.html[i] = key, rendered(shown[i])
		}
	}
	return &c
}

func (v *view) chromeViews(s *state, now time.Time) [chromeParts]templ.Component {
	chat := s.chat
	chat.Now = now
	var run *views.RunView
	if s.snap != nil {
		r := v.hub.cfg.runView(s.snap, now)
		run = &r
	}
	return [chromeParts]templ.Component{
		chatTitle:  views.ChatTitle(chat),
		chatList:   views.ChatList(chat),
		queue:      views.Queue(chat),
		statusLine: views.StatusLine(chat, run),
		planPane:   views.PlanPane(chat, run),
		pinnedPlan: views.PinnedPlan(chat, run),
		waiting:    views.Waiting(chat, run),
	}
}

// planMoved: status line, plan and questions may look different. It is false
// for growing text, which comes twenty times a second.
func planMoved(last, now *fold.Snapshot) bool {
	if last == nil || now == nil {
		return true
	}
	for _, c := range fold.Changes(last, now) {
		switch c.Kind {
		case fold.BlockAdded, fold.BlockChanged, fold.PieceAdded, fold.PieceChanged:
		case fold.RowChanged:
			if old := rowOf(last, c.Row); old == nil || !samePlanLine(old, c.Row) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

func samePlanLine(a, b *fold.Row) bool {
	return a.Status == b.Status && a.Content == b.Content && a.Deliverable == b.Deliverable && a.Index == b.Index &&
		a.Total == b.Total && a.Live == b.Live && len(a.Children) == len(b.Children) && sameChildren(a.Children, b.Children)
}

func sameChildren(a, b []*fold.Child) bool {
	for i := range a {
		if a[i].State != b[i].State {
			return false
		}
	}
	return true
}

// rowOf is the row's earlier self; nil where there was none.
func rowOf(s *fold.Snapshot, row *fold.Row) *fold.Row {
	if s == nil {
		return nil
	}
	if i := row.Index - 1; i >= 0 && i < s.Rows.Len() {
		if r := s.Rows.At(i); r.StageID == row.StageID {
			return r
		}
	}
	for _, r := range s.Rows.All() {
		if r.StageID == row.StageID {
			return r
		}
	}
	return nil
}
