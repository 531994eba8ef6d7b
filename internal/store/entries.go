package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"stagefold/internal/part"
)

type entryRow struct {
	Seq, First, Step, Time int64
	Type, Body, Pieces     string
}

// storedEntry is an entry's body: what stands in columns is left out, and raw
// JSON stands as a string, so that it comes back byte for byte.
type storedEntry struct {
	*part.Entry
	Seq              int64  `json:"seq,omitempty"`
	Step             int    `json:"step,omitempty"`
	Time             string `json:"time,omitempty"`
	Type             string `json:"type,omitempty"`
	Input            string `json:"input,omitempty"`
	Output           string `json:"output,omitempty"`
	Data             string `json:"data,omitempty"`
	ProviderMetadata string `json:"providerMetadata,omitempty"`
}

// rowOfEntry is the entry's row, and the entry as it will be read back.
func rowOfEntry(e *part.Entry) (entryRow, *part.Entry) {
	c := *e
	c.Time = at(ms(e.Time))
	c.Input, c.Output, c.Data, c.ProviderMetadata = valid(e.Input), valid(e.Output), valid(e.Data), valid(e.ProviderMetadata)
	c.Waiting = validWaiting(e.Waiting)
	body, err := encode(storedEntry{Entry: &c, Input: string(c.Input), Output: string(c.Output), Data: string(c.Data), ProviderMetadata: string(c.ProviderMetadata)})
	if err != nil { // no field is left that could be wrong
		body = "{}"
	}
	r := entryRow{Seq: c.Seq, First: c.Seq, Step: int64(c.Step), Time: ms(c.Time), Type: text(string(c.Type)), Body: body}
	if strings.Contains(body, `\ufffd`) || err != nil { // bytes that are no UTF-8 were replaced
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
	s := storedEntry{Entry: &part.Entry{}}
	if err := json.Unmarshal([]byte(r.Body), &s); err != nil {
		return nil, fmt.Errorf("read entry %d: %w", r.Seq, err)
	}
	e := s.Entry
	e.Seq, e.Step, e.Time, e.Type = r.Seq, int(r.Step), at(r.Time), part.Type(r.Type)
	e.Input, e.Output, e.Data, e.ProviderMetadata = raw(s.Input), raw(s.Output), raw(s.Data), raw(s.ProviderMetadata)
	return e, nil
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

const entryColumns = "seq, first, step, time, type, body, pieces"

// Entries reads a run's log above a seq, in order; limit 0 reads all, a limit
// may be exceeded by the texts that stream at its end. The seqs of a finished
// run have gaps, because the deltas of a part are packed into its last one; for
// a reader that knows a part's beginning the delta holds only the rest.
func (d *DB) Entries(ctx context.Context, runID string, after int64, limit int) ([]*part.Entry, error) {
	q := d.read.WithContext(ctx).Table("entries").Select(entryColumns).Where("run_id = ?", text(runID))
	page := q.Session(&gorm.Session{}).Where("seq > ?", after).Order("seq")
	if limit > 0 {
		page = page.Limit(limit)
	}
	var rows []entryRow
	if err := page.Find(&rows).Error; err != nil {
		return nil, wrap("read log", err)
	}
	upto := int64(1<<63 - 1)
	if limit > 0 && len(rows) == limit { // deltas that begin on this page and end behind it
		upto = rows[limit-1].Seq
		var cut []entryRow
		if err := q.Session(&gorm.Session{}).Where("first < seq AND first <= ? AND seq > ?", upto, upto).Find(&cut).Error; err != nil {
			return nil, wrap("read log", err)
		}
		rows = append(rows, cut...)
	}
	list := make([]*part.Entry, 0, len(rows))
	for _, r := range rows {
		e, err := r.entry()
		if err != nil {
			return nil, err
		}
		if r.Pieces == "" || cut(e, r.Pieces, after, upto) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *part.Entry) int { return int(a.Seq - b.Seq) })
	return list, nil
}
