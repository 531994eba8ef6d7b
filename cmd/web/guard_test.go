package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// Only our own page and local programs may cause effects or read data, on every
// registered route, so that a new route is covered without a new test.
func TestGuardOnEveryRoute(t *testing.T) {
	a := testApp(t, testConfig(t))
	h := a.handler()
	routes := h.(*echo.Echo).Routes()
	if len(routes) < 30 {
		t.Fatalf("only %d routes", len(routes))
	}
	bad := []struct {
		name    string
		host    string
		headers map[string]string
		want    int
		writes  bool // only writes are refused
	}{
		{"rebound host", "evil.test:8080", nil, http.StatusMisdirectedRequest, false},
		{"rebound host without a port", "evil.test", nil, http.StatusMisdirectedRequest, false},
		{"address of the network", "192.168.0.7:8080", nil, http.StatusMisdirectedRequest, false},
		{"name that begins like ours", "localhost.evil.test:8080", nil, http.StatusMisdirectedRequest, false},
		{"foreign origin", "localhost:8080", map[string]string{"Origin": "http://evil.test"}, http.StatusForbidden, false},
		{"another port of this machine", "localhost:8080", map[string]string{"Origin": "http://localhost:9999"}, http.StatusForbidden, false},
		{"null origin", "localhost:8080", map[string]string{"Origin": "null"}, http.StatusForbidden, false},
		{"cross-site without origin", "localhost:8080", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, http.StatusForbidden, false},
		{"cross-site form", "localhost:8080", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, http.StatusForbidden, true},
		{"same site, other port", "localhost:8080", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, http.StatusForbidden, false},
	}
	for _, r := range routes {
		if r.Method == echo.RouteNotFound {
			continue
		}
		for _, b := range bad {
			if b.writes && r.Method == http.MethodGet {
				continue
			}
			path := strings.NewReplacer(":id", "x", ":key", "x", ":message", "x", ":run", "x", ":call", "x", "*", "x").Replace(r.Path)
			req := httptest.NewRequest(r.Method, path, strings.NewReader("text=hi&id=1"))
			req.Host = b.host
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for k, v := range b.headers {
				req.Header.Set(k, v)
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			if rec.Code != b.want {
				t.Errorf("%s %s, %s: status %d, want %d", r.Method, r.Path, b.name, rec.Code, b.want)
			}
		}
	}
	chats, _, err := a.db.Chats(t.Context(), "", 10)
	if err != nil || len(chats) != 0 {
		t.Errorf("a refused request had an effect: %d chats, %v", len(chats), err)
	}
}

func TestGuardLetsGoodRequestsIn(t *testing.T) {
	cfg := testConfig(t)
	cfg.allowedHosts = []string{"agent.example"}
	h := testApp(t, cfg).handler()
	for _, host := range []string{"localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST:1", "agent.example"} {
		for _, origin := range []string{"", "http://" + host} {
			req := httptest.NewRequest(http.MethodPost, "/api/chats", strings.NewReader("{}"))
			req.Host = host
			req.Header.Set("Content-Type", "application/json")
			if origin != "" {
				req.Header.Set("Origin", origin)
				req.Header.Set("Sec-Fetch-Site", "same-origin")
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			if rec.Code != http.StatusCreated {
				t.Errorf("host %s origin %q: status %d: %s", host, origin, rec.Code, rec.Body)
			}
		}
	}
	// A link on another site may open a page.
	req := httptest.NewRequest(http.MethodGet, "/runs", nil)
	req.Host = "localhost:8080"
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	if rec.Code != http.StatusOK {
		t.Errorf("navigation: status %d", rec.Code)
	}
}

func TestAPIWritesMustBeJSON(t *testing.T) {
	h := testApp(t, testConfig(t)).handler()
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
		req := httptest.NewRequest(http.MethodPost, "/api/chats", strings.NewReader(`{"title":"x"}`))
		req.Host = "localhost:8080"
		req.Header.Set("Content-Type", media)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if rec.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%q: status %d", media, rec.Code)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	h := testApp(t, testConfig(t)).handler()
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Host = "localhost:8080"
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	csp := rec.Header().Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("CSP %q", csp)
	}
	nonce := csp[strings.Index(csp, "nonce-")+6:]
	nonce = nonce[:strings.Index(nonce, "'")]
	if !strings.Contains(rec.Body.String(), `data-nonce="`+nonce+`"`) {
		t.Error("the page does not carry the nonce of its policy")
	}
}
