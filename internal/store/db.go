// Package store keeps chats, runs, logs and plans in the database through GORM:
// one SQLite file in the data folder, or Postgres. All runs share one writer
// (docs/architecture.md, 'Log').
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"stagefold/internal/part"
	"stagefold/migrations"
)

var (
	// ErrNotFound: no such chat, message, run or output.
	ErrNotFound = errors.New("not found")
	// ErrConflict: decided, sent or written before, or with another content.
	ErrConflict = errors.New("conflict")
	// ErrBusy: the chat has a live run.
	ErrBusy = errors.New("a run is live in the chat")
	// ErrFinished: the run has ended.
	ErrFinished = errors.New("the run has ended")
	// ErrFenced: another owner claimed the run.
	ErrFenced = errors.New("another owner claimed the run")
	// ErrStopRequested: the run's cancel flag is set.
	ErrStopRequested = errors.New("stop was requested")
)

// Options say where the database is.
type Options struct {
	Dir    string // data folder: stagefold.db and its lock file; made if missing
	URL    string // "" = SQLite in Dir; postgres://...
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
	// Committed is called after each commit, in commit order for one run. It
	// must not block.
	Committed func(Committed)
	// CommitEvery is the longest that a delta waits for the shared commit; 50 ms.
	CommitEvery time.Duration
	// Patience is how long a commit is tried again while the database is away;
	// 30 s.
	Patience time.Duration
}

// Committed is what one commit added to one run's log.
type Committed struct {
	RunID, ChatID string
	Entries       []*part.Entry
	State         part.State
}

// DB is the open database. It is safe for concurrent use.
type DB struct {
	o        Options
	postgres bool
	write    *gorm.DB // one connection with immediate transactions on SQLite
	read     *gorm.DB
	lock     *os.File
	writer   *writer
}

// Open opens the database, migrates it and starts the writer. The error says
// what to do where another process has the data folder.
func Open(ctx context.Context, o Options) (*DB, error) {
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
	d := &DB{o: o}
	var err error
	if o.URL == "" {
		err = d.openSQLite()
	} else {
		err = d.openPostgres()
	}
	if err == nil {
		err = d.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.closeConnections())
	}
	d.writer = startWriter(d)
	return d, nil
}

func (d *DB) openSQLite() (err error) {
	if err := os.MkdirAll(d.o.Dir, 0o755); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if d.lock, err = lockFolder(d.o.Dir); err != nil {
		return err
	}
	file := filepath.Join(d.o.Dir, "stagefold.db")
	if d.write, err = gorm.Open(sqlite.Open(dsn(file, "immediate", false)), gormConfig()); err != nil {
		return fmt.Errorf("open the database %s: %w", file, err)
	}
	if err := pool(d.write, 1); err != nil {
		return err
	}
	if d.read, err = gorm.Open(sqlite.Open(dsn(file, "deferred", true)), gormConfig()); err != nil {
		return fmt.Errorf("open the database %s: %w", file, err)
	}
	return pool(d.read, 8)
}

func dsn(file, txlock string, readOnly bool) string {
	q := url.Values{"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_busy_timeout": {"5000"}, "_foreign_keys": {"on"}, "_txlock": {txlock}}
	if readOnly {
		q.Set("_query_only", "true")
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

func (d *DB) openPostgres() (err error) {
	u, err := url.Parse(d.o.URL)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return errors.New("the database address has an unknown scheme; use postgres://")
	}
	d.postgres = true
	if d.write, err = gorm.Open(postgres.Open(d.o.URL), gormConfig()); err != nil {
		return errors.New("the Postgres server did not answer; check the address, the user and the database name")
	}
	d.read = d.write
	return pool(d.write, 16)
}

func gormConfig() *gorm.Config {
	return &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true, TranslateError: true}
}

func pool(g *gorm.DB, n int) error {
	c, err := g.DB()
	if err != nil {
		return err
	}
	c.SetMaxOpenConns(n)
	c.SetMaxIdleConns(n)
	return nil
}

func (d *DB) migrate(ctx context.Context) error {
	c, err := d.write.DB()
	if err != nil {
		return err
	}
	files, dialect, dir := migrations.SQLite, goose.DialectSQLite3, "sqlite"
	options := []goose.ProviderOption{}
	if d.postgres {
		files, dialect, dir = migrations.Postgres, goose.DialectPostgres, "postgres"
	}
	sub, err := fs.Sub(files, dir)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, c, sub, options...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// Ping asks the database for an answer.
func (d *DB) Ping(ctx context.Context) error {
	c, err := d.read.DB()
	if err != nil {
		return err
	}
	return c.PingContext(ctx)
}

// Close commits what waits, then closes.
func (d *DB) Close() error {
	d.writer.stop()
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
	}
	return errors.Join(errs...)
}

// tx runs f in one write transaction.
func (d *DB) tx(ctx context.Context, f func(*gorm.DB) error) error {
	return d.write.WithContext(ctx).Transaction(f, &sql.TxOptions{})
}
