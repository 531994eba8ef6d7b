package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"stagefold/internal/part"
)

// faults lets the writer's connection fail. Each statement, begin and commit is
// a point, numbered from 1.
type faults struct {
	mu    sync.Mutex
	point int
	from  int   // the first point that fails; 0: none
	count int   // how many points fail from there
	err   error // of a point that fails
	after bool  // only commits fail, and only after they are done: their answer is lost
	seen  int   // points that failed
}

// set makes points fail, counted from here on.
func (f *faults) set(from, count int, err error, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.point, f.from, f.count, f.err, f.after, f.seen = 0, from, count, err, after, 0
}

func (f *faults) heal() (points, failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from = 0
	return f.point, f.seen
}

func (f *faults) next(commit bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after && !commit {
		return nil
	}
	f.point++
	if f.from == 0 || f.point < f.from || f.point >= f.from+f.count {
		return nil
	}
	f.seen++
	return f.err
}

type faultyDriver struct {
	sqlite3.SQLiteDriver
	f *faults
}

func (d *faultyDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.SQLiteDriver.Open(dsn)
	if err != nil || strings.Contains(dsn, "_query_only") {
		return c, err
	}
	return &faultyConn{c.(*sqlite3.SQLiteConn), d.f}, nil
}

type faultyConn struct {
	*sqlite3.SQLiteConn
	f *faults
}

func (c *faultyConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.f.next(false); err != nil {
		return nil, err
	}
	return c.SQLiteConn.ExecContext(ctx, q, args)
}

func (c *faultyConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.f.next(false); err != nil {
		return nil, err
	}
	return c.SQLiteConn.QueryContext(ctx, q, args)
}

func (c *faultyConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.f.next(false); err != nil {
		return nil, err
	}
	tx, err := c.SQLiteConn.BeginTx(ctx, o)
	return &faultyTx{tx, c.f}, err
}

type faultyTx struct {
	driver.Tx
	f *faults
}

func (t *faultyTx) Commit() error {
	err := t.f.next(true)
	if err == nil {
		return t.Tx.Commit()
	}
	if t.f.after {
		return errors.Join(err, t.Tx.Commit())
	}
	return errors.Join(err, t.Tx.Rollback())
}

var drivers atomic.Int64

// faulty is a world whose writes can fail.
func faulty(t *testing.T, patience time.Duration) (*world, *faults) {
	t.Helper()
	f := &faults{}
	name := fmt.Sprint("faulty", drivers.Add(1))
	sql.Register(name, &faultyDriver{f: f})
	return newWorld(t, Options{Dir: t.TempDir(), Patience: patience, driver: name}), f
}

func (w *world) intact() {
	w.t.Helper()
	var result string
	w.must(w.read.Raw("PRAGMA integrity_check").Scan(&result).Error)
	if result != "ok" {
		w.t.Errorf("integrity: %s", result)
	}
}

var (
	errBusySQLite = sqlite3.Error{Code: sqlite3.ErrBusy}
	errDisk       = sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrWrite}
	errFullSQLite = sqlite3.Error{Code: sqlite3.ErrFull}
	errCorrupt    = sqlite3.Error{Code: sqlite3.ErrCorrupt} // permanent
)

// claimed is a new chat's run with its first claim, while nothing fails.
func (w *world) claimed(id string) *RunLog { return w.started(id) }

// honest checks what must hold after whatever failed: the log is in order, what
// watchers were told is what is stored, and a run that ended says so.
func (w *world) honest(id string, failed error) {
	w.t.Helper()
	run, log := w.run(id), w.entries(id, 0)
	told := w.committedOf(id)
	inOrder(w.t, told)
	if int64(len(told)) != run.LastSeq {
		w.t.Errorf("%s: told %d entries, %d are stored", id, len(told), run.LastSeq)
	}
	equal(w.t, id+": parts", part.Build(log), part.Build(told))
	if !run.State.Terminal() && failed == nil {
		w.t.Errorf("%s: the run is %s and its owner does not know", id, run.State)
	}
}

// One failure, at each point of a run in turn: the run goes on as if nothing had
// been, or its owner is told and can end it. Nothing is stored twice.
func TestFailureAtEachPoint(t *testing.T) {
	w, f := faulty(t, time.Minute)
	f.set(0, 0, nil, false)
	l := w.claimed("clean")
	f.set(0, 0, nil, false)
	w.must(play(w.ctx, l))
	points, _ := f.heal()
	want := w.run("clean")
	wantLog := gist(w.committedOf("clean"))
	revisions, err := w.Revisions(w.ctx, "clean")
	w.must(err)

	for name, k := range map[string]struct {
		err   error
		after bool
		count int
	}{"busy": {errBusySQLite, false, 1}, "disk": {errDisk, false, 2}, "full": {errFullSQLite, false, 1}, "lost": {errDisk, true, 1}, "corrupt": {errCorrupt, false, 1}} {
		t.Run(name, func(t *testing.T) {
			clean, honest := 0, 0
			for n := 1; n <= points+20; n++ {
				id := fmt.Sprintf("%s-%d", name, n)
				l := w.claimed(id)
				f.set(n, k.count, k.err, k.after)
				failed := play(w.ctx, l)
				_, hit := f.heal()
				if hit == 0 { // behind the last point
					break
				}
				w.honest(id, failed)
				run := w.run(id)
				if failed != nil {
					if run.State != part.FailedRun {
						t.Errorf("%s: %v, and the run is %s", id, failed, run.State)
					}
					honest++
					continue
				}
				clean++
				got, err := w.Revisions(w.ctx, id)
				w.must(err)
				if run.State != want.State || run.Usage != want.Usage || run.NextStep != want.NextStep || len(got) != len(revisions) {
					t.Errorf("%s: %+v", id, run)
				}
				equal(t, id, gist(w.committedOf(id)), wantLog)
			}
			t.Logf("%d clean, %d told", clean, honest)
			if name != "corrupt" && clean < 5 || name == "corrupt" && honest < 5 {
				t.Errorf("%d clean, %d told", clean, honest)
			}
			w.intact()
		})
	}
}

// The database stays away from each point on: the owner is told within the
// patience, and when it is back another owner ends the run.
func TestOutageFromEachPoint(t *testing.T) {
	for name, k := range map[string]error{"busy": errBusySQLite, "disk": errDisk, "full": errFullSQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, f := faulty(t, 150*time.Millisecond)
			for n := 1; ; n += 4 {
				id := fmt.Sprint("r", n)
				l := w.claimed(id)
				f.set(n, 1<<30, k, false)
				failed := play(w.ctx, l)
				f.heal()
				w.honest(id, failed)
				if failed == nil { // behind the last point of the run
					break
				}
				if w.run(id).State.Terminal() {
					continue // only the last write of all failed
				}
				next, run, err := w.Claim(w.ctx, id)
				w.must(err)
				if run.Epoch != 2 {
					t.Errorf("%s: epoch %d", id, run.Epoch)
				}
				w.must(next.Finish(w.ctx, nil, &part.Entry{Type: part.StepReset}, finish(part.FailedRun)))
				w.honest(id, nil)
			}
			w.intact()
		})
	}
}

// A database that comes back in time costs nothing but time: no error, the log
// exact. Owners that wait meanwhile, and other runs, lose nothing.
func TestOutageInTime(t *testing.T) {
	w, f := faulty(t, time.Minute)
	a, b := w.claimed("a"), w.claimed("b")
	f.set(1, 6, errDisk, false)
	w.must(a.Append(textStart(1, "t"), delta(1, "t", "x")))
	w.must(b.Append(textStart(1, "t")))
	w.must(a.Append(delta(1, "t", "y")))
	w.must(b.CommitStep(w.ctx, 1, plan(1, 0, 1), finishStep(1, 1)))
	w.must(a.Sync(w.ctx))
	if _, failed := f.heal(); failed != 6 {
		t.Errorf("%d failures", failed)
	}
	text := ""
	for _, e := range w.entries("a", 1) {
		text += e.Delta
	}
	equal(t, "text of a", text, "xy")
	equal(t, "b", brief(w.entries("b", 0)), []string{"1 text-start t", "2 finish-step"})
	w.honest("a", errDisk)
	if w.WriterLag() <= 0 {
		t.Error("no lag")
	}
}

// An owner that no longer waits takes its plan back: nothing of it is stored,
// also where the database comes back, and the log goes on.
func TestWithdrawnPlan(t *testing.T) {
	for name, after := range map[string]bool{"failed": false, "answer lost": true} {
		t.Run(name, func(t *testing.T) {
			w, f := faulty(t, time.Minute)
			l := w.claimed("r")
			w.must(l.Append(textStart(1, "t")))
			w.must(l.Sync(w.ctx))
			w.must(l.Append(delta(1, "t", "x")))
			f.set(1, 3, errDisk, after)
			ctx, cancel := context.WithTimeout(w.ctx, 30*time.Millisecond)
			defer cancel()
			err := l.CommitPlan(ctx, plan(1, 0, 1), change(plan(1, 0, 1)), textEnd(1, "t"))
			revisions, _ := w.Revisions(w.ctx, "r")
			c, _ := w.Chat(w.ctx, "chat-r")
			if stored := err == nil; stored != (len(revisions) == 1) || stored != c.Plan.HasPlan {
				t.Errorf("the plan: %v, %d revisions are stored, %v", err, len(revisions), c.Plan.HasPlan)
			}
			w.must(l.Append(delta(1, "t", "y")))
			w.must(l.Sync(w.ctx))
			log := brief(w.entries("r", 0))
			want := []string{"1 text-start t", "2 text-delta t x", "3 text-delta t y"}
			if err == nil {
				want = []string{"1 text-start t", "2 text-delta t x", "3 text-end t", "4 text-delta t y"}
			}
			equal(t, "log", log, want)
			f.heal()
			w.honest("r", errDisk)
		})
	}
}

// What cannot be stored fails alone: the plan's commit is refused whole, the
// entries before it are stored, other runs are not touched.
func TestPoisonIsOneRunsOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a, b := w.started("a"), w.started("b")
		w.must(b.Append(textStart(1, "t")))
		w.must(a.Append(delta(1, "x", "x")))
		p := plan(1, 0, 1)
		w.must(a.CommitPlan(w.ctx, p, change(p)))
		poison := func() error { return a.CommitPlan(w.ctx, plan(1, 1, 1), change(plan(1, 1, 1))) } // the same seq and revision twice
		if err := poison(); err == nil || errors.Is(err, ErrFenced) {
			t.Errorf("poison: %v", err)
		}
		w.must(b.Append(textEnd(1, "t")))
		w.must(b.Sync(w.ctx))
		w.must(a.Append(textEnd(1, "x")))
		w.must(a.Sync(w.ctx))
		equal(t, "a", brief(w.entries("a", 0)), []string{"1 text-delta x x", "2 text-end x"})
		equal(t, "b", brief(w.entries("b", 0)), []string{"1 text-start t", "2 text-end t"})
		equal(t, "plan", w.run("a").Plan, p)
	})
}

// The batch of a run whose entries are refused fails that run alone, once it
// stands alone; its owner ends it.
func TestBrokenLogIsOneRunsOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a, b := w.started("a"), w.started("b")
		w.must(w.write.Exec("UPDATE runs SET last_seq = 40 WHERE id = 'a'").Error) // not by its owner
		w.must(a.Append(start()))
		w.must(b.Append(start()))
		w.must(b.Sync(w.ctx))
		if err := a.Sync(w.ctx); err == nil {
			t.Error("the owner does not know")
		}
		if err := a.Append(start()); err == nil {
			t.Error("the log goes on")
		}
		w.must(a.Finish(w.ctx, nil, finish(part.FailedRun)))
		equal(t, "a", brief(w.entries("a", 0)), []string{"41 finish"})
		if r := w.run("a"); r.State != part.FailedRun {
			t.Errorf("a is %s", r.State)
		}
	})
}

// While the database is away an owner may append a bounded amount; then it
// waits, and goes on when the database is back.
func TestPendingIsBounded(t *testing.T) {
	w := newWorld(t, Options{Dir: t.TempDir(), CommitEvery: time.Millisecond})
	l := w.started("r")
	release := w.hold()
	piece := strings.Repeat("x", 64<<10)
	appended := make(chan int, 100)
	done := make(chan error, 1)
	go func() {
		for i := range 40 {
			if err := l.Append(delta(1, "a", piece)); err != nil {
				done <- err
				return
			}
			appended <- i
		}
		done <- l.Sync(w.ctx)
	}()
	for i := range 8 { // at least these fit
		equal(t, "appended", <-appended, i)
	}
	blocked := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.size > maxPending
	}
	for !blocked() {
		time.Sleep(time.Millisecond)
	}
	if n := len(appended) + 8; n > 20 {
		t.Errorf("%d appended while nothing is stored", n)
	}
	release()
	w.must(<-done)
	n := 0
	for _, e := range w.entries("r", 0) {
		n += len(e.Delta)
	}
	equal(t, "bytes", n, 40*len(piece))
}
