package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"time"

	"gorm.io/gorm"

	"stagefold/internal/part"
)

var (
	// ErrNotFound: no such chat, message, run or output.
	ErrNotFound = errors.New("not found")
	// ErrConflict: sent or written before, or with another content.
	ErrConflict = errors.New("conflict")
	// ErrBusy: the chat has a live run.
	ErrBusy = errors.New("a run is live in the chat")
	// ErrFinished: the run has ended.
	ErrFinished = errors.New("the run has ended")
	// ErrFenced: another owner claimed the run.
	ErrFenced = errors.New("another owner claimed the run")
	// ErrStopRequested: the run's cancel flag is set.
	ErrStopRequested = errors.New("stop was requested")
	// ErrClosed: the database was closed before this was stored.
	ErrClosed = errors.New("the database is closed")
)

// Options say where the database is.
type Options struct {
	Dir    string // data folder: stagefold.db and its lock file; made if missing
	URL    string // "" = SQLite in Dir; postgres://...
	Now    func() time.Time
	NewID  func() string // of chats without one
	Logger *slog.Logger
	// Committed is called after each commit, in commit order for one run. It
	// must not block.
	Committed func(Committed)
	// CommitEvery is the longest that a delta waits for the shared commit; 50 ms.
	CommitEvery time.Duration
	// Patience is how long a commit is tried again while the database is away;
	// 30 s.
	Patience time.Duration

	driver string // of SQLite; tests put a failing one in its place
}

// Committed is what one commit added to one run's log.
type Committed struct {
	RunID, ChatID string
	Entries       []*part.Entry
	State         part.State // the run's, after the commit
}

// DB is the open database. It is safe for concurrent use.
type DB struct {
	o        Options
	postgres bool
	write    *gorm.DB // one connection with immediate transactions on SQLite
	read     *gorm.DB
	lock     *os.File
	writer   *writer
	packer   *packer
}

// Open opens the database, migrates it and starts the writer. The error says
// what to do where another process has the data folder.
func Open(ctx context.Context, o Options) (*DB, error) {
	d := &DB{o: o.filled()}
	open := d.openSQLite
	if o.URL != "" {
		open = d.openPostgres
	}
	err := open(ctx)
	if err == nil {
		err = d.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.closeConnections())
	}
	d.packer, d.writer = startPacker(d), startWriter(d)
	return d, nil
}

func (o Options) filled() Options {
	if o.CommitEvery <= 0 {
		o.CommitEvery = 50 * time.Millisecond
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return o
}

// Ping asks the database for an answer.
func (d *DB) Ping(ctx context.Context) error {
	c, err := d.read.DB()
	if err != nil {
		return err
	}
	return c.PingContext(ctx)
}

// Close commits what waits, then closes. What could not be committed is an
// error of its run's log.
func (d *DB) Close() error {
	d.writer.stop()
	d.packer.stop()
	return d.closeConnections()
}

func (d *DB) closeConnections() error {
	var errs []error
	for _, g := range []*gorm.DB{d.read, d.write} {
		if g == nil {
			continue
		}
		if c, err := g.DB(); err == nil {
			errs = append(errs, c.Close())
		}
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
		d.lock = nil
	}
	return errors.Join(errs...)
}

// now is the time as the database keeps it.
func (d *DB) now() time.Time { return d.o.Now().UTC().Truncate(time.Millisecond) }

// tx runs f in one write transaction. On Postgres it is tried again where the
// connection or a deadlock broke it before its commit; f may run twice.
func (d *DB) tx(ctx context.Context, f func(*gorm.DB) error) error {
	for tries := 1; ; tries++ {
		committing, err := d.try(ctx, f)
		if err == nil || committing || !d.postgres || !transient(err) || ctx.Err() != nil {
			return err
		}
		if tries > connections || tries > 2 && !broken(err) {
			return err
		}
	}
}

// try runs f in a transaction once. Committing says that f ended well: with an
// error it is not known then whether the transaction is stored.
func (d *DB) try(ctx context.Context, f func(*gorm.DB) error) (committing bool, err error) {
	o := &sql.TxOptions{}
	if d.postgres {
		o.Isolation = sql.LevelReadCommitted
	}
	err = d.write.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		err := f(tx)
		committing = err == nil
		return err
	}, o)
	return committing, err
}
