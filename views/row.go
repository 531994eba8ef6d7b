package views

import (
	"slices"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// open: the row is shown open when the page comes. From then on it belongs to
// the reader.
func (v RowView) open() bool { return v.Open || v.Row.Live && !v.Run.Review }

// ticking: the row's time still runs.
func (v RowView) ticking() bool {
	return !v.Row.Since.IsZero() && v.Row.Live && !v.Run.Snap.Terminal()
}

// since is the time from which a running clock counts, earlier spans included.
func (v RowView) since() time.Time { return v.Row.Since.Add(-v.Row.Elapsed) }

// elapsed is the time in which the stage was current, "" for a stage that never was.
func (v RowView) elapsed() string {
	switch {
	case v.ticking():
		return duration(v.Run.Now.Sub(v.since()))
	case v.Row.Started.IsZero():
		return ""
	}
	return duration(v.Row.Elapsed)
}

func (v RowView) spanTitle() string {
	s := "Began " + exact(v.Row.Started)
	if !v.Row.Ended.IsZero() {
		s += ", ended " + exact(v.Row.Ended)
	}
	return s
}

func (v RowView) hasTokens() bool { return tokens(v.Row.Usage) > 0 }

func (v RowView) hasActivity() bool { return v.Row.Live && v.Row.Activity != "" }

// silent: a stage that is over and in which nothing happened.
func (v RowView) silent() bool { return v.Row.Parts.Len() == 0 && v.Row.Settled() }

// parts are the row's parts that stand in the page.
func (v RowView) parts() []PartView {
	if !v.Body {
		return nil
	}
	return partsIn(v.Run, v.Row, v.Row.Parts, v.Shown)
}

func partsIn(run RunView, row *fold.Row, parts fold.Vec[*fold.Part], s Span) []PartView {
	s = s.within(parts.Len())
	out := make([]PartView, 0, s.To-s.From)
	for i, p := range parts.From(s.From) {
		if i >= s.To {
			break
		}
		out = append(out, PartView{Run: run, Row: row, Part: p})
	}
	return out
}

// apart are the row's children that no part of it shows.
func (v RowView) apart() []*fold.Child {
	var shown []string
	for _, p := range v.Row.Parts.All() {
		if p.Kind == part.KindChild {
			shown = append(shown, p.ID)
		}
	}
	var out []*fold.Child
	for _, c := range v.Row.Children {
		if !slices.Contains(shown, c.RunID) {
			out = append(out, c)
		}
	}
	return out
}

func (v RowView) hasAfter() bool {
	return v.Row.Evidence != "" || len(v.Row.Files) > 0 || v.sent() != "" || len(v.apart()) > 0 ||
		v.Row.ClosedByRunEnd || v.Row.Unverified || v.Row.ResolvedBy != ""
}

func childTicks(c *fold.Child) bool { return !c.State.Terminal() && !c.Started.IsZero() }
