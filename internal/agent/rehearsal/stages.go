package rehearsal

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// stage is one part of the work.
type stage struct {
	id, content, deliverable string
	intro                    string // said before its calls
	orders                   []order
	evidence                 string // from the results
	says                     string // said before it is closed
	dropped                  bool   // written off
}

// maxRead bounds the files that are read.
const maxRead = 24

// plan is the stages that are still worth doing.
func (p *script) plan() []stage {
	read := p.readOrders()
	stages := []stage{p.survey()}
	if p.brief.long {
		half := (len(read) + 1) / 2
		stages = append(stages,
			p.reading("first", "Read the first half of the files, line by line", read[:half]),
			p.reading("second", "Read the second half of the files, line by line", read[half:]),
			p.searching("todos", "Search for TODO", todo),
			p.searching("words", "Search for "+quoted(p.brief.word), p.brief.word),
			p.closer())
	} else {
		stages = append(stages, p.reading("read", "Read the files that the survey found", read), p.counting())
	}
	if p.noReport() {
		return append(stages, stage{
			id: "answer", content: "Put the report into the chat", deliverable: "the report as text",
			evidence: "the report stands in the chat, since it could not be written to a file",
			says:     p.reportText(),
		})
	}
	return append(stages, p.writing(), p.checking())
}

// noReport: a report file cannot be written.
func (p *script) noReport() bool {
	c, tried := p.wrote()
	return tried && c.failed || !p.scene.tools["write_file"]
}

// wrote finds the call that wrote the report.
func (p *script) wrote() (call, bool) {
	for _, c := range p.scene.calls {
		if c.tool == "write_file" {
			return c, true
		}
	}
	return call{}, false
}

func (p *script) survey() stage {
	s := p.sum()
	st := stage{
		id: "survey", content: "Survey the workspace: " + p.brief.topic, deliverable: "every file with its kind and size",
		intro: "First I look at what is there.", orders: []order{{"list_files", "{}"}},
		evidence: fmt.Sprintf("list_files shows %s of %s, %d bytes in all", plural(s.files, "file"), plural(len(s.kinds), "kind"), s.bytes),
	}
	if !p.facts.listed {
		st.evidence = "the files could not be listed: " + p.facts.listErr
	}
	return st
}

func (p *script) reading(id, content string, orders []order) stage {
	s := p.sum()
	st := stage{
		id: id, content: content, deliverable: "the lines of each file", orders: orders,
		intro:    "I read what these files really say.",
		evidence: fmt.Sprintf("%d of %s read, %s in all", s.read, plural(s.files, "file"), plural(s.lines, "line")),
	}
	if len(orders) == 0 {
		st.evidence = "nothing to read: " + plural(s.files, "file") + " listed"
		st.says = p.account()
	}
	if len(s.failed) > 0 {
		st.evidence += "; not readable: " + strings.Join(s.failed, ", ")
	}
	return st
}

// counting searches and counts in one stage.
func (p *script) counting() stage {
	st := p.searching("count", "Search for TODO and count", todo)
	if p.brief.word != "" {
		words := p.searching("", "", p.brief.word)
		st.content = "Search for TODO and " + quoted(p.brief.word) + ", and count"
		st.orders = append(st.orders, words.orders...)
		st.evidence += "; " + words.evidence
	}
	return st
}

func (p *script) searching(id, content, query string) stage {
	found := p.facts.words.without(p.report)
	if query == todo {
		found = p.facts.todos.without(p.report)
	}
	st := stage{
		id: id, content: content, deliverable: "the lines with their numbers",
		intro:    "Now I search instead of guessing.",
		orders:   []order{{"search_files", object(fields{Query: query})}},
		evidence: fmt.Sprintf("%s hold %s", found.count("line"), quoted(query)),
	}
	if found.err != "" {
		st.evidence = "the search for " + quoted(query) + " failed: " + found.err
	}
	return st
}

// closer looks at the longest file again.
func (p *script) closer() stage {
	s := p.sum()
	st := stage{
		id: "closer", content: "Look closer at the longest file", deliverable: "what it begins with",
		intro:    "The longest file deserves a second look.",
		evidence: "there is no file to look at",
		says:     p.account(),
	}
	if s.longest.path != "" {
		st.orders = []order{{"read_file", object(fields{Path: s.longest.path, Offset: 1, Limit: 12})}}
		st.evidence = fmt.Sprintf("%s has %s, more than any other", s.longest.path, plural(s.longest.lines, "line"))
	}
	return st
}

func (p *script) writing() stage {
	return stage{
		id: "write", content: "Write the report", deliverable: p.brief.report + ", or a free name beside it",
		intro:    "The numbers are there. I write them down.",
		orders:   []order{{"write_file", object(fields{Path: p.report, Content: p.reportText()})}},
		evidence: fmt.Sprintf("%s written, %s", p.report, plural(countLines(p.reportText()), "line")),
	}
}

// checking reads the report back; the offset sets the call apart from reading
// an older report.
func (p *script) checking() stage {
	o := order{"read_file", object(fields{Path: p.report, Offset: 1})}
	st := stage{
		id: "check", content: "Check the report against what was written", deliverable: "the report read back",
		intro: "I check that the file holds what I meant.", orders: []order{o},
		evidence: "the report was not read back",
	}
	if back, ok := p.scene.did(o); ok {
		sent, _ := p.wrote()
		switch {
		case back.failed:
			st.evidence = p.report + " could not be read back: " + back.result
		case back.result == sent.in.Content:
			st.evidence = fmt.Sprintf("%s read back: %s, equal to what was written", p.report, plural(countLines(back.result), "line"))
		default:
			st.evidence = p.report + " read back: it differs from what was written"
		}
	}
	return st
}

// readOrders reads what may be an earlier report first, since the new one may
// only replace one of these.
func (p *script) readOrders() []order {
	var reports, others []string
	if p.facts.partial || !p.facts.listed {
		reports = append(reports, p.reportName(1), p.reportName(2))
	}
	for _, f := range p.facts.files {
		switch {
		case slices.Contains(reports, f.path):
		case p.isReportName(f.path):
			reports = append(reports, f.path)
		default:
			others = append(others, f.path)
		}
	}
	names := append(reports, others...)
	var orders []order
	for _, name := range names[:min(len(names), maxRead)] {
		orders = append(orders, order{"read_file", object(fields{Path: name})})
	}
	return orders
}

// freeName is the first name for the report that is free or holds an earlier
// report: nothing of the user's is ever written over.
func (p *script) freeName() string {
	if c, ok := p.wrote(); ok {
		return c.in.Path
	}
	for n := 1; ; n++ {
		name := p.reportName(n)
		r, read := p.facts.read[name]
		there := read && r.err == "" || slices.ContainsFunc(p.facts.files, func(f file) bool { return f.path == name })
		if !there || strings.Contains(r.text, signature) {
			return name
		}
	}
}

// reportName is the name that is tried as the nth.
func (p *script) reportName(n int) string {
	stem := strings.TrimSuffix(p.brief.report, ".md")
	switch n {
	case 1:
		return p.brief.report
	case 2:
		return stem + "-rehearsal.md"
	}
	return fmt.Sprintf("%s-rehearsal-%d.md", stem, n-1)
}

func (p *script) isReportName(name string) bool {
	stem := strings.TrimSuffix(p.brief.report, ".md")
	return name == p.brief.report || strings.HasPrefix(name, stem+"-rehearsal") && path.Ext(name) == ".md"
}
