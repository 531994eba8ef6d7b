package main

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"stagefold/internal/live"
)

// openStream is the one place that begins a server-sent event stream: headers
// first, then Echo's response is committed, then the first flush.
func openStream(c echo.Context, gzip bool) *http.ResponseController {
	r := c.Response()
	h := r.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if gzip {
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
	}
	r.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(r)
	_ = rc.Flush()
	return rc
}

// chatStream is GET /chats/{id}/stream: the page's patches from the cursor on.
// Every byte was encoded once for all viewers.
func (a *app) chatStream(c echo.Context) error {
	ctx := c.Request().Context()
	chat, err := a.db.Chat(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	viewer, err := a.hub.Subscribe(ctx, chat.ID, cursorOf(c.Request()))
	if err != nil {
		if errors.Is(err, live.ErrClosed) {
			c.Response().Header().Set("Retry-After", "1")
			return &webError{http.StatusServiceUnavailable, "closing", "The server is restarting.", "The page reconnects by itself."}
		}
		return err
	}
	defer viewer.Close()
	gzip := acceptsGzip(c.Request())
	rc := openStream(c, gzip)
	if gzip {
		if err := a.writeAll(c, rc, live.GzipHeader); err != nil {
			return nil
		}
	}
	for {
		frames, err := viewer.Next(ctx)
		if err != nil {
			if gzip && ctx.Err() == nil {
				_ = a.writeAll(c, rc, viewer.GzipTrailer())
			}
			return nil
		}
		for _, f := range frames {
			bytes := f.Plain
			if gzip {
				bytes = f.Deflate
			}
			if err := a.writeAll(c, rc, bytes); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					a.meter.viewersDropped.Inc()
				}
				return nil
			}
			if !f.Newest.IsZero() {
				a.meter.toViewer.Observe(time.Since(f.Newest).Seconds())
			}
		}
	}
}

// writeAll writes and flushes within takeTimeout; an error means that the viewer
// is gone or frozen.
func (a *app) writeAll(c echo.Context, rc *http.ResponseController, b []byte) error {
	if err := rc.SetWriteDeadline(time.Now().Add(a.cfg.takeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := c.Response().Write(b); err != nil {
		return err
	}
	return rc.Flush()
}

// cursorOf reads ?run=&after=, or Last-Event-ID for the after part.
func cursorOf(r *http.Request) live.Cursor {
	after := r.URL.Query().Get("after")
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		after = id
	}
	seq, err := strconv.ParseInt(after, 10, 64)
	if err != nil || seq < 0 {
		seq = 0
	}
	return live.Cursor{RunID: r.URL.Query().Get("run"), Seq: seq}
}

func acceptsGzip(r *http.Request) bool {
	for _, v := range r.Header.Values("Accept-Encoding") {
		for _, e := range strings.Split(v, ",") {
			name, q, _ := strings.Cut(strings.TrimSpace(e), ";")
			if strings.EqualFold(name, "gzip") && strings.TrimSpace(q) != "q=0" {
				return true
			}
		}
	}
	return false
}
