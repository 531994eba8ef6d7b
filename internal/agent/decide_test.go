package agent

import (
	"fmt"
	"testing"

	"stagefold/internal/part"
)

// The content decides and the reason refines (HO-02): every combination.
func TestDecide(t *testing.T) {
	type row struct {
		reason part.FinishReason
		calls  shape
		want   verdict
	}
	rows := []row{
		{part.ReasonStop, noCalls, endNormal},
		{part.ReasonStop, wholeCalls, runCalls},
		{part.ReasonStop, cutCalls, tellModel},
		{part.ReasonToolCalls, noCalls, tellModel},
		{part.ReasonToolCalls, wholeCalls, runCalls},
		{part.ReasonToolCalls, cutCalls, tellModel},
		{part.ReasonLength, noCalls, endLength},
		{part.ReasonLength, wholeCalls, tellModel},
		{part.ReasonLength, cutCalls, tellModel},
		{part.ReasonContentFilter, noCalls, endFilter},
		{part.ReasonContentFilter, wholeCalls, endFilter},
		{part.ReasonContentFilter, cutCalls, endFilter},
		{"", noCalls, endNormal},
		{"", wholeCalls, runCalls},
		{"", cutCalls, tellModel},
	}
	for _, r := range rows {
		t.Run(fmt.Sprintf("%s/%d", r.reason, r.calls), func(t *testing.T) {
			if got := decide(r.reason, r.calls, false, false); got != r.want {
				t.Errorf("got %d, want %d", got, r.want)
			}
			broken := tellModel
			if r.reason == part.ReasonContentFilter {
				broken = endFilter
			}
			if got := decide(r.reason, r.calls, true, false); got != broken {
				t.Errorf("with a broken fragment: got %d, want %d", got, broken)
			}
			paused := r.want
			if r.calls == noCalls && (r.want == endNormal || r.want == tellModel) {
				paused = askAgain
			}
			if got := decide(r.reason, r.calls, false, true); got != paused {
				t.Errorf("paused: got %d, want %d", got, paused)
			}
		})
	}
}
