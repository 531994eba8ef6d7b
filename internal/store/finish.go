package store

import (
	"encoding/json"

	"gorm.io/gorm"

	"stagefold/internal/part"
	"stagefold/internal/planning"
)

// ending is how a run ends.
type ending struct {
	runID string
	entry *part.Entry     // the finish entry
	plan  *planning.State // nil retires the chat's plan
	digest
}

// digest is what the end of a run needs of its log.
type digest struct {
	texts   []*part.Entry
	answer  string   // the words of its answers
	answers []string // ids of the messages that reached it as answers
}

// digested are the types of entries that a digest is made of.
var digested = []part.Type{part.TextStart, part.TextDelta, part.TextEnd, part.StepReset, part.DataAnswer}

// digest reads a run's log, so that its last transaction need not; further
// entries will end it.
func (d *DB) digest(q *gorm.DB, runID string, further ...*part.Entry) (g digest, err error) {
	rows, err := q.Table("entries").Select("seq, body").Where("run_id = ? AND type IN ?", runID, digested).Order("seq").Rows()
	if err != nil {
		return g, wrap("read log", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r entryRow
		if err := rows.Scan(&r.Seq, &r.Body); err != nil {
			return g, wrap("read log", err)
		}
		if e, ok := d.readable(runID, r); ok {
			g.note(e)
		}
	}
	for _, e := range further {
		g.note(e)
	}
	g.answer = answerText(g.texts)
	return g, wrap("read log", rows.Err())
}

func (g *digest) note(e *part.Entry) {
	switch e.Type {
	case part.TextStart, part.TextDelta, part.TextEnd, part.StepReset:
		g.texts = append(g.texts, e)
	case part.DataAnswer:
		var a part.AnswerData
		if json.Unmarshal(e.Data, &a) == nil && a.MessageID != "" {
			g.answers = append(g.answers, text(a.MessageID))
		}
	}
}

// finishRun settles the run's row and, of a root run, the chat: its plan, its waiting messages and the index.
func (d *DB) finishRun(tx *gorm.DB, e ending) error {
	var row runRow
	if err := tx.Where("id = ?", e.runID).Take(&row).Error; err != nil {
		return wrap("read run", err)
	}
	set := map[string]any{"state": string(e.entry.State), "finish_reason": string(e.entry.FinishReason), "note": text(e.entry.Note), "waiting": "", "finished_at": ms(e.entry.Time)}
	for column, v := range map[string]any{"error": e.entry.Error, "debt": e.entry.Debt, "usage": e.entry.Usage} {
		s, err := encode(v)
		if err != nil {
			return err
		}
		if column != "usage" || s != "" {
			set[column] = s
		}
	}
	if err := tx.Table("runs").Where("id = ?", row.ID).Updates(set).Error; err != nil {
		return wrap("settle run", err)
	}
	if row.ParentRunID != "" {
		return nil
	}
	return d.finishChat(tx, row, e)
}

// finishChat settles what a root run's end means for its chat. Messages that
// wait are sent next only after a good end; a message that was taken as an
// answer and never reached the run waits again.
func (d *DB) finishChat(tx *gorm.DB, row runRow, e ending) error {
	chat, err := d.lockChat(tx, row.ChatID)
	if err != nil {
		return err
	}
	if e.plan == nil {
		if err := tx.Table("chats").Where("id = ?", chat.ID).Update("plan", "").Error; err != nil {
			return wrap("retire plan", err)
		}
	}
	if err := d.touch(tx, chat.ID); err != nil {
		return err
	}
	lost := tx.Table("messages").Where("chat_id = ? AND run_id = ? AND state = 'answer'", chat.ID, row.ID)
	if len(e.answers) > 0 {
		lost = lost.Where("id NOT IN ?", e.answers)
	}
	if err := lost.Updates(map[string]any{"state": string(MessageQueued), "run_id": ""}).Error; err != nil {
		return wrap("queue answers", err)
	}
	if e.entry.State != part.Finished {
		if err := hold(tx, chat.ID); err != nil {
			return err
		}
	}
	return d.index(tx, row.Position, chat.Title, row.UserText, e.answer)
}
