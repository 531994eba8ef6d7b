package planning

import "strings"

// EscapeFrame makes a text from the model, a tool, a file or a user safe inside
// a server frame: every `<` becomes the six characters \u003c.
func EscapeFrame(s string) string { return strings.ReplaceAll(s, "<", `\u003c`) }
