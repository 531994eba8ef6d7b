package views

import (
	"encoding/json"
	"strings"
	"time"

	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// The fixtures of the gallery and the goldens: folded runs made by hand, at a
// fixed time.

var fixtureNow = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// at is so many seconds before fixtureNow.
func at(seconds float64) time.Time {
	return fixtureNow.Add(-time.Duration(seconds * float64(time.Second)))
}

func raw(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// sketch numbers the parts of one run.
type sketch struct{ n int }

func (s *sketch) part(kind part.Kind, state part.PartState, began, took float64) *fold.Part {
	s.n++
	p := &fold.Part{Part: part.Part{N: s.n, Kind: kind, State: state, Step: 1, Started: at(began)}}
	if took > 0 {
		p.Ended = at(began - took)
	}
	return p
}

func (s *sketch) text(markdown string) *fold.Part {
	p := s.part(part.KindText, part.StateDone, 60, 2)
	p.Blocks = cut(markdown)
	return p
}

func (s *sketch) reasoning(markdown string, began, took float64) *fold.Part {
	p := s.part(part.KindReasoning, part.StateDone, began, took)
	if took == 0 {
		p.State = part.StateStreaming
	}
	p.Blocks = cut(markdown)
	return p
}

func (s *sketch) tool(name string, state part.PartState, input, output any) *fold.Part {
	took := 1.4
	if state == part.StateInputAvailable || state == part.StateInputStreaming || state == part.StateApprovalRequested {
		took = 0
	}
	p := s.part(part.KindTool, state, 50, took)
	p.Tool = &part.Tool{CallID: "call-" + string(rune('a'+s.n%26)), Name: name, Input: raw(input)}
	p.ID = p.Tool.CallID
	if output != nil {
		p.Tool.Output = raw(output)
	}
	return p
}

func (s *sketch) data(t part.Type, v any) *fold.Part {
	p := s.part(part.KindData, "", 40, 0)
	p.DataType, p.Data = t, raw(v)
	return p
}

func (s *sketch) child(state part.State, goal string, brought any) (*fold.Part, *fold.Child) {
	c := &fold.Child{ChildData: part.ChildData{RunID: "run-child-" + string(state), Goal: goal, State: state, Capsule: raw(brought)}, Started: at(48)}
	if state.Terminal() {
		c.Ended = at(20)
	}
	p := s.part(part.KindChild, "", 48, 0)
	p.ID, p.Data = c.RunID, raw(c.ChildData)
	return p, c
}

// cut makes blocks of a markdown text: at blank lines outside fences.
func cut(markdown string) fold.Vec[*fold.Block] {
	var blocks fold.Vec[*fold.Block]
	var lines []string
	fenced := false
	flush := func() {
		text := strings.Join(lines, "\n")
		if lines = nil; text != "" {
			blocks = blocks.Append(&fold.Block{N: blocks.Len(), Kind: kindOf(text), Closed: true, Text: text})
		}
	}
	for line := range strings.SplitSeq(markdown, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if line == "" && !fenced {
			flush()
			continue
		}
		lines = append(lines, line)
	}
	flush()
	return blocks
}

func kindOf(text string) fold.BlockKind {
	switch {
	case strings.HasPrefix(text, "```"):
		return fold.BlockCode
	case strings.HasPrefix(text, "#"):
		return fold.BlockHeading
	case strings.HasPrefix(text, "|"):
		return fold.BlockTable
	case strings.HasPrefix(text, "- "):
		return fold.BlockList
	}
	return fold.BlockParagraph
}

// inPieces is a long open block.
func inPieces(kind fold.BlockKind, info string, pieces ...fold.Piece) fold.Vec[*fold.Block] {
	b := &fold.Block{Kind: kind, Info: info}
	for i := range pieces {
		p := pieces[i]
		p.N, p.Closed = i, i < len(pieces)-1
		b.Pieces = b.Pieces.Append(&p)
	}
	return fold.VecOf(b)
}

func stage(status fold.Status, index int, content string, parts ...*fold.Part) *fold.Row {
	r := &fold.Row{StageID: "stage-" + string(rune('0'+index)), Index: index, Content: content, Status: status, Parts: fold.VecOf(parts...)}
	if status != fold.RowPending && status != fold.RowCancelled {
		r.Started = at(float64(200 - 40*index))
		r.Elapsed = time.Duration(13*index) * time.Second
		r.Ended = r.Started.Add(r.Elapsed)
		r.Usage = part.Usage{Input: int64(2100 * index), Output: int64(420 * index), CacheRead: 9000}
	}
	if status == fold.RowInProgress || status == fold.RowWaiting {
		r.Ended, r.Elapsed = time.Time{}, 0
		r.Since, r.Live = r.Started, true
	}
	for _, p := range parts {
		if p.Kind == part.KindTool {
			r.Tools++
			r.Files = append(r.Files, p.Tool.Files...)
		}
	}
	return r
}

// run is a snapshot with these rows.
func run(id string, state part.State, rows ...*fold.Row) *fold.Snapshot {
	s := &fold.Snapshot{Seq: 120, State: state, Started: at(190), Step: 9, Usage: part.Usage{Input: 24800, Output: 5210, CacheRead: 61000, Reasoning: 900},
		Start: part.StartData{RunID: id, ChatID: "chat-1", UserText: "Find out why the nightly build got slow and write down what to change.", Model: "anthropic/claude-sonnet-4-5", PlanningMode: planning.Metronome},
		Rows:  fold.VecOf(rows...), Planned: len(rows) > 0, Total: len(rows)}
	for _, r := range rows {
		r.Total, r.HasNext = len(rows), r.Index < len(rows)
		if r.Status == fold.RowDone && !r.ClosedByRunEnd {
			s.Done++
		}
	}
	if state.Terminal() {
		s.Finished, s.FinishReason = at(2), part.ReasonStop
		for _, r := range rows {
			r.Live, r.Since = false, time.Time{}
		}
	}
	return s
}

func view(s *fold.Snapshot, render Renderer) RunView {
	return RunView{Snap: s, Now: fixtureNow, Render: render}
}
