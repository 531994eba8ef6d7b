package store

import (
	"fmt"
	"strings"

	"gorm.io/gorm"

	"stagefold/internal/part"
)

const (
	maxIndexed = 256 << 10 // bytes of a run's text in the index
	maxWords   = 40_000    // of them
	maxQuery   = 32        // words of a query
)

// index puts a root run's words into the full-text index, in place of what is
// there.
func (d *DB) index(tx *gorm.DB, position int64, title string, texts ...string) error {
	body := strings.Join(texts, "\n")
	body = d.indexed(body[:min(len(body), maxIndexed)])
	title = d.indexed(title)
	if d.postgres {
		return wrap("index run", tx.Exec("INSERT INTO search (docid, title, body) VALUES (?, ?::tsvector, ?::tsvector) ON CONFLICT (docid) DO UPDATE SET title = excluded.title, body = excluded.body",
			position, title, body).Error)
	}
	if err := tx.Exec("DELETE FROM search WHERE docid = ?", position).Error; err != nil {
		return wrap("index run", err)
	}
	return wrap("index run", tx.Exec("INSERT INTO search (docid, title, body) VALUES (?, ?, ?)", position, title, body).Error)
}

// retitle gives the runs of a chat its new title in the index.
func (d *DB) retitle(tx *gorm.DB, chatID, title string) error {
	set := "title = ?"
	if d.postgres {
		set = "title = ?::tsvector"
	}
	return wrap("index title", tx.Exec("UPDATE search SET "+set+" WHERE docid IN (SELECT position FROM runs WHERE chat_id = ? AND parent_run_id = '')", d.indexed(title), chatID).Error)
}

// indexed is a text as its column of the index takes it: words, and on Postgres
// their places, so that its parser has no say.
func (d *DB) indexed(s string) string {
	list := words(s, maxWords)
	if !d.postgres {
		return strings.Join(list, " ")
	}
	var b strings.Builder
	for i, w := range list {
		fmt.Fprintf(&b, "'%s':%d ", w, min(i+1, 1<<14-1))
	}
	return b.String()
}

// matching narrows q to runs that have every word of the query, the last one as
// a beginning. Only letters and digits of the query reach the database, so that
// nothing a user types is an error. False: the query has no word, nothing matches.
func (d *DB) matching(q *gorm.DB, query string) (*gorm.DB, bool) {
	list := phrases(query, maxQuery)
	if len(list) == 0 {
		return q, false
	}
	terms := make([]string, len(list))
	for i, phrase := range list {
		if d.postgres {
			terms[i] = "'" + strings.Join(phrase, "' <-> '") + "'"
		} else {
			terms[i] = strings.Join(phrase, " ")
		}
	}
	if d.postgres {
		return q.Where("runs.position IN (SELECT docid FROM search WHERE words @@ ?::tsquery)", strings.Join(terms, " & ")+":*"), true
	}
	return q.Where("runs.position IN (SELECT docid FROM search WHERE search MATCH ?)", `"`+strings.Join(terms, `" "`)+`*"`), true
}

// answerText is what the index holds of a run's answers.
func answerText(texts []*part.Entry) string {
	var b strings.Builder
	for _, p := range part.Build(texts) {
		if p.Kind == part.KindText && b.Len() < maxIndexed {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
