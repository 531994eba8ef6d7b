// Package migrations holds the database schema: embedded SQL, one file a
// change, run by goose, for both dialects.
package migrations

import "embed"

// SQLite and Postgres hold the files below the folder of their name.
//
//go:embed sqlite/*.sql
var SQLite embed.FS

//go:embed postgres/*.sql
var Postgres embed.FS
