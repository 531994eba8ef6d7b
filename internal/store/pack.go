package store

import (
	"strconv"
	"strings"

	"stagefold/internal/part"
)

// maxJoined bounds a delta that joins others before the commit, in bytes.
const maxJoined = 32 << 10

// join adds an entry to what waits for a commit; a delta of the same part as
// the one before it becomes one with it.
func join(pending []*part.Entry, e *part.Entry) []*part.Entry {
	n := len(pending)
	if n == 0 || !plainDelta(e) || !plainDelta(pending[n-1]) || keyOf(pending[n-1]) != keyOf(e) || pending[n-1].Step != e.Step ||
		len(deltaOf(pending[n-1]))+len(deltaOf(e)) > maxJoined {
		return append(pending, e)
	}
	joined := *pending[n-1]
	joined.Delta += e.Delta
	joined.InputTextDelta += e.InputTextDelta
	pending[n-1] = &joined
	return pending
}

func isDelta(e *part.Entry) bool {
	return e.Type == part.TextDelta || e.Type == part.ReasoningDelta || e.Type == part.ToolInputDelta
}

// plainDelta: the entry only adds text to its part.
func plainDelta(e *part.Entry) bool {
	return isDelta(e) && !e.Late && len(e.ProviderMetadata) == 0 && (e.Delta == "" || e.InputTextDelta == "")
}

func deltaOf(e *part.Entry) string { return e.Delta + e.InputTextDelta }

// partKey names the part that an entry is about.
type partKey struct {
	kind part.Kind
	id   string
}

// keyOf is the part of an entry that begins, adds to or ends one.
func keyOf(e *part.Entry) partKey {
	switch e.Type {
	case part.TextStart, part.TextDelta, part.TextEnd:
		return partKey{part.KindText, e.ID}
	case part.ReasoningStart, part.ReasoningDelta, part.ReasoningEnd:
		return partKey{part.KindReasoning, e.ID}
	}
	return partKey{part.KindTool, e.ToolCallID}
}

// packer finds the deltas of a finished log that can stand as one: those of one
// part between which no other entry is about that part and no step is taken
// back. Building the packed log equals building the log.
type packer struct {
	open   map[partKey]*packed
	closed []*packed
}

// packed is one delta made of many, in place of the last of them.
type packed struct {
	last   *part.Entry
	first  int64
	text   strings.Builder
	pieces []piece
}

// piece is what one seq added.
type piece struct {
	seq   int64
	bytes int
}

func (p *packer) add(e *part.Entry) {
	if p.open == nil {
		p.open = map[partKey]*packed{}
	}
	switch {
	case e.Type == part.StepReset || e.Type == part.Finish:
		for key := range p.open {
			p.close(key)
		}
		return
	case !plainDelta(e):
		p.close(keyOf(e))
		return
	}
	key := keyOf(e)
	g := p.open[key]
	if g != nil && (g.last.Step != e.Step || g.last.Type != e.Type) {
		p.close(key)
		g = nil
	}
	if g == nil {
		g = &packed{first: e.Seq}
		p.open[key] = g
	}
	g.last = e
	g.text.WriteString(deltaOf(e))
	g.pieces = append(g.pieces, piece{e.Seq, len(deltaOf(e))})
}

func (p *packer) close(key partKey) {
	if g := p.open[key]; g != nil {
		delete(p.open, key)
		if len(g.pieces) > 1 {
			p.closed = append(p.closed, g)
		}
	}
}

// finish gives the packed deltas.
func (p *packer) finish() []*packed {
	for key := range p.open {
		p.close(key)
	}
	return p.closed
}

// entry is the delta that stands for all.
func (g *packed) entry() *part.Entry {
	e := *g.last
	if e.Type == part.ToolInputDelta {
		e.InputTextDelta = g.text.String()
	} else {
		e.Delta = g.text.String()
	}
	return &e
}

// format writes pieces as SEQ-DISTANCE:BYTES, the first distance from 0.
func format(pieces []piece) string {
	var b strings.Builder
	before := int64(0)
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatInt(p.seq-before, 10))
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(p.bytes))
		before = p.seq
	}
	return b.String()
}

// cut leaves in a packed delta what came behind one seq and not behind another;
// its seq becomes that of its last piece. False: nothing is left.
func cut(e *part.Entry, pieces string, after, upto int64) bool {
	from, to, seq, place, last := 0, 0, int64(0), 0, int64(0)
	for p := range strings.FieldsSeq(pieces) {
		distance, size, _ := strings.Cut(p, ":")
		n, _ := strconv.ParseInt(distance, 10, 64)
		bytes, _ := strconv.Atoi(size)
		seq += n
		switch {
		case seq <= after:
			from, to = place+bytes, place+bytes
		case seq <= upto:
			to, last = place+bytes, seq
		}
		place += bytes
	}
	if last == 0 || to > len(deltaOf(e)) {
		return false
	}
	e.Seq = last
	if e.Type == part.ToolInputDelta {
		e.InputTextDelta = e.InputTextDelta[from:to]
	} else {
		e.Delta = e.Delta[from:to]
	}
	return true
}
