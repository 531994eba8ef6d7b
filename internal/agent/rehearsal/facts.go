package rehearsal

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// facts are what the results of a run's calls say.
type facts struct {
	listed  bool
	listErr string
	partial bool // the list does not show every file
	files   []file
	read    map[string]reading
	todos   hits
	words   hits // lines with the prompt's word
}

type file struct {
	path string
	size int64
}

// reading is what read_file said of one file.
type reading struct {
	text   string
	lines  int
	binary bool
	err    string
}

// hits are the lines that a search found.
type hits struct {
	done    bool
	err     string
	partial bool
	lines   []hit
}

type hit struct {
	path string
	line int
	text string
}

func gather(s *scene, word string) facts {
	f := facts{read: map[string]reading{}}
	for _, c := range s.calls {
		in := c.in
		switch {
		case c.tool == "list_files" && in.Path == "":
			f.list(c)
		case c.tool == "read_file" && in.Offset == 0:
			f.read[in.Path] = readingOf(c)
		case c.tool == "search_files" && in.Query == todo:
			f.todos = hitsOf(c)
		case c.tool == "search_files" && in.Query == word:
			f.words = hitsOf(c)
		}
	}
	return f
}

const todo = "TODO"

var (
	filePattern = regexp.MustCompile(`^(.+)  (\d+) bytes$`)
	hitPattern  = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|.+?):(\d+): (.*)$`)
	gapPattern  = regexp.MustCompile(`(?m)^\[\.\.\. lines \d+-\d+ of (\d+) left out \.\.\.\]$`)
)

func (f *facts) list(c call) {
	if c.failed {
		f.listErr = c.result
		return
	}
	f.listed, f.listErr, f.files = true, "", nil
	f.partial = strings.Contains(c.result, "more than is listed") || gapPattern.MatchString(c.result)
	for line := range strings.Lines(c.result) {
		m := filePattern.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		size, _ := strconv.ParseInt(m[2], 10, 64)
		f.files = append(f.files, file{plainName(m[1]), size})
	}
}

// plainName is a name as it is on disk; the tools quote the odd ones.
func plainName(shown string) string {
	if plain, err := strconv.Unquote(shown); err == nil && strings.HasPrefix(shown, `"`) {
		return plain
	}
	return shown
}

func readingOf(c call) reading {
	if c.failed {
		return reading{err: c.result}
	}
	switch {
	case strings.HasPrefix(c.result, "[a binary file, "):
		return reading{binary: true}
	case c.result == "[the file is empty]":
		return reading{}
	}
	r := reading{text: c.result, lines: countLines(c.result)}
	if m := gapPattern.FindStringSubmatch(c.result); m != nil {
		r.lines, _ = strconv.Atoi(m[1])
	}
	return r
}

// countLines counts a last line without its newline too.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func hitsOf(c call) hits {
	h := hits{done: true}
	if c.failed {
		return hits{done: true, err: c.result}
	}
	for line := range strings.Lines(c.result) {
		line = strings.TrimSuffix(line, "\n")
		if m := hitPattern.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			h.lines = append(h.lines, hit{plainName(m[1]), n, m[3]})
		} else if strings.HasPrefix(line, "[") {
			h.partial = strings.Contains(line, "more matches") || strings.Contains(line, "not all")
		}
	}
	return h
}

// without leaves out the lines of one file.
func (h hits) without(name string) hits {
	h.lines = slices.DeleteFunc(slices.Clone(h.lines), func(l hit) bool { return l.path == name })
	return h
}

// summary is the numbers of the report; the report itself is left out.
type summary struct {
	files   int // listed
	read    int // of them as text
	binary  int
	failed  []string // could not be read
	unread  int      // not looked into
	lines   int
	bytes   int64
	longest counted   // by lines
	kinds   []kind    // most files first
	texts   []counted // most lines first
	todos   hits
	words   hits
}

type counted struct {
	path  string
	lines int
}

type kind struct {
	name  string
	files int
	lines int
}

// sum computes the numbers without the file named report.
func (f facts) sum(report string) summary {
	s := summary{todos: f.todos.without(report), words: f.words.without(report)}
	kinds := map[string]kind{}
	for _, file := range f.files {
		if file.path == report {
			continue
		}
		s.files++
		s.bytes += file.size
		k := kinds[kindOf(file.path)]
		k.name, k.files = kindOf(file.path), k.files+1
		r, ok := f.read[file.path]
		switch {
		case !ok:
			s.unread++
		case r.err != "":
			s.failed = append(s.failed, file.path)
		case r.binary:
			s.binary++
		default:
			s.read++
			s.lines += r.lines
			k.lines += r.lines
			s.texts = append(s.texts, counted{file.path, r.lines})
		}
		kinds[k.name] = k
	}
	for _, k := range kinds {
		s.kinds = append(s.kinds, k)
	}
	slices.SortFunc(s.kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(b.files, a.files), cmp.Compare(a.name, b.name))
	})
	slices.SortFunc(s.texts, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.lines, a.lines), cmp.Compare(a.path, b.path))
	})
	if len(s.texts) > 0 {
		s.longest = s.texts[0]
	}
	return s
}

var kindNames = map[string]string{
	".c": "C", ".css": "CSS", ".csv": "CSV", ".go": "Go", ".html": "HTML", ".java": "Java", ".js": "JavaScript",
	".json": "JSON", ".md": "Markdown", ".py": "Python", ".rs": "Rust", ".sh": "Shell", ".sql": "SQL",
	".toml": "TOML", ".ts": "TypeScript", ".txt": "Text", ".yaml": "YAML", ".yml": "YAML",
}

// kindOf names a file's kind by the end of its name.
func kindOf(name string) string {
	base := path.Base(name)
	ext := strings.ToLower(path.Ext(base))
	if known, ok := kindNames[ext]; ok {
		return known
	}
	if ext == "" || ext == "." || ext == strings.ToLower(base) {
		return "other"
	}
	return ext[1:]
}
