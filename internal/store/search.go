package store

import (
	"strings"
	"unicode"

	"gorm.io/gorm"

	"stagefold/internal/part"
)

const (
	maxIndexed = 256 << 10 // bytes of a run's text in the index
	maxWords   = 16        // of a query
)

// indexRun puts a run's words into the full-text index, in place of what is
// there.
func (d *DB) indexRun(tx *gorm.DB, runID string, texts ...string) error {
	words := strings.Join(texts, "\n")
	if len(words) > maxIndexed {
		words = words[:maxIndexed]
	}
	words = text(words)
	if d.postgres {
		return wrap("index run", tx.Exec("INSERT INTO search (run_id, body) VALUES (?, to_tsvector('simple', ?)) ON CONFLICT (run_id) DO UPDATE SET body = excluded.body", runID, words).Error)
	}
	if err := tx.Exec("DELETE FROM search WHERE run_id = ?", runID).Error; err != nil {
		return wrap("index run", err)
	}
	return wrap("index run", tx.Exec("INSERT INTO search (run_id, body) VALUES (?, ?)", runID, words).Error)
}

// matching narrows q to runs that have every word of the query, the last one as
// a beginning. Only letters and digits of the query reach the database, so that
// nothing a user types is an error. False: the query has no word, nothing matches.
func (d *DB) matching(q *gorm.DB, query string) (*gorm.DB, bool) {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) })
	if len(words) == 0 {
		return q, false
	}
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	if d.postgres {
		return q.Where("runs.id IN (SELECT run_id FROM search WHERE body @@ to_tsquery('simple', ?))", "'"+strings.Join(words, "' & '")+"':*"), true
	}
	return q.Where("runs.id IN (SELECT run_id FROM search WHERE search MATCH ?)", `"`+strings.Join(words, `" "`)+`*"`), true
}

// answerText is what the index holds of a run's log: the words of its answers.
func answerText(parts []*part.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Kind == part.KindText && b.Len() < maxIndexed {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
