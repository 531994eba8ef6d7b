package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

const (
	connections = 16              // to Postgres, a process
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
	pool := stdlib.OpenDB(*c)
	if err := pool.PingContext(ctx); err != nil {
		pool.Close()
		return fmt.Errorf("the Postgres server did not answer; check the address, the user and the database's name: %w", err)
	}
	d.postgres = true
	if d.write, err = gorm.Open(postgres.New(postgres.Config{Conn: pool}), gormConfig()); err != nil {
		return errors.Join(err, pool.Close())
	}
	d.read = d.write
	return limit(d.write, connections)
}
