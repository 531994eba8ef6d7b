package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// guard lets only our own page and local programs in: the Host of every request
// must be a loopback name or an allowed one (against DNS rebinding), and a write
// must come from the same origin or from no page at all.
func guard(allowed []string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if !hostAllowed(r.Host, allowed) {
				return &webError{status: http.StatusMisdirectedRequest, code: "host_not_allowed",
					message: "This host name is not served here.", hint: "Open the address that the start printed, or name the host with --allowed-host."}
			}
			if err := checkOrigin(r, allowed); err != nil {
				return err
			}
			return next(c)
		}
	}
}

func hostAllowed(hostport string, allowed []string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return host != "" && (loopback(host) || slices.ContainsFunc(allowed, func(a string) bool {
		return strings.EqualFold(a, host) || strings.EqualFold(a, hostport)
	}))
}

// checkOrigin: whoever names another origin is refused, for reads too where
// they are not a plain navigation; a write from a page must prove the same origin.
func checkOrigin(r *http.Request, allowed []string) error {
	refused := &webError{status: http.StatusForbidden, code: "cross_site",
		message: "This request comes from another site.", hint: "Use the page itself, or a program that sends no Origin header."}
	site := r.Header.Get("Sec-Fetch-Site")
	origins := r.Header.Values("Origin")
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	if len(origins) > 1 {
		return refused
	}
	if len(origins) == 1 {
		u, err := url.Parse(origins[0])
		if err != nil || !strings.EqualFold(u.Host, r.Host) || (u.Scheme != "http" && u.Scheme != "https") {
			return refused
		}
	}
	switch site {
	case "", "same-origin", "none":
		return nil
	case "cross-site", "same-site":
		// A link from elsewhere may open a page; nothing else may be read or done.
		if read && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !strings.HasPrefix(r.URL.Path, "/api/") {
			return nil
		}
	}
	return refused
}

// secure sets the headers of every answer. official: the official Datastar file
// is served, which needs unsafe-eval.
func secure(official bool) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			nonce := randomID(16)
			c.Set("nonce", nonce)
			eval := ""
			if official {
				eval = " 'unsafe-eval'"
			}
			h := c.Response().Header()
			h.Set("Content-Security-Policy", fmt.Sprintf("default-src 'self'; script-src 'self' 'nonce-%s'%s; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-src 'none'; frame-ancestors 'none'", nonce, eval))
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "same-origin") // no-referrer would make the Origin of our own forms null
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Cross-Origin-Resource-Policy", "same-origin")
			h.Set("X-Frame-Options", "DENY")
			return next(c)
		}
	}
}

// jsonBody refuses a write to the API that is not JSON: a plain form of another
// site can send no application/json.
func jsonBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !strings.HasPrefix(r.URL.Path, "/api/") || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodDelete {
			return next(c)
		}
		media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		if r.ContentLength == 0 && media == "" {
			return next(c)
		}
		if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
			return &webError{status: http.StatusUnsupportedMediaType, code: "content_type", message: "The body must be JSON.", hint: "Send Content-Type: application/json."}
		}
		return next(c)
	}
}
