package rehearsal

import (
	"fmt"
	"strings"

	"stagefold/internal/planning"
)

// told says what the calls of the last step came to, with an empty line behind.
func (p *script) told() string {
	var told []string
	for _, c := range p.scene.last {
		if text := p.tell(c); text != "" {
			told = append(told, text)
		}
	}
	switch {
	case len(told) == 0:
		return ""
	case len(told) == 1:
		return strings.TrimSpace(told[0]) + "\n\n"
	}
	return "- " + strings.Join(told, "\n- ") + "\n\n"
}

func (p *script) tell(c call) string {
	in := c.in
	why := oneLine(cut(c.result, 300))
	switch {
	case c.failed && c.tool == "read_file":
		return code(in.Path) + " could not be read: " + why
	case c.failed && c.tool == "write_file":
		return code(in.Path) + " could not be written: " + why
	case c.failed && planning.IsPlannerTool(c.tool):
		return "The plan was not changed: " + why
	case c.failed:
		return code(c.tool) + " did not work: " + why
	}
	switch c.tool {
	case "list_files":
		return "The workspace holds " + p.kinds() + "."
	case "read_file":
		if p.brief.long {
			return walk(in.Path, c.result)
		}
		return code(in.Path) + ": " + plural(readingOf(c).lines, "line") + "."
	case "search_files":
		return hitsOf(c).without(p.report).count("line") + " hold " + quoted(in.Query) + "."
	case "write_file":
		return code(in.Path) + " is written."
	}
	return ""
}

// kinds is the files by kind as half a sentence.
func (p *script) kinds() string {
	s := p.sum()
	if s.files == 0 {
		return "no files"
	}
	var parts []string
	for _, k := range s.kinds[:min(len(s.kinds), shownKinds)] {
		parts = append(parts, fmt.Sprintf("%d %s", k.files, k.name))
	}
	return plural(s.files, "file") + " (" + strings.Join(parts, ", ") + ")"
}

// count is how many lines were found, with the word for one.
func (h hits) count(one string) string {
	if h.partial {
		return "at least " + plural(len(h.lines), one)
	}
	return plural(len(h.lines), one)
}

// walked is how many lines of a file the long script goes through.
const walked = 60

// walk goes through a file line by line.
func walk(name, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Line by line through %s:\n\n", code(name))
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > walked {
			b.WriteString("- and so on to the end of the file\n")
			break
		}
		line = strings.TrimSpace(line)
		switch words := len(strings.Fields(line)); {
		case line == "":
			fmt.Fprintf(&b, "- Line %d is empty.\n", n)
		default:
			fmt.Fprintf(&b, "- Line %d has %s and %s; it says %s.\n", n,
				plural(words, "word"), plural(len([]rune(line)), "character"), code(cut(line, 80)))
		}
	}
	return b.String()
}

// describe says what a call is going to do.
func describe(o order) string {
	in := fieldsOf([]byte(o.input))
	switch o.tool {
	case "list_files":
		return "list the files"
	case "read_file":
		return "read " + in.Path
	case "search_files":
		return "search for " + quoted(in.Query)
	}
	return "write " + in.Path
}

// account sums up the work so far. It is long enough to count as work where a
// stage had nothing to call (docs/planning.md, 'Empty tick').
func (p *script) account() string {
	s := p.sum()
	return fmt.Sprintf("So far: the list shows %s, of which %d were read as text and %d are binary. "+
		"Together they have %s; %s hold TODO. Where a stage finds nothing to do, as in an empty workspace, "+
		"I say so here in words, and I close it with what I really found, even if that is little.\n",
		plural(s.files, "file"), s.read, s.binary, plural(s.lines, "line"), s.todos.count("line"))
}

// headline is the result in one sentence.
func (p *script) headline() string {
	s := p.sum()
	where := "; the report stands in the chat"
	if c, tried := p.wrote(); tried && !c.failed {
		where = " and wrote " + p.report
	}
	return fmt.Sprintf("Read %d of %s (%s, %s with TODO)%s.", s.read, plural(s.files, "file"), plural(s.lines, "line"), s.todos.count("line"), where)
}

// answer is the final text of a run.
func (p *script) answer() string {
	s := p.sum()
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", p.brief.topic, p.headline())
	if p.noReport() && !p.planner() {
		return b.String() + p.reportText() + "\n" + closing
	}
	b.WriteString(p.numberTable(s))
	b.WriteString("\n**Lines with TODO**\n\n" + todoList(s.todos, 10))
	b.WriteString("\n**Lines of each file**\n\n" + bars(s.texts, 10) + "\n")
	if open := p.open(); len(open) > 0 {
		fmt.Fprintf(&b, "The planner did not take my last calls; open stages: %s.\n\n", strings.Join(open, "; "))
	}
	return b.String() + closing
}

const closing = "All numbers come from the files that the tools showed me. I am the rehearsal model, a script without a language model behind it.\n"

// open is the stages of the accepted plan that are not closed.
func (p *script) open() []string {
	contents := p.accepted()
	return contents[min(p.closed(), len(contents)):]
}

// farewell is said where the answer has been given already.
func (p *script) farewell() string {
	if open := p.open(); len(open) > 0 {
		return "My answer stands above. I could not close these stages: " + strings.Join(open, "; ") + ".\n"
	}
	return "My answer stands above; there is nothing left to do for it.\n"
}

// plainAnswer is for a question: no plan and no tool.
func (p *script) plainAnswer() reply {
	if p.scene.told > 0 {
		return reply{text: p.farewell()}
	}
	return reply{
		reasoning: "The message ends with a question mark, so it gets a plain answer without a plan.",
		text:      plainText,
	}
}

const plainText = `I am the **rehearsal model**: a script that needs no key. I cannot really answer questions, because there is no language model behind me, but I work with the real tools on the real workspace. Send me a task instead, for instance:

- ` + "`Survey the workspace and write report.md`" + ` plans the work, reads the files, counts their lines, finds the TODO lines and writes a report with the numbers.
- A task with the word **long** takes minutes, so that Stop, reload and a second tab can be tried.
- A task with the word **fail** breaks off in its third stage, so that a failed run can be seen.

With a provider's key in the environment, a real model stands in the picker beside me.
`

// prose is what the long script adds when it closes a stage.
var prose = []string{
	`A word on what you see. The plan above the composer is not a drawing of the work, it is the work's own list: each row is one stage, and whatever I say, read or write while a stage is the current one is kept in that row. Open a row and you find the calls with their inputs and outputs, the text around them, and at the end the evidence with which the stage was closed. A row that you opened stays open, and a row that you closed stays closed, however much text arrives below it. If you leave this page now and come back on another device, you find the same rows in the same state, because the page is made from the run's stored log and from nothing else.`,
	`Stop is worth a try at any time. It ends the model's request and every tool that still runs; the stage that was current shows a square, those before it keep their checks, and those after it stay as they are, not done and not spinning. Nothing on the page moves after that. The next message you send begins a new run; the stages that were left open are handed over to it, and what was done stays with this one. If you stop while a file is being written, there stands either the old file or the new one, never half of it.`,
	`A stage closes only with evidence. I call the planner's tool and say what I found, and the runtime looks at whether anything was done since the stage before: a call that came back with an output, or a text of some length. If nothing was done, the runtime refuses once and tells me so. A stage that is closed all the same is marked as unverified, so that you can see it. Counting, listing and reading are cheap here, but the rule is the same for a model that claims to have run your tests.`,
	`While this text runs, try the second tab. Both show the same run, word by word, from the same bytes. Close one of them, wait, and open it again: what came in between is there at once, and nothing stands there twice. Or take the network away for a moment: the page says that the connection is lost, the run goes on at the server, and the page catches up by itself when the network is back. A run does not belong to a browser.`,
	`You can also write the next message now. It is queued below the composer, where you can change it or take it back, and it is sent when this run ends. There is never a second run beside the first one in the same chat, and the queued message is never lost: if you stop this run, it is held until you send it yourself. In another chat another run can work at the same time, on the same workspace, with its own plan and its own log.`,
	`The numbers beside a row are its own: the time in which the stage was the current one, the tool calls that belong to it, and the tokens of the steps that began in it. For me the tokens are counted from words, since a script has no tokens; a real provider reports them. When the run is over, the page of the run shows the same rows with a bar for each stage, so that you can see next week where the time went, and print it, and find any word of it with the browser's own search.`,
}
