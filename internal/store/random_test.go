package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"stagefold/internal/part"
)

// randomLog is a log as a run may write it, and as it should not: parts that
// stream side by side, deltas of parts that ended or never began, ids used
// again, steps taken back, entries out of order. It has no finish.
func randomLog(r *rand.Rand, n int) []*part.Entry {
	list := []*part.Entry{start()}
	step := 1
	id := func() string { return string(rune('a' + r.IntN(3))) }
	for len(list) < n {
		var e *part.Entry
		switch r.IntN(48) {
		case 0:
			step++
			e = startStep(step)
		case 1:
			e = finishStep(step, int64(r.IntN(50)))
		case 2:
			e = &part.Entry{Type: part.StepReset, Step: 1 + r.IntN(step)}
		case 3, 4:
			e = textStart(step, id())
		case 5:
			e = textEnd(step, id())
		case 6:
			e = &part.Entry{Type: part.ReasoningStart, Step: step, ID: id()}
		case 7:
			e = &part.Entry{Type: part.ReasoningEnd, Step: step, ID: id(), ProviderMetadata: json.RawMessage(`{"signature":"x"}`)}
		case 8, 9:
			e = callStart(step, id())
		case 10:
			e = callInput(step, id(), fmt.Sprintf(`{"n":%d}`, r.IntN(9)))
		case 11:
			e = callOutput(step, id(), `"out"`)
		case 12:
			e = &part.Entry{Type: part.ToolApprovalRequest, Step: step, ToolCallID: id(), ApprovalID: "p" + id()}
		case 13:
			yes := r.IntN(2) == 0
			e = &part.Entry{Type: part.ToolApprovalAnswer, Step: step, ApprovalID: "p" + id(), Approved: &yes}
		case 14:
			e = &part.Entry{Type: part.Child, Step: step, Data: json.RawMessage(`{"runId":"child","goal":"g","state":"running"}`)}
		case 15, 16:
			e = callDelta(step, id(), fmt.Sprint("{", r.IntN(100)))
		case 17:
			e = &part.Entry{Type: part.ReasoningDelta, Step: step, ID: id(), Delta: fmt.Sprint("r", r.IntN(100))}
		default:
			e = delta(step, id(), fmt.Sprint("é", r.IntN(100), " "))
		}
		if isDelta(e) {
			switch r.IntN(20) {
			case 0:
				e.ProviderMetadata = json.RawMessage(fmt.Sprint(r.IntN(9)))
			case 1:
				e.Late = true
			case 2:
				e.Step = 1 + r.IntN(step)
			}
		}
		list = append(list, e)
	}
	return list
}
