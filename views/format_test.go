package views

import (
	"testing"
	"time"

	"stagefold/internal/part"
)

func TestAgo(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"just now": 10 * time.Second, "1 min ago": 50 * time.Second, "2 min ago": 2*time.Minute + 10*time.Second, "59 min ago": 59*time.Minute + 20*time.Second,
		"1 h ago": 100 * time.Minute, "23 h ago": 23*time.Hour + 59*time.Minute, "yesterday": 30 * time.Hour, "6 days ago": 6*24*time.Hour + time.Hour,
		"20 Feb": 12 * 24 * time.Hour, "4 Mar 2025": 365 * 24 * time.Hour,
	} {
		if got := ago(fixtureNow, fixtureNow.Add(-d)); got != want {
			t.Errorf("%s before: %q, want %q", d, got, want)
		}
	}
	if ago(fixtureNow, time.Time{}) != "" || ago(fixtureNow, fixtureNow.Add(time.Hour)) != "just now" {
		t.Error("no time and a time ahead are not told")
	}
}

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": -time.Second, "0.0 s": 0, "0.8 s": 830 * time.Millisecond, "9.9 s": 9940 * time.Millisecond, "10 s": 10 * time.Second,
		"59 s": 59900 * time.Millisecond, "1 min 00 s": time.Minute, "3 min 05 s": 185 * time.Second, "1 h 02 min": 62*time.Minute + 59*time.Second, "30 h 00 min": 30 * time.Hour,
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, n := range map[string]int64{"0": 0, "950": 950, "1.2k": 1234, "9.9k": 9940, "10k": 9960, "34k": 34400, "999k": 999_400, "1.0M": 999_600, "12.3M": 12_345_678} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTokenDetail(t *testing.T) {
	got := tokenDetail(part.Usage{Input: 10, Output: 5, CacheRead: 3, CacheWrite: 2, Reasoning: 4})
	if want := "20 tokens: 10 input, 5 output (4 of it reasoning), 3 read from cache, 2 written to it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 4, "äöüß"}, {"äöüßx", 4, "äöü…"}, {"", 1, ""}} {
		if got := short(c.in, c.n); got != c.want {
			t.Errorf("short(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
