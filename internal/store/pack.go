package store

import (
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

// pack joins the deltas of each part: those between which no other entry is
// about that part and no step is taken back stand as one, in place of the first.
// Folding what comes out equals folding what went in.
func pack(list []*part.Entry) []*part.Entry {
	type open struct {
		at   int // of the first delta in out
		text strings.Builder
		many bool
	}
	parts := map[partKey]*open{}
	out := make([]*part.Entry, 0, len(list))
	end := func(key partKey) {
		if o := parts[key]; o != nil && o.many {
			out[o.at] = withDelta(out[o.at], o.text.String())
		}
		delete(parts, key)
	}
	for _, e := range list {
		key := keyOf(e)
		o := parts[key]
		if o != nil && plainDelta(e) && out[o.at].Step == e.Step && out[o.at].Type == e.Type {
			o.many = true
			o.text.WriteString(deltaOf(e))
			continue
		}
		switch {
		case plainDelta(e):
			end(key)
			o = &open{at: len(out)}
			o.text.WriteString(deltaOf(e))
			parts[key] = o
		case e.Type == part.StepReset || e.Type == part.Finish:
			for key := range parts {
				end(key)
			}
		default:
			end(key)
		}
		out = append(out, e)
	}
	for key := range parts {
		end(key)
	}
	return out
}

// withDelta is the delta with another text.
func withDelta(e *part.Entry, s string) *part.Entry {
	c := *e
	if e.Type == part.ToolInputDelta {
		c.InputTextDelta = s
	} else {
		c.Delta = s
	}
	return &c
}
