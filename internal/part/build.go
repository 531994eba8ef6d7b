package part

// Build is the parts of a whole log, texts included; resets are honoured.
func Build(entries []*Entry) []*Part { return nil }

// Next is the part after an entry that concerns it; false where the entry
// changes nothing. Texts are the caller's: Next adds no delta.
func Next(p Part, e *Entry) (Part, bool) { return p, false }
