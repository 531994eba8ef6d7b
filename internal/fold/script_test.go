package fold

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

var update = flag.Bool("update", false, "rewrite the scripts' expectations")

// TestScripts runs the cases of testdata/*.script. A case is a name behind #, a
// log in the words of script.line, a rule, and what the page shows; a line
// 'show' in the log shows the state in between.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for i, text := range strings.Split("\n"+string(raw), "\n# ")[1:] {
			name, body, _ := strings.Cut(text, "\n")
			log, want, _ := strings.Cut(body, "----\n")
			want = strings.TrimRight(want, "\n") + "\n"
			t.Run(strings.TrimSuffix(filepath.Base(file), ".script")+"/"+name, func(t *testing.T) {
				s := newScript()
				for line := range strings.Lines(log) {
					if err := s.line(strings.TrimSpace(line)); err != nil {
						t.Fatalf("%s: %v", strings.TrimSpace(line), err)
					}
				}
				s.show()
				if i > 0 {
					out.WriteString("\n")
				}
				fmt.Fprintf(&out, "# %s\n%s----\n%s", name, log, s.out.String())
				checkLog(t, s.log, 1)
				if d := cmp.Diff(want, s.out.String()); d != "" && !*update {
					t.Error(d)
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// script makes a log of readable lines.
type script struct {
	log   []*part.Entry
	f     *Folder
	at    time.Time
	step  int
	calls int
	texts int
	tools map[string]string // the tool of a call
	out   strings.Builder
}

func newScript() *script {
	return &script{f: New(), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), tools: map[string]string{}}
}

func (s *script) add(e part.Entry) {
	s.at = s.at.Add(time.Second)
	e.Seq, e.Time = int64(len(s.log)+1), s.at
	if e.Step == 0 {
		e.Step = s.step
	}
	s.log = append(s.log, &e)
	s.f.Apply(&e)
}

func (s *script) line(line string) error {
	if line == "" {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(word, "+") {
		d, err := time.ParseDuration(word[1:])
		s.at = s.at.Add(d)
		return err
	}
	first, more, _ := strings.Cut(rest, " ")
	switch word {
	case "show":
		s.show()
	case "step":
		s.step++
		s.add(part.Entry{Type: part.StartStep})
	case "end": // end 10/5: the step ends, with its usage
		in, out, _ := strings.Cut(rest, "/")
		s.add(part.Entry{Type: part.FinishStep, Usage: &part.Usage{Input: number(in), Output: number(out)}})
	case "reset":
		s.add(part.Entry{Type: part.StepReset, Step: int(number(rest))})
	case "text", "think":
		s.texts++
		id := "t" + strconv.Itoa(s.texts)
		s.textEntry(word == "think", 0, id, "")
		s.textEntry(word == "think", 1, id, unescape(rest))
		s.textEntry(word == "think", 2, id, "")
	case "open": // open ID TEXT; more and close go on
		s.textEntry(false, 0, first, "")
		s.textEntry(false, 1, first, unescape(more))
	case "more":
		s.textEntry(false, 1, first, unescape(more))
	case "close":
		s.textEntry(false, 2, first, "")
	case "tool": // tool NAME [INPUT]: a call that ended
		id := s.call(first, more)
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: json.RawMessage(`{"ok":true}`)})
	case "file": // file NAME PATH: a call that changed a file
		id := s.call(first, "")
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: json.RawMessage(`{}`), Files: []part.FileChange{{Path: more, Op: "created"}}})
	case "stream": // stream ID NAME; input goes on
		s.tools[first] = more
		s.add(part.Entry{Type: part.ToolInputStart, ToolCallID: first, ToolName: more})
	case "input":
		s.add(part.Entry{Type: part.ToolInputDelta, ToolCallID: first, InputTextDelta: more})
	case "call": // call ID NAME [INPUT]
		name, input, _ := strings.Cut(more, " ")
		s.callAs(first, name, input)
	case "result":
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: first, Output: json.RawMessage(more)})
	case "fails":
		s.add(part.Entry{Type: part.ToolOutputError, ToolCallID: first, ErrorText: more})
	case "cut":
		s.add(part.Entry{Type: part.ToolInputError, ToolCallID: first, ErrorText: more})
	case "denied":
		s.add(part.Entry{Type: part.ToolOutputDenied, ToolCallID: first, Reason: more})
	case "cancelled":
		s.add(part.Entry{Type: part.ToolOutputError, ToolCallID: first, ErrorText: more, Reason: part.ReasonCancelled})
	case "approve":
		s.add(part.Entry{Type: part.ToolApprovalRequest, ToolCallID: first, ApprovalID: "ap-" + first})
	case "todos", "metronome", "checklist", "steps": // an accepted planner call with this list
		id := s.call(plannerTool[word], `{}`)
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: planOutput(word, rest)})
	case "settles": // settles ID todos LIST: the output of an open planner call
		mode, list, _ := strings.Cut(more, " ")
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: first, Output: planOutput(mode, list)})
	case "runtime": // runtime LIST: the runtime closed a step
		s.add(part.Entry{Type: part.DataPlan, ID: "plan", Data: data(part.PlanData{Plan: planOf("steps", rest), Tool: planning.ByRuntime})})
	case "refused":
		id := s.call("advance", `{"evidence":"e"}`)
		s.add(part.Entry{Type: part.ToolOutput, ToolCallID: id, Output: json.RawMessage(`{"refused":true,"reason":"` + rest + `"}`)})
	case "carried":
		plan, err := json.Marshal(planOf("metronome", rest))
		s.add(part.Entry{Type: part.DataPlanCarried, ID: "carried", Data: plan})
		return err
	case "child":
		return s.child(rest)
	case "notice":
		s.add(part.Entry{Type: part.DataNotice, Data: data(part.NoticeData{Kind: "info", Text: rest})})
	case "answer":
		s.add(part.Entry{Type: part.DataAnswer, Data: data(part.AnswerData{Text: rest})})
	case "phase": // phase PHASE SUMMARY: a line of activity
		s.add(part.Entry{Type: part.DataActivity, Data: data(part.ActivityData{Phase: part.Phase(first), Summary: more})})
	case "wait":
		s.add(part.Entry{Type: part.Wait, Waiting: []part.Waiting{{Kind: "question", Question: rest}}})
	case "resume":
		s.add(part.Entry{Type: part.Resume})
	case "finish": // finish STATE REASON [NOTE]
		reason, note, _ := strings.Cut(more, " ")
		s.add(part.Entry{Type: part.Finish, State: part.State(first), FinishReason: part.FinishReason(reason), Note: note})
	default:
		return fmt.Errorf("no such word")
	}
	return nil
}

func (s *script) textEntry(reasoning bool, i int, id, delta string) {
	types := [][]part.Type{{part.TextStart, part.TextDelta, part.TextEnd}, {part.ReasoningStart, part.ReasoningDelta, part.ReasoningEnd}}
	kind := 0
	if reasoning {
		kind = 1
	}
	s.add(part.Entry{Type: types[kind][i], ID: id, Delta: delta})
}

func (s *script) call(name, input string) string {
	s.calls++
	id := "auto" + strconv.Itoa(s.calls)
	s.callAs(id, name, input)
	return id
}

func (s *script) callAs(id, name, input string) {
	if input == "" {
		input = "{}"
	}
	if s.tools[id] == "" {
		s.add(part.Entry{Type: part.ToolInputStart, ToolCallID: id, ToolName: name})
	}
	s.add(part.Entry{Type: part.ToolInputAvailable, ToolCallID: id, ToolName: name, Input: json.RawMessage(input)})
}

func (s *script) child(line string) error { // child ID STATE [stage=ID] [label=TEXT]
	id, rest, _ := strings.Cut(line, " ")
	state, rest, _ := strings.Cut(rest, " ")
	child := part.ChildData{RunID: id, State: part.State(state)}
	if label, ok := strings.CutPrefix(rest, "label="); ok {
		child.StageLabel = label
	} else {
		child.StageID, _ = strings.CutPrefix(rest, "stage=")
	}
	s.add(part.Entry{Type: part.Child, Data: data(child)})
	return nil
}

func data(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func unescape(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }

var plannerTool = map[string]string{"todos": "write_todos", "metronome": "advance", "checklist": "update_plan", "steps": "plan"}

var statuses = map[string]map[string]planning.Status{
	"todos":     {"p": planning.Pending, "i": planning.InProgress, "d": planning.Done},
	"metronome": {"p": planning.Pending, "i": planning.InProgress, "d": planning.Done, "u": planning.Done},
	"checklist": {"p": planning.Pending, "i": planning.InProgress, "d": planning.Completed, "x": planning.Cancelled},
	"steps":     {"p": planning.Pending, "i": planning.Running, "d": planning.Done, "f": planning.Failed, "s": planning.Skipped, "r": planning.Done},
}

// planOf reads a list: id:status or id:status'content'. Status u is done
// without evidence, r is closed by the runtime.
func planOf(mode, list string) planning.Plan {
	plan := planning.Plan{Mode: planning.Mode(mode), Revision: 1}
	if mode == "todos" {
		plan.Mode = planning.Classic
	}
	for _, word := range strings.Fields(list) {
		id, status, _ := strings.Cut(word, ":")
		status, content, _ := strings.Cut(status, "'")
		content = strings.ReplaceAll(strings.TrimSuffix(content, "'"), "_", " ")
		if content == "" {
			content = id
		}
		stage := planning.Stage{ID: id, Content: content, Status: statuses[mode][status]}
		switch {
		case mode == "metronome":
			stage.Deliverable = "D" + id
			if stage.Status == planning.Done {
				stage.Evidence, plan.Pointer = "E"+id, plan.Pointer+1
			}
			stage.Unverified = status == "u"
		case status == "r":
			stage.ResolvedBy = "runtime"
		}
		plan.Stages = append(plan.Stages, stage)
	}
	return plan
}

func planOutput(mode, list string) json.RawMessage {
	plan := planOf(mode, list)
	if mode != "todos" {
		return data(map[string]any{"plan": plan})
	}
	todos := []map[string]string{}
	for _, s := range plan.Stages {
		todos = append(todos, map[string]string{"id": s.ID, "content": s.Content, "status": string(s.Status)})
	}
	return data(map[string]any{"todos": todos})
}

// show writes the snapshot down.
func (s *script) show() {
	snap := s.f.Snapshot()
	w := &s.out
	fmt.Fprintf(w, "run %s", snap.State)
	if snap.FinishReason != "" {
		fmt.Fprintf(w, " %s", snap.FinishReason)
	}
	if snap.Planned {
		fmt.Fprintf(w, " %d/%d", snap.Done, snap.Total)
	}
	if snap.Note != "" {
		fmt.Fprintf(w, " (%s)", snap.Note)
	}
	if snap.Usage != (part.Usage{}) {
		fmt.Fprintf(w, " usage %d/%d", snap.Usage.Input, snap.Usage.Output)
	}
	w.WriteString("\n")
	writeParts(w, "lead", "  ", snap.Lead)
	for _, r := range snap.Rows.All() {
		writeRow(w, r)
	}
	writeChildren(w, "unattached", snap.Unattached)
	writeParts(w, "sink", "  ", snap.Sink)
	writeParts(w, "answer", "  ", snap.Answer)
	for _, a := range snap.Activity.All() {
		fmt.Fprintf(w, "step %d %s: %s\n", a.Step, a.Phase, a.Summary)
	}
}

func writeRow(w *strings.Builder, r *Row) {
	fmt.Fprintf(w, "%d/%d %s %s [%s]", r.Index, r.Total, r.StageID, r.Status, r.Status.Icon())
	if r.Content != r.StageID {
		fmt.Fprintf(w, " %q", r.Content)
	}
	flag := func(on bool, name string) {
		if on {
			w.WriteString(" " + name)
		}
	}
	flag(r.Live, "live")
	flag(r.Unverified, "unverified")
	flag(r.ClosedByRunEnd, "closed-by-run-end")
	flag(r.ResolvedBy != "", "by-"+r.ResolvedBy)
	flag(r.Evidence != "", r.Evidence)
	flag(r.Elapsed > 0, r.Elapsed.String())
	flag(!r.Since.IsZero(), "since "+r.Since.Format("04:05"))
	flag(r.Tools > 0, fmt.Sprintf("tools=%d", r.Tools))
	flag(r.Usage != part.Usage{}, fmt.Sprintf("usage=%d/%d", r.Usage.Input, r.Usage.Output))
	for _, f := range r.Files {
		fmt.Fprintf(w, " %s:%s", f.Op, f.Path)
	}
	flag(r.Activity != "", fmt.Sprintf("activity=%q", r.Activity))
	w.WriteString("\n")
	writeChildren(w, "    child", r.Children)
	writeParts(w, "", "    ", r.Parts)
}

func writeChildren(w *strings.Builder, name string, children []*Child) {
	for _, c := range children {
		fmt.Fprintf(w, "%s %s %s\n", name, c.RunID, c.State)
	}
}

func writeParts(w *strings.Builder, name, indent string, parts Vec[*Part]) {
	if parts.Len() == 0 {
		return
	}
	if name != "" {
		fmt.Fprintln(w, name)
	}
	for _, p := range parts.All() {
		fmt.Fprintf(w, "%s%d %s", indent, p.N, p.Kind)
		switch {
		case p.Tool != nil:
			fmt.Fprintf(w, " %s %s", p.Tool.Name, p.State)
			if p.Tool.ErrorText != "" {
				fmt.Fprintf(w, " (%s)", p.Tool.ErrorText)
			}
		case p.Kind == part.KindText || p.Kind == part.KindReasoning:
			if p.State == part.StateStreaming {
				w.WriteString(" streaming")
			}
			if p.Blocks.Len() == 1 && p.Blocks.At(0).Kind == BlockParagraph {
				fmt.Fprintf(w, " %q", p.Source())
				break
			}
			for _, b := range p.Blocks.All() {
				fmt.Fprintf(w, " %s%q", b.Kind, b.source())
			}
		default:
			fmt.Fprintf(w, " %s", p.DataType)
		}
		w.WriteString("\n")
	}
}
