package agent

import "stagefold/internal/part"

// verdict is what the loop does with an answer: content and reason decide
// together, and only a whole answer runs its calls.
type verdict int

const (
	runCalls  verdict = iota // run the calls; one with bad arguments gets an error result
	tellModel                // no call runs; the model is told why and asked again
	askAgain                 // the provider paused: ask again as it is
	endNormal                // the model's own end
	endLength                // the provider's output limit
	endFilter                // the content filter
)

// shape says how far an answer's tool calls came.
type shape int

const (
	noCalls    shape = iota
	wholeCalls       // the arguments of every call reached their end
	cutCalls         // those of at least one did not
)

// decide maps an answer to its verdict. broken: a fragment of a call could not
// be placed; pause: the provider paused its turn.
func decide(reason part.FinishReason, calls shape, broken, pause bool) verdict {
	switch {
	case reason == part.ReasonContentFilter:
		return endFilter
	case broken, calls == cutCalls:
		return tellModel
	case reason == part.ReasonLength && calls == wholeCalls:
		return tellModel // the last call may be cut where its arguments still read well
	case reason == part.ReasonLength:
		return endLength
	case calls == wholeCalls:
		return runCalls
	case pause:
		return askAgain
	case reason == part.ReasonToolCalls:
		return tellModel // calls were announced and none came
	}
	return endNormal
}
