package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"gorm.io/gorm"
)

// packSize is how many entries stand in one row of a packed log.
const packSize = 256

// packer rewrites the logs of runs that have ended, many entries a row, so that
// a review reads few rows. It works in short transactions between those of the
// writer, and readers see no difference. What a crash leaves, the next start
// packs.
type packer struct {
	db   *DB
	bell chan struct{} // a run has ended
	ctx  context.Context
	end  context.CancelFunc
	loop sync.WaitGroup
}

func startPacker(d *DB) *packer {
	p := &packer{db: d, bell: make(chan struct{}, 1)}
	p.ctx, p.end = context.WithCancel(context.Background())
	ring(p.bell)
	p.loop.Go(p.run)
	return p
}

// stop ends the packer; the transaction under way is undone.
func (p *packer) stop() {
	p.end()
	p.loop.Wait()
}

func (p *packer) run() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.bell:
		}
		if err := p.db.packEnded(p.ctx); err != nil && p.ctx.Err() == nil {
			p.db.o.Logger.Warn("logs were not packed", slog.Any("err", err))
		}
	}
}

// packEnded packs the log of every run that has ended.
func (d *DB) packEnded(ctx context.Context) error {
	for last := int64(0); ; {
		var rows []runRow
		err := d.read.WithContext(ctx).Select("position, id").Where("packed = 0 AND state NOT IN ('queued', 'running', 'waiting') AND position > ?", last).
			Order("position").Limit(1).Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return wrap("pack logs", err)
		}
		last = rows[0].Position
		for more := true; more; {
			if more, err = d.packSome(ctx, rows[0].ID); err != nil && !errors.Is(err, ErrNotFound) { // deleted meanwhile
				return err
			}
		}
	}
}

// packSome puts the oldest entries of a log into one row, unless it is packed
// already: on Postgres each process has a packer. Entries that still come, late
// ones, have higher seqs.
func (d *DB) packSome(ctx context.Context, runID string) (more bool, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		var run runRow
		if err := d.forUpdate(tx).Select("packed").Where("id = ?", runID).Take(&run).Error; err != nil {
			return wrap("read run", err)
		}
		if more = false; run.Packed == 1 {
			return nil
		}
		var rows []entryRow
		if err := tx.Table("entries").Select("seq, body").Where("run_id = ?", runID).Order("seq").Limit(packSize).Find(&rows).Error; err != nil {
			return wrap("read log", err)
		}
		if more = len(rows) == packSize; !more {
			if err := tx.Exec("UPDATE runs SET packed = 1 WHERE id = ?", runID).Error; err != nil {
				return wrap("pack log", err)
			}
		}
		if len(rows) == 0 {
			return nil
		}
		last := rows[len(rows)-1].Seq
		if err := tx.Exec("DELETE FROM entries WHERE run_id = ? AND seq <= ?", runID, last).Error; err != nil {
			return wrap("pack log", err)
		}
		return wrap("pack log", tx.Exec("INSERT INTO packs (run_id, last_seq, body) VALUES (?, ?, ?)", runID, last, array(rows)).Error)
	})
	return more, err
}

// array is the rows' bodies as a JSON array.
func array(rows []entryRow) string {
	var b strings.Builder
	for i, r := range rows {
		b.WriteByte("[,"[min(i, 1)])
		b.WriteString(r.Body)
	}
	b.WriteByte(']')
	return b.String()
}
