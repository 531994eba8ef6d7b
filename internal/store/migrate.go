package store

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"stagefold/migrations"
)

// migrate brings the schema up to date. On Postgres a lock of the session keeps
// two instances from migrating at once; the lock file does it for SQLite.
func (d *DB) migrate(ctx context.Context) error {
	files, dialect, dir := fs.FS(migrations.SQLite), goose.DialectSQLite3, "sqlite"
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if d.postgres {
		files, dialect, dir = migrations.Postgres, goose.DialectPostgres, "postgres"
		session, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
		if err != nil {
			return fmt.Errorf("make the lock of the migrations: %w", err)
		}
		options = append(options, goose.WithSessionLocker(session))
	}
	files, err := fs.Sub(files, dir)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	c, err := d.write.DB()
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, c, files, options...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}
