package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

const (
	connections = 16              // to Postgres, for writing and for reading each
	dialTime    = 5 * time.Second // for one of them
)

// openPostgres connects to d.o.URL. Its errors never hold the password.
func (d *DB) openPostgres(ctx context.Context) error {
	u, err := url.Parse(d.o.URL)
	if err != nil {
		return errors.New("the database address cannot be read; it is postgres://USER:PASSWORD@HOST:PORT/NAME")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return fmt.Errorf("the database address has the unknown scheme %q; use postgres://", u.Scheme)
	}
	c, err := pgx.ParseConfig(d.o.URL)
	if err != nil {
		return errors.New("the database address cannot be read; it is postgres://USER:PASSWORD@HOST:PORT/NAME")
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = dialTime
	}
	d.postgres = true
	if d.write, err = openPool(ctx, *c); err != nil {
		return err
	}
	c = c.Copy()
	c.RuntimeParams["default_transaction_read_only"] = "on"
	d.read, err = openPool(ctx, *c)
	return err
}

func openPool(ctx context.Context, c pgx.ConnConfig) (*gorm.DB, error) {
	pool := stdlib.OpenDB(c)
	if err := pool.PingContext(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("the Postgres server did not answer; check the address, the user and the database's name: %w", err)
	}
	g, err := gorm.Open(postgres.New(postgres.Config{Conn: &steadyPool{pool}}), gormConfig())
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return g, limit(g, connections)
}

// steadyPool asks again where a connection turns out to be broken, as all are
// after the server went and came back. Only what stands alone and reads goes
// through QueryContext; transactions see to themselves.
type steadyPool struct{ *sql.DB }

// GetDBConn is for GORM.
func (p *steadyPool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// QueryContext is a query outside a transaction.
func (p *steadyPool) QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	for tries := 1; ; tries++ {
		rows, err := p.DB.QueryContext(ctx, q, args...)
		if err == nil || !broken(err) || tries > connections || ctx.Err() != nil {
			return rows, err
		}
	}
}

// broken: a connection that stood is gone. Another one may do.
func broken(err error) bool {
	var said *pgconn.PgError
	var refused *pgconn.ConnectError
	return transient(err) && !errors.As(err, &said) && !errors.As(err, &refused)
}
