package store

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// readers is how many reads of SQLite go on at once.
const readers = 8

func (d *DB) openSQLite(context.Context) (err error) {
	if err := os.MkdirAll(d.o.Dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if d.lock, err = lockFolder(d.o.Dir); err != nil {
		return err
	}
	file := filepath.Join(d.o.Dir, "stagefold.db")
	if d.write, err = d.sqlite(dsn(file, "immediate", false), 1); err != nil {
		return fmt.Errorf("open the database %s: %w", file, err)
	}
	if d.read, err = d.sqlite(dsn(file, "deferred", true), readers); err != nil {
		return fmt.Errorf("open the database %s: %w", file, err)
	}
	return nil
}

func (d *DB) sqlite(dsn string, connections int) (*gorm.DB, error) {
	g, err := gorm.Open(sqlite.New(sqlite.Config{DriverName: d.o.driver, DSN: dsn}), gormConfig())
	if err != nil {
		return nil, err
	}
	return g, limit(g, connections)
}

func dsn(file, txlock string, readOnly bool) string {
	q := url.Values{"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_busy_timeout": {"5000"}, "_foreign_keys": {"on"}, "_txlock": {txlock}}
	if readOnly {
		q.Set("_query_only", "true")
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

func gormConfig() *gorm.Config {
	return &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true, TranslateError: true}
}

func limit(g *gorm.DB, connections int) error {
	c, err := g.DB()
	if err != nil {
		return err
	}
	c.SetMaxOpenConns(connections)
	c.SetMaxIdleConns(connections)
	return nil
}
