package views

import (
	"stagefold/internal/fold"
	"stagefold/internal/part"
	"stagefold/internal/planning"
)

const fixtureAnswer = "The build got slow on **14 February**, when the test database moved out of memory.\n\n" +
	"| stage | before | now |\n|---|--:|--:|\n| compile | 41 s | 43 s |\n| test | 66 s | 311 s |\n| package | 12 s | 12 s |\n\n" +
	"Two changes bring it back:\n\n- keep the test database on `tmpfs`\n- run the store's tests in parallel\n\n" +
	"```go\nfunc TestMain(m *testing.M) {\n\t// one database for each package\n\tdb := openTemp(\"/dev/shm\")\n\tos.Exit(m.Run(db))\n}\n```\n\n" +
	"See [the commit](https://example.test/commit/1f3a) for the first of them."

// liveRun works on its third stage.
func liveRun() *fold.Snapshot {
	s := &sketch{}
	lead := s.text("I will look at the timings first, then at what changed.")
	one := stage(fold.RowDone, 1, "Read the timings of the last 30 builds",
		s.reasoning("The timings are in `ci/timings.csv`.", 180, 3.2),
		s.tool("read_file", part.StateOutputAvailable, map[string]any{"path": "ci/timings.csv"}, "date,compile,test,package\n2026-02-13,41,66,12\n2026-02-14,43,311,12"),
		s.text("The test step went from 66 s to 311 s on 14 February."))
	one.Deliverable, one.Evidence = "A table of seconds for each step", "ci/timings.csv, 30 rows; test 66 s to 311 s on 14 February"
	two := stage(fold.RowDone, 2, "Find the commit that made the tests slow",
		s.tool("run_command", part.StateOutputAvailable, map[string]any{"command": "git log --oneline --since=2026-02-13"}, map[string]any{"exitCode": 0, "stdout": "1f3a move the test database to disk\n88ab typo"}))
	two.Evidence = "1f3a moves the test database from memory to disk"
	write := s.tool("write_file", part.StateOutputAvailable, map[string]any{"path": "notes/build.md", "content": "# Why the build got slow\n\nThe test database."}, map[string]any{"written": 46})
	write.Tool.Files = []part.FileChange{{Path: "notes/build.md", Op: "created"}}
	child, c := s.child(part.Running, "Measure the tests with the database on tmpfs", nil)
	three := stage(fold.RowInProgress, 3, "Measure what each change brings",
		s.text("Now I measure both changes."), write, child,
		s.reasoning("With four packages in parallel the disk is still the limit, so", 14, 0),
		s.tool("run_command", part.StateInputAvailable, map[string]any{"command": "go test -count=1 ./internal/store/..."}, nil))
	three.Children = []*fold.Child{c}
	three.Deliverable, three.Activity = "Seconds before and after, for both changes", "Run go test -count=1 ./internal/store/..."
	run := run("run-live", part.Running, one, two, three,
		stage(fold.RowPending, 4, "Write the report"), stage(fold.RowPending, 5, "Check the report against the timings"))
	run.Lead = fold.VecOf(lead)
	return run
}

// waitingRun asks for an approval in its second stage.
func waitingRun() *fold.Snapshot {
	s := &sketch{}
	ask := s.tool("run_command", part.StateApprovalRequested, map[string]any{"command": "rm -rf build/ && make"}, nil)
	two := stage(fold.RowWaiting, 2, "Build from a clean tree", ask)
	run := run("run-waiting", part.Waits, stage(fold.RowDone, 1, "Read the Makefile"), two, stage(fold.RowPending, 3, "Compare the sizes"))
	run.Waiting = []part.Waiting{{Kind: "approval", RunID: "run-waiting", ToolCallID: ask.Tool.CallID, Tool: "run_command", Input: ask.Tool.Input}}
	return run
}

// finishedRun has done all of its stages.
func finishedRun() *fold.Snapshot {
	s := &sketch{}
	one := stage(fold.RowDone, 1, "Read the timings of the last 30 builds",
		s.tool("read_file", part.StateOutputAvailable, map[string]any{"path": "ci/timings.csv"}, "date,compile,test,package\n2026-02-13,41,66,12"),
		s.text("The test step went from 66 s to 311 s."))
	one.Deliverable, one.Evidence = "A table of seconds for each step", "ci/timings.csv, 30 rows"
	two := stage(fold.RowDone, 2, "Find the commit that made the tests slow")
	two.Unverified = true
	two.Evidence = "looked through the log"
	three := stage(fold.RowDone, 3, "Measure what each change brings", s.text("311 s to 70 s with the first change."))
	four := stage(fold.RowDone, 4, "Write the report", s.tool("write_file", part.StateOutputAvailable, map[string]any{"path": "notes/build.md", "content": "# Why"}, "written"))
	four.Files = []part.FileChange{{Path: "notes/build.md", Op: "created"}, {Path: "README.md", Op: "modified"}}
	run := run("run-finished", part.Finished, one, two, three, four, stage(fold.RowCancelled, 5, "Ask the team"))
	run.Lead = fold.VecOf(s.text("I will look at the timings first."))
	run.Answer = fold.VecOf(s.text(fixtureAnswer), s.source())
	run.Activity = fold.VecOf(
		&fold.Activity{ActivityData: part.ActivityData{Phase: part.PhasePlan, Summary: "Plan with 5 stages"}, Step: 1, Time: at(185), Seq: 8},
		&fold.Activity{ActivityData: part.ActivityData{Phase: part.PhaseAct, Summary: "Read ci/timings.csv"}, Step: 2, Time: at(150), Seq: 20},
		&fold.Activity{ActivityData: part.ActivityData{Phase: part.PhaseObs, Summary: "30 rows"}, Step: 2, Time: at(149), Seq: 22},
		&fold.Activity{ActivityData: part.ActivityData{Phase: part.PhaseReflect, Summary: "The test step is the slow one"}, Step: 3, Time: at(120), Seq: 30})
	return run
}

func (s *sketch) source() *fold.Part {
	p := s.part(part.KindSource, "", 10, 0)
	p.URL, p.Title = "https://example.test/commit/1f3a", "1f3a move the test database to disk"
	return p
}

// endedRun ended in its second stage, in a state and for a reason.
func endedRun(id string, state part.State, reason part.FinishReason, second fold.Status) *fold.Snapshot {
	s := &sketch{}
	open := stage(second, 2, "Build from a clean tree", s.text("I start with a clean tree."),
		s.tool("run_command", part.StateCancelled, map[string]any{"command": "make"}, nil))
	open.ClosedByRunEnd = second == fold.RowDone
	run := run(id, state, stage(fold.RowDone, 1, "Read the Makefile"), open, stage(fold.RowPending, 3, "Compare the sizes"))
	run.FinishReason = reason
	return run
}

func debtRun() *fold.Snapshot {
	run := endedRun("run-debt", part.Finished, part.ReasonStop, fold.RowDone)
	run.Debt = []part.Debt{{ID: "stage-2", Content: "Build from a clean tree"}, {ID: "stage-3", Content: "Compare the sizes"}}
	return run
}

func limitRun() *fold.Snapshot {
	run := endedRun("run-limit", part.Finished, part.ReasonToolCalls, fold.RowDone)
	run.Note = "The run ended at its limit of 100 steps."
	run.Debt = []part.Debt{{ID: "stage-3", Content: "Compare the sizes"}}
	return run
}

func failedRun() *fold.Snapshot {
	run := endedRun("run-failed", part.FailedRun, part.ReasonError, fold.RowError)
	run.Error = &part.RunError{Code: "insufficient_quota", Message: "The provider refused: quota used up.", Hint: "Check the account of this key, or choose another model."}
	return run
}

func stoppedRun() *fold.Snapshot {
	return endedRun("run-stopped", part.Stopped, part.ReasonAbort, fold.RowAborted)
}

func interruptedRun() *fold.Snapshot {
	run := endedRun("run-interrupted", part.Interrupted, part.ReasonAbort, fold.RowAborted)
	run.Note = "The server was restarted while this run was working."
	return run
}

// plainRun never had a plan.
func plainRun() *fold.Snapshot {
	s := &sketch{}
	run := run("run-plain", part.Finished)
	run.Start.UserText = "What does the Makefile build?"
	run.Start.PlanningMode = planning.Metronome
	run.Lead = fold.VecOf(
		s.tool("read_file", part.StateOutputAvailable, map[string]any{"path": "Makefile"}, "all: web\n\nweb:\n\tgo build ./cmd/web"),
		s.text("One binary, `web`, from `./cmd/web`."))
	return run
}

func silentRun() *fold.Snapshot {
	run := run("run-silent", part.Finished, stage(fold.RowDone, 1, "Tidy the folder"))
	return run
}

// sinkRun dropped a stage in which something had happened.
func sinkRun() *fold.Snapshot {
	s := &sketch{}
	run := run("run-sink", part.Running, stage(fold.RowInProgress, 1, "Compare the sizes"))
	run.Sink = fold.VecOf(s.text("This was found in a stage that was dropped later."))
	run.Unattached = []*fold.Child{{ChildData: part.ChildData{RunID: "run-child-9", Goal: "Look for other slow steps", State: part.Finished}, Started: at(100), Ended: at(60)}}
	return run
}
