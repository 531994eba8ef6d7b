package views

import (
	"fmt"
	"strconv"
	"time"

	"stagefold/internal/part"
)

// ago is a time as a reader says it: 'just now', '2 min ago', 'yesterday', a
// date after a week. The exact time stands in the title.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < 45*time.Second:
		return "just now"
	case d < time.Hour:
		return strconv.Itoa(max(1, int(d.Round(time.Minute)/time.Minute))) + " min ago"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h ago"
	case d < 48*time.Hour:
		return "yesterday"
	case d < 7*24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + " days ago"
	case t.Year() == now.Year():
		return t.UTC().Format("2 Jan")
	}
	return t.UTC().Format("2 Jan 2006")
}

// exact is the whole time, for titles and reviews.
func exact(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006, 15:04:05 UTC")
}

// stamp is a time for machines: datetime and data-since.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// duration is a span with two units at most: '0.8 s', '12 s', '3 min 05 s',
// '1 h 02 min'. The page's client ticks in the same form.
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 9950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d/time.Minute), int(d/time.Second)%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d/time.Hour), int(d/time.Minute)%60)
}

// between is the span from one time to another, "" where one is missing.
func between(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return duration(to.Sub(from))
}

// count is a number for a narrow place: 950, 1.2k, 34k, 1.2M.
func count(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9950:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 999_500:
		return strconv.FormatInt((n+500)/1000, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// plural is 'no files', '1 file', '2 files' with "file".
func plural(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// tokens is all that a usage counts.
func tokens(u part.Usage) int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// tokenDetail names each kind of token, for a title.
func tokenDetail(u part.Usage) string {
	s := fmt.Sprintf("%d tokens: %d input, %d output", tokens(u), u.Input, u.Output)
	if u.Reasoning > 0 {
		s += fmt.Sprintf(" (%d of it reasoning)", u.Reasoning)
	}
	if u.CacheRead > 0 || u.CacheWrite > 0 {
		s += fmt.Sprintf(", %d read from cache, %d written to it", u.CacheRead, u.CacheWrite)
	}
	return s
}

func bytesOf(n int) string {
	switch {
	case n < 1024:
		return strconv.Itoa(n) + " B"
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// short cuts a line at n characters.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
