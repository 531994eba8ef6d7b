package store

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"
	"gorm.io/gorm"
)

// wrap says what was being done; a missing row is ErrNotFound.
func wrap(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound):
		return fmt.Errorf("%s: %w", doing, ErrNotFound)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// permanentError is one of ours that no repetition mends.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// transient: the same transaction may succeed later. What is not known, for
// instance a broken connection, is.
func transient(err error) bool {
	var ours *permanentError
	var lite sqlite3.Error
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &ours), errors.Is(err, gorm.ErrDuplicatedKey), errors.Is(err, gorm.ErrForeignKeyViolated), errors.Is(err, gorm.ErrCheckConstraintViolated), errors.Is(err, ErrNotFound):
		return false
	case errors.As(err, &lite):
		switch lite.Code {
		case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrIoErr, sqlite3.ErrFull, sqlite3.ErrCantOpen, sqlite3.ErrNomem,
			sqlite3.ErrProtocol, sqlite3.ErrReadonly, sqlite3.ErrInterrupt, sqlite3.ErrSchema:
			return true
		}
		return false
	case errors.As(err, &pg):
		if len(pg.Code) != 5 {
			return true
		}
		switch pg.Code[:2] {
		case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, not available, operator, system
			return true
		}
		return pg.Code == "25006" // read-only: a standby after a failover
	}
	return true
}

// Full: the database could not be written because its disk is full.
func Full(err error) bool {
	var lite sqlite3.Error
	var pg *pgconn.PgError
	return errors.As(err, &lite) && lite.Code == sqlite3.ErrFull || errors.As(err, &pg) && pg.Code == "53100"
}

// missing is nil for what is gone.
func missing(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
