package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"stagefold/internal/agent"
	"stagefold/internal/planning"
)

func (s *Set) searchFiles() agent.Tool {
	t := tool("search_files",
		"Finds the lines of the workspace's text files that hold a text, as PATH:LINE: TEXT. A query without capital letters finds capitals too. A query between slashes, such as /func \\w+/, is a regular expression for one line.",
		`{"type":"object","properties":{
			"query":{"type":"string","description":"The text to find, or /regular expression/."},
			"path":{"type":"string","description":"A folder or file to search, relative to the workspace. Leave it out for the whole workspace."}
		},"required":["query"],"additionalProperties":false}`,
		s.search)
	t.Idempotent = true
	return t
}

func (s *Set) search(ctx context.Context, raw json.RawMessage) agent.ToolResult {
	in, bad := parse(raw, "query", "path")
	if bad != nil {
		return failed(bad)
	}
	query, bad := in.filled("query")
	if bad != nil {
		return failed(bad)
	}
	asked, bad := in.optional("path")
	if bad != nil {
		return failed(bad)
	}
	wanted, bad := newPattern(query)
	if bad != nil {
		return failed(bad)
	}
	rel, bad := s.resolve(asked)
	if bad != nil {
		return failed(bad)
	}
	f := &finder{limits: s.limits, pattern: wanted}
	if bad := s.searchBelow(ctx, rel, f); bad != nil {
		return failed(bad)
	}
	return spoken(f.out.String()+f.note(), f.summary())
}

// searchBelow searches one file, or a folder until the time is over.
func (s *Set) searchBelow(ctx context.Context, rel string, f *finder) *planning.ToolError {
	info, err := s.root.Lstat(rel)
	if err != nil {
		return failure(err)
	}
	if !info.IsDir() {
		file, bad := loadFrom(ctx, s.root, rel, s.limits.Searched)
		if bad == nil {
			f.file(file)
		}
		return bad
	}
	timed, stop := context.WithTimeout(ctx, s.limits.Search)
	defer stop()
	whole, bad := s.walk(timed, rel, s.limits.Entries, func(e entry) error {
		if !e.info.Mode().IsRegular() {
			return nil
		}
		if e.info.Size() > s.limits.Searched {
			f.passed++
			return nil
		}
		file, bad := loadFrom(timed, e.dir, e.name, s.limits.Searched)
		if bad != nil {
			f.passed++
			return timed.Err()
		}
		file.path = e.path
		f.file(file)
		if f.full {
			return errEnough
		}
		return nil
	})
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	if timed.Err() != nil {
		f.late = true
		return nil
	}
	f.partial = !whole && !f.full
	return bad
}

// pattern is what a line is searched for: a text, or an expression.
type pattern struct {
	text []byte
	fold bool // text is in small letters and finds capitals too
	re   *regexp.Regexp
}

func newPattern(query string) (pattern, *planning.ToolError) {
	if expr, ok := strings.CutPrefix(query, "/"); ok && len(expr) > 1 && strings.HasSuffix(expr, "/") {
		re, err := regexp.Compile(strings.TrimSuffix(expr, "/"))
		if err != nil {
			return pattern{}, mistake("invalid_input", "query", "the regular expression is wrong: "+err.Error())
		}
		return pattern{re: re}, nil
	}
	if strings.ContainsAny(query, "\r\n") {
		return pattern{}, mistake("invalid_input", "query", "query must be one line")
	}
	return pattern{text: []byte(query), fold: !strings.ContainsFunc(query, unicode.IsUpper)}, nil
}

// in is where the pattern begins in the line; -1 for nowhere.
func (p pattern) in(line []byte) int {
	switch {
	case p.re != nil:
		if at := p.re.FindIndex(line); at != nil {
			return at[0]
		}
		return -1
	case p.fold:
		return min(bytes.Index(bytes.ToLower(line), p.text), len(line)) // small letters may be longer
	}
	return bytes.Index(line, p.text)
}

// misses: no line of the file can match.
func (p pattern) misses(file []byte) bool { return p.re == nil && p.in(file) < 0 }

// finder collects matching lines.
type finder struct {
	limits  Limits
	pattern pattern
	out     strings.Builder
	matches int
	found   int  // files with a match
	files   int  // files searched
	passed  int  // files too large, or not readable
	full    bool // the limit of matches or of output is reached
	late    bool // the time was over
	partial bool // some folders were not entered
}

const (
	matchBytes = 300 // shown of one matching line
	noteBytes  = 300 // room for the note below the lines
)

func (f *finder) file(file *blob) {
	if isBinary(file.data) {
		return
	}
	f.files++
	if f.pattern.misses(file.data) {
		return
	}
	name, before := shownName(file.path), f.matches
	number := 0
	for line := range bytes.Lines(file.data) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		at := f.pattern.in(line)
		if at < 0 {
			continue
		}
		text := fmt.Sprintf("%s:%d: %s\n", name, number, around(line, at))
		if f.matches == f.limits.Matches || f.out.Len()+len(text)+noteBytes > f.limits.Output {
			f.full = true
			break
		}
		f.out.WriteString(text)
		f.matches++
	}
	if f.matches > before {
		f.found++
	}
}

// around is the line, or the part of a long one that stands around at.
func around(line []byte, at int) string {
	text := string(line)
	if len(line) > matchBytes {
		from := max(0, at-matchBytes/3)
		text = string(line[from:min(len(line), from+matchBytes)])
		if from > 0 {
			text = "[...] " + text
		}
		if from+matchBytes < len(line) {
			text += " [...]"
		}
	}
	return strings.TrimSpace(readable([]byte(text)))
}

func (f *finder) summary() string {
	return plural(f.matches, "match", "matches") + " in " + plural(f.found, "file", "files")
}

// note is the last line of the output.
func (f *finder) note() string {
	text := f.summary() + "; " + plural(f.files, "file", "files") + " searched"
	if f.passed > 0 {
		text += fmt.Sprintf(", %d too large or not readable", f.passed)
	}
	switch {
	case f.full:
		text += "; there are more matches: search for a longer text or in one folder"
	case f.late:
		text += fmt.Sprintf("; not all, the search ended after %s", f.limits.Search)
	case f.partial:
		text += "; not all, there are too many files: name a folder as path"
	}
	return "[" + text + "]"
}
