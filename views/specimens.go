package views

import (
	"github.com/a-h/templ"

	"stagefold/internal/fold"
	"stagefold/internal/part"
)

// Specimen is one component in one state.
type Specimen struct {
	Name string
	View templ.Component
}

// Specimens are all states of all components; the gallery shows them and the
// goldens keep them.
func Specimens(render Renderer) []Specimen {
	var out []Specimen
	for _, list := range [][]Specimen{runSpecimens(render), rowSpecimens(render), toolSpecimens(render), partSpecimens(render), chromeSpecimens(render)} {
		out = append(out, list...)
	}
	return out
}

func runSpecimens(render Renderer) []Specimen {
	var out []Specimen
	for _, s := range []struct {
		name string
		snap *fold.Snapshot
	}{
		{"run live", liveRun()}, {"run waiting", waitingRun()}, {"run finished", finishedRun()}, {"run with debt", debtRun()},
		{"run at a limit", limitRun()}, {"run failed", failedRun()}, {"run stopped", stoppedRun()}, {"run interrupted", interruptedRun()},
		{"run without a plan", plainRun()}, {"run without an answer", silentRun()}, {"run with a dropped stage", sinkRun()},
	} {
		v := view(s.snap, render)
		if s.snap.Terminal() {
			v.Cost = "$0.12"
		}
		out = append(out, Specimen{s.name, RunArticle(v)})
	}
	return out
}

func rowSpecimens(render Renderer) []Specimen {
	var out []Specimen
	add := func(name string, change func(*fold.Row), status fold.Status, index int, state part.State) {
		s := &sketch{}
		r := stage(status, index, "Measure what each change brings", s.text("Something happened."),
			s.tool("list_files", part.StateOutputAvailable, map[string]any{"path": "."}, "a.txt\nb.txt"))
		if change != nil {
			change(r)
		}
		v := view(run("run-row-"+name, state, r), render)
		r.Total, r.HasNext = 5, r.Index < 5
		out = append(out, Specimen{"row " + name, specimenList(RowItem(RowView{Run: v, Row: r, Body: true, Open: true}))})
	}
	add("pending", nil, fold.RowPending, 4, part.Running)
	add("in progress", func(r *fold.Row) { r.Activity = "Run make test" }, fold.RowInProgress, 2, part.Running)
	add("waiting", nil, fold.RowWaiting, 2, part.Waits)
	add("done", func(r *fold.Row) { r.Deliverable, r.Evidence = "A table", "12 rows in out.csv" }, fold.RowDone, 1, part.Running)
	add("unverified", func(r *fold.Row) { r.Unverified, r.Evidence = true, "should be fine" }, fold.RowDone, 1, part.Running)
	add("closed by the run's end", func(r *fold.Row) { r.ClosedByRunEnd = true }, fold.RowDone, 2, part.Finished)
	add("resolved by the runtime", func(r *fold.Row) { r.ResolvedBy = "runtime" }, fold.RowDone, 2, part.Running)
	add("failed", nil, fold.RowError, 2, part.FailedRun)
	add("stopped", nil, fold.RowAborted, 2, part.Stopped)
	add("cancelled", nil, fold.RowCancelled, 3, part.Running)
	add("without parts", func(r *fold.Row) { r.Parts = fold.Vec[*fold.Part]{} }, fold.RowDone, 3, part.Running)
	return out
}

func toolSpecimens(render Renderer) []Specimen {
	var out []Specimen
	v := view(run("run-tools", part.Running), render)
	add := func(name, tool string, state part.PartState, input, output any, change func(*part.Tool)) {
		p := (&sketch{n: len(out)}).tool(tool, state, input, output)
		if change != nil {
			change(p.Tool)
		}
		out = append(out, Specimen{"tool " + name, specimenList(PartItem(PartView{Run: v, Row: &fold.Row{}, Part: p}))})
	}
	command := map[string]any{"command": "go test ./...", "timeout": 60}
	add("input streaming", "write_file", part.StateInputStreaming, nil, nil, func(t *part.Tool) { t.Input, t.InputText = nil, `{"path":"notes/build.md","content":"# Why the bu` })
	add("running", "run_command", part.StateInputAvailable, command, nil, nil)
	add("waiting for approval", "run_command", part.StateApprovalRequested, command, nil, nil)
	add("done", "run_command", part.StateOutputAvailable, command, map[string]any{"exitCode": 0, "stdout": "ok  stagefold/internal/fold 0.412s\nok  stagefold/views 0.120s"}, nil)
	add("done with an exit code", "run_command", part.StateOutputAvailable, command, map[string]any{"exitCode": 2, "stderr": "FAIL\n\x1b[31mred\x1b[0m"}, nil)
	add("failed", "read_file", part.StateOutputError, map[string]any{"path": "missing.txt"}, nil, func(t *part.Tool) {
		t.ErrorText = "missing.txt does not exist. list_files shows what is there."
	})
	add("denied", "run_command", part.StateOutputDenied, command, nil, func(t *part.Tool) { t.Reason = "Not on this machine" })
	add("cancelled", "fetch_url", part.StateCancelled, map[string]any{"url": "https://example.test/"}, nil, func(t *part.Tool) { t.ErrorText = "stopped by the user" })
	add("with input that is not JSON", "edit_file", part.StateOutputError, nil, nil, func(t *part.Tool) {
		t.Input, t.RawInput, t.ErrorText = nil, `{"path":"a.txt","old`, "the input is not valid JSON"
	})
	add("with a long output", "search_files", part.StateOutputAvailable, map[string]any{"query": "TODO"}, longText(900), func(t *part.Tool) { t.Truncated = true })
	add("of an MCP server", "mcp__github__search_issues", part.StateOutputAvailable, map[string]any{"q": "slow build", "labels": []string{"ci"}}, map[string]any{"items": []any{}, "total": 0}, nil)
	add("with binary output", "read_file", part.StateOutputAvailable, map[string]any{"path": "logo.png"}, "\x89PNG\x00\x00", nil)
	return out
}
