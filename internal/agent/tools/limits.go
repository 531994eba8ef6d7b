package tools

import "time"

// Limits bound what a tool reads, searches and shows. A zero field takes the
// value of DefaultLimits.
type Limits struct {
	Output    int           // bytes of text shown to the model
	HeadLines int           // lines kept at the start of a long output
	TailLines int           // lines kept at its end
	LineBytes int           // bytes shown of one line
	File      int64         // bytes read from, or written to, one file
	Entries   int           // files and folders that one list_files or search_files visits
	Matches   int           // matching lines that one search_files shows
	Searched  int64         // bytes of a file that search_files still looks into
	Search    time.Duration // how long one search_files goes on
}

// DefaultLimits shows 200 + 300 lines or 32 KiB, whichever is less.
func DefaultLimits() Limits {
	return Limits{
		Output:    32 << 10,
		HeadLines: 200,
		TailLines: 300,
		LineBytes: 2000,
		File:      8 << 20,
		Entries:   20_000,
		Matches:   200,
		Searched:  2 << 20,
		Search:    10 * time.Second,
	}
}

// minOutput is the least output that still says something.
const minOutput = 512

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	l.Output = max(orElse(l.Output, d.Output), minOutput)
	l.HeadLines = orElse(l.HeadLines, d.HeadLines)
	l.TailLines = orElse(l.TailLines, d.TailLines)
	l.LineBytes = orElse(l.LineBytes, d.LineBytes)
	l.File = orElse(l.File, d.File)
	l.Entries = orElse(l.Entries, d.Entries)
	l.Matches = orElse(l.Matches, d.Matches)
	l.Searched = orElse(l.Searched, d.Searched)
	l.Search = orElse(l.Search, d.Search)
	return l
}

func orElse[T int | int64 | time.Duration](v, fallback T) T {
	if v <= 0 {
		return fallback
	}
	return v
}
