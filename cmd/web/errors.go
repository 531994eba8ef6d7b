package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"stagefold/internal/store"
	"stagefold/views"
)

// webError is an answer that is an error: a status, a code for programs, and a
// sentence that says what was wrong and what to do.
type webError struct {
	status  int
	code    string
	message string
	hint    string
}

func (e *webError) Error() string { return e.code + ": " + e.message }

func badRequest(code, message, hint string) *webError {
	return &webError{status: http.StatusBadRequest, code: code, message: message, hint: hint}
}

// asWebError is the one place that turns errors into statuses and sentences.
func asWebError(err error) *webError {
	var w *webError
	var h *echo.HTTPError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &w):
		return w
	case errors.As(err, &tooLarge):
		return &webError{http.StatusRequestEntityTooLarge, "too_large", "The request is too large.", "Send at most 1 MiB."}
	case errors.Is(err, store.ErrNotFound):
		return &webError{http.StatusNotFound, "not_found", "There is nothing here.", "It may have been deleted, or the address is mistyped."}
	case errors.Is(err, store.ErrBusy):
		return &webError{http.StatusConflict, "busy", "A run is working in this chat.", "Stop it or wait until it has ended."}
	case errors.Is(err, store.ErrConflict):
		return &webError{http.StatusConflict, "conflict", "This was decided or sent already.", "Reload the page to see how it stands."}
	case store.Full(err):
		return &webError{http.StatusInsufficientStorage, "disk_full", "The disk that holds the chats is full; nothing was stored.", "Free some space there, then send it again."}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &webError{http.StatusServiceUnavailable, "unavailable", "The server did not answer in time.", "Try again."}
	case errors.As(err, &h):
		switch h.Code {
		case http.StatusNotFound:
			return &webError{h.Code, "not_found", "There is no such page.", "Go back to the chats."}
		case http.StatusMethodNotAllowed:
			return &webError{h.Code, "method", "This address does not take that method.", "See docs/api.md."}
		}
		if h.Code < 500 {
			return &webError{h.Code, strings.ToLower(strings.ReplaceAll(http.StatusText(h.Code), " ", "_")), "The request could not be read.", "See docs/api.md."}
		}
	}
	return &webError{http.StatusInternalServerError, "internal", "Something went wrong here.", "Try again; if it stays, the server's log says more."}
}

// handleError answers every error of every route: JSON for programs and for the
// page's own requests, else a page.
func (a *app) handleError(err error, c echo.Context) {
	w := asWebError(err)
	if w.status >= 500 {
		a.log.Error("request failed", slog.String("path", c.Path()), slog.Any("err", err))
	}
	if c.Response().Committed {
		return
	}
	if wantsJSON(c.Request()) {
		type body struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Hint    string `json:"hint,omitempty"`
		}
		_ = c.JSON(w.status, map[string]body{"error": {w.code, w.message, w.hint}})
		return
	}
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(w.status)
		return
	}
	_ = render(c, w.status, views.ErrorPage(views.ErrorView{Page: a.page(c, "Error", ""), Status: w.status, Message: w.message, Hint: w.hint}))
}

func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/healthz" ||
		r.Header.Get("Datastar-Request") != "" || strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

// readJSON reads a JSON body strictly: unknown fields are named.
func readJSON(c echo.Context, into any) error {
	r := c.Request()
	if r.ContentLength == 0 {
		return nil
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return badRequest("bad_json", "The body is not the JSON that this call takes: "+strings.TrimPrefix(err.Error(), "json: ")+".", "See docs/api.md.")
	}
	return nil
}
