package store

import "stagefold/internal/part"

// pack joins the deltas of each part into its first one. Folding the packed log
// equals folding the log; its seqs rise, with gaps.
func pack(entries []*part.Entry) []*part.Entry {
	first := map[string]int{} // by kind and id of the open part, its first delta's place in out
	var out []*part.Entry
	for _, e := range entries {
		switch e.Type {
		case part.TextStart, part.ReasoningStart, part.ToolInputStart:
			delete(first, deltaKey(e))
		case part.TextDelta, part.ReasoningDelta, part.ToolInputDelta:
			key := deltaKey(e)
			if i, ok := first[key]; ok {
				joined := *out[i]
				joined.Delta += e.Delta
				joined.InputTextDelta += e.InputTextDelta
				out[i] = &joined
				continue
			}
			first[key] = len(out)
		}
		out = append(out, e)
	}
	return out
}

// deltaKey names the part that an entry opens or adds to.
func deltaKey(e *part.Entry) string {
	switch e.Type {
	case part.TextStart, part.TextDelta:
		return "text " + e.ID
	case part.ReasoningStart, part.ReasoningDelta:
		return "reasoning " + e.ID
	}
	return "tool " + e.ToolCallID
}

// join adds an entry to what waits for a commit; a delta of the same part as
// the one before it becomes one with it.
func join(pending []*part.Entry, e *part.Entry) []*part.Entry {
	n := len(pending)
	if !isDelta(e) || n == 0 || pending[n-1].Type != e.Type || deltaKey(pending[n-1]) != deltaKey(e) || pending[n-1].Step != e.Step {
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
