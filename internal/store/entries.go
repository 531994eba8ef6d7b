package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stagefold/internal/part"
)

type entryRow struct {
	Seq, Step, Time int64
	Type, Body      string
}

// rowOfEntry is the entry's row, and the entry as it will be read back.
func rowOfEntry(e *part.Entry) (entryRow, *part.Entry) {
	c := *e
	c.Time = at(ms(e.Time))
	c.Input, c.Output, c.Data, c.ProviderMetadata = valid(e.Input), valid(e.Output), valid(e.Data), valid(e.ProviderMetadata)
	c.Waiting = validWaiting(e.Waiting)
	r := entryRow{Seq: c.Seq, Step: int64(c.Step), Time: ms(c.Time), Type: text(string(c.Type)), Body: entryJSON(&c)}
	if strings.Contains(r.Body, "\uFFFD") { // bytes that are no UTF-8 were replaced
		if back, err := r.entry(); err == nil {
			return r, back
		}
	}
	return r, &c
}

// valid makes a string of raw JSON that is none.
func valid(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if json.Valid(raw) {
		return raw
	}
	b, _ := json.Marshal(string(raw)) // a string has no error
	return b
}

func validWaiting(list []part.Waiting) []part.Waiting {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Input = valid(list[i].Input)
	}
	return list
}

func (r entryRow) entry() (*part.Entry, error) {
	e := &part.Entry{}
	if end, ok := parseEntry(r.Body, 0, e); !ok || end != len(r.Body) {
		e = &part.Entry{}
		if err := json.Unmarshal([]byte(r.Body), e); err != nil {
			return nil, fmt.Errorf("read entry %d: %w", r.Seq, err)
		}
	}
	e.Seq = r.Seq
	return e, nil
}

// unpack reads the entries of a packed row.
func unpack(body string) ([]*part.Entry, error) {
	if list, ok := parseEntries(body); ok {
		return list, nil
	}
	var list []*part.Entry
	err := json.Unmarshal([]byte(body), &list)
	return list, wrap("read packed entries", err)
}

// Entries reads a run's log above a seq, in order and entry by entry as it was
// written; limit 0 reads all. Who has seen all up to a seq has, with the answer,
// seen all up to its last entry.
func (d *DB) Entries(ctx context.Context, runID string, after int64, limit int) ([]*part.Entry, error) {
	// One statement, so that what the packer moves is read once.
	q := `SELECT last_seq AS seq, body, 1 AS packed FROM packs WHERE run_id = ? AND last_seq > ?
		UNION ALL SELECT seq, body, 0 AS packed FROM entries WHERE run_id = ? AND seq > ? ORDER BY seq`
	args := []any{text(runID), after, text(runID), after}
	if limit > 0 {
		q, args = q+" LIMIT ?", append(args, limit)
	}
	rows, err := d.read.WithContext(ctx).Raw(q, args...).Rows()
	if err != nil {
		return nil, wrap("read log", err)
	}
	defer rows.Close()
	list := []*part.Entry{}
	for rows.Next() && (limit <= 0 || len(list) < limit) {
		var r entryRow
		var packed int
		if err := rows.Scan(&r.Seq, &r.Body, &packed); err != nil {
			return nil, wrap("read log", err)
		}
		if packed == 0 {
			e, err := r.entry()
			if err != nil {
				return nil, err
			}
			list = append(list, e)
			continue
		}
		many, err := unpack(r.Body)
		if err != nil {
			return nil, err
		}
		for _, e := range many {
			if e.Seq > after {
				list = append(list, e)
			}
		}
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, wrap("read log", rows.Err())
}

// Packed reads a run's log above a seq with one delta a part: the deltas of a
// text, a reasoning or a tool's input stand joined under the seq of the first of
// them. It folds to what Entries folds to, and is what to fold a whole log from.
func (d *DB) Packed(ctx context.Context, runID string, after int64) ([]*part.Entry, error) {
	list, err := d.Entries(ctx, runID, after, 0)
	return pack(list), err
}
