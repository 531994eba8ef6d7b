package store

import (
	"context"
	"strconv"
	"strings"
)

// RunFilter narrows the list of runs; empty fields do not.
type RunFilter struct {
	State, Model, Query, Cursor string
	Limit                       int
}

// Runs reads a page of root runs, newest first, and the next page's cursor.
// Query is full text over user messages, chat titles and answers.
func (d *DB) Runs(ctx context.Context, f RunFilter) ([]Run, string, error) {
	if f.Limit <= 0 {
		f.Limit = pageSize
	}
	q := d.runsQuery(ctx).Where("parent_run_id = ''").Order("position DESC").Limit(f.Limit + 1)
	if f.State != "" {
		q = q.Where("state = ?", text(f.State))
	}
	if f.Model != "" {
		q = q.Where("model = ?", text(f.Model))
	}
	if strings.TrimSpace(f.Query) != "" {
		var any bool
		if q, any = d.matching(q, f.Query); !any {
			return nil, "", nil
		}
	}
	if before, err := strconv.ParseInt(f.Cursor, 10, 64); err == nil {
		q = q.Where("position < ?", before)
	}
	var rows []runRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, "", wrap("read runs", err)
	}
	next := ""
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		next = strconv.FormatInt(rows[f.Limit-1].Position, 10)
	}
	list := make([]Run, len(rows))
	for i, r := range rows {
		list[i] = r.run()
	}
	return list, next, nil
}

// Models reads the models that root runs used.
func (d *DB) Models(ctx context.Context) ([]string, error) {
	var list []string
	err := d.read.WithContext(ctx).Table("runs").Where("parent_run_id = ''").Distinct("model").Order("model").Pluck("model", &list).Error
	return list, wrap("read models", err)
}
