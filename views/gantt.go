package views

import (
	"strconv"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

const ganttLine = 24 // pixels a stage

// gantt is a run's stages over its time; places are percentages, so that the
// picture needs no style and fits any width.
type gantt struct {
	Bars     []bar
	Height   string
	From, To string
	Label    string
}

type bar struct {
	Name, Target, Title string
	Status              fold.Status
	X, Width            string // Width "": the stage was never current
	Y, TrackY           string
}

func ganttOf(v RunView) gantt {
	end := v.Snap.Finished
	if end.IsZero() {
		end = v.Now
	}
	whole := end.Sub(v.Snap.Started)
	g := gantt{Height: strconv.Itoa(ganttLine * v.Snap.Rows.Len()), From: exact(v.Snap.Started), To: "+ " + duration(whole),
		Label: plural(v.Snap.Rows.Len(), "stage") + " over " + duration(whole)}
	for i, r := range v.Snap.Rows.All() {
		row := RowView{Run: v, Row: r}
		b := bar{Name: strconv.Itoa(r.Index) + " " + short(Line(r.Content), 48), Target: row.ID(), Status: r.Status,
			Y: strconv.Itoa(i*ganttLine + 7), TrackY: strconv.Itoa(i*ganttLine + 11)}
		if !r.Started.IsZero() && whole > 0 {
			to := r.Ended
			if to.IsZero() {
				to = end
			}
			from := share(r.Started.Sub(v.Snap.Started), whole)
			width := max(share(to.Sub(r.Started), whole), 0.4)
			b.X, b.Width = percent(min(from, 100-0.4)), percent(min(width, 100-min(from, 100-0.4)))
			b.Title = Line(r.Content) + ": " + statusWord(r.Status) + ", " + row.elapsed()
		}
		g.Bars = append(g.Bars, b)
	}
	return g
}

// share is a part of the whole in percent, from 0 to 100.
func share(d, whole time.Duration) float64 {
	return min(max(100*float64(d)/float64(whole), 0), 100)
}

func percent(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) + "%" }

// fact is one figure of a run's header.
type fact struct{ Name, Text, Title string }

func (p RunPageView) facts() []fact {
	s := p.Run.Snap
	var out []fact
	add := func(name, text, title string) {
		if text != "" {
			out = append(out, fact{name, text, title})
		}
	}
	if s.Total > 0 {
		add("Stages", ofTotal(s.Done, s.Total)+" done", "")
	}
	if len(s.Debt) > 0 {
		add("Left open", plural(len(s.Debt), "stage"), "")
	}
	add("Time", p.Run.took(), "")
	if tokens(s.Usage) > 0 {
		add("Tokens", count(tokens(s.Usage)), tokenDetail(s.Usage))
	}
	add("Cost", Line(p.Run.Cost), "")
	add("Steps", strconv.Itoa(s.Step), "Model calls")
	add("Model", Line(firstOf(p.Model, s.Start.Model)), "")
	add("Planning", Line(string(s.Start.PlanningMode)), modeWord(s.Start.PlanningMode))
	add("Started", ago(p.Run.Now, s.Started), exact(s.Started))
	return out
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// phaseWord is a phase as a class name and a word: only the four that exist.
func phaseWord(p part.Phase) string {
	switch p {
	case part.PhasePlan, part.PhaseAct, part.PhaseObs, part.PhaseReflect:
		return string(p)
	}
	return "other"
}
