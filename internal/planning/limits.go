package planning

import (
	"fmt"
	"unicode/utf8"
)

// Limits bound what a planner accepts (docs/planning.md, 'Limits'). A size of
// zero or less is no limit. Bytes are UTF-8 bytes, Chars are code points.
type Limits struct {
	// metronome and classic
	Stages           int // stages of the settled list
	IDChars          int
	ContentBytes     int
	ContentChars     int
	DeliverableBytes int
	EvidenceBytes    int
	TotalBytes       int // content and deliverable of all stages together
	FocusChars       int // classic
	NoteChars        int // classic

	// checklist; the same in both presets
	ChecklistSteps   int
	StepBytes        int // one step's trimmed text
	ChecklistBytes   int // all steps' texts together
	ExplanationBytes int

	// steps; cut, never refused; the same in both presets
	Steps      int
	LabelChars int // label, title and id
}

// NormalLimits is the preset 'normal'.
func NormalLimits() Limits {
	return Limits{
		Stages:           32,
		IDChars:          64,
		ContentBytes:     512,
		DeliverableBytes: 512,
		EvidenceBytes:    4 << 10,
		TotalBytes:       16 << 10,
		FocusChars:       40,
		NoteChars:        200,

		ChecklistSteps:   32,
		StepBytes:        512,
		ChecklistBytes:   16 << 10,
		ExplanationBytes: 4 << 10,

		Steps:      100,
		LabelChars: 200,
	}
}

// CompactLimits is the preset 'compact': 8 stages, ids of 40 and contents of
// 140 characters; everything else as in NormalLimits.
func CompactLimits() Limits {
	l := NormalLimits()
	l.Stages = 8
	l.IDChars = 40
	l.ContentBytes = 0
	l.ContentChars = 140
	return l
}

// checkBytes refuses a text of more than limit bytes.
func checkBytes(path, what, s string, limit int) *ToolError {
	if limit <= 0 || len(s) <= limit {
		return nil
	}
	return overLimit(path, "%s has %d bytes; the limit is %d bytes", what, len(s), limit)
}

// checkChars refuses a text of more than limit characters.
func checkChars(path, what, s string, limit int) *ToolError {
	if limit <= 0 || len(s) <= limit {
		return nil
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return overLimit(path, "%s has %d characters; the limit is %d characters", what, n, limit)
	}
	return nil
}

func overLimit(path, format string, args ...any) *ToolError {
	return &ToolError{Code: CodeLimit, Path: path, Message: fmt.Sprintf(format, args...) + ". Nothing was stored."}
}

// cutChars is s without what goes beyond limit characters.
func cutChars(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}
