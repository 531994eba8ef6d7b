package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stagefold/internal/agent"
)

// messageCap bounds a provider's message, in characters.
const messageCap = 2000

// longestRetryAfter bounds what a provider may ask for.
const longestRetryAfter = time.Hour

// StreamError is the error that a frame inside a 200 reports, whatever its shape.
func StreamError(data []byte) *agent.ProviderError {
	r := readReport(data)
	if r.message == "" {
		r.message = oneLine(string(data))
	}
	return r.error(0)
}

// failedStatus is the error of an answer with an HTTP status other than 2xx.
func failedStatus(res *http.Response, body []byte) *agent.ProviderError {
	r := readReport(body)
	if r.message == "" {
		r.message = fmt.Sprintf("the provider answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))
		if res.StatusCode < 400 || res.StatusCode == http.StatusNotFound {
			r.message += "; check the base address"
		}
		if text := oneLine(string(body)); text != "" && !strings.HasPrefix(text, "<") && !json.Valid(body) {
			r.message += ": " + text
		}
	}
	p := r.error(res.StatusCode)
	if p.Code == "" {
		p.Code = strconv.Itoa(res.StatusCode)
	}
	p.RetryAfter = retryAfter(res.Header)
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		p.Retryable = true
	case "false":
		p.Retryable = false
	}
	return p
}

// noStream is the error of a 200 whose body is no event stream.
func noStream(res *http.Response, body []byte) *agent.ProviderError {
	if r := readReport(body); r.message != "" && !bytes.Contains(body, []byte(`"choices"`)) {
		return r.error(res.StatusCode)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	p := Broken(fmt.Sprintf("the provider answered with %s instead of an event stream", kind))
	if text := oneLine(string(body)); !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "{") {
		p.Message += ": " + text
	}
	p.Status, p.Retryable = res.StatusCode, false
	return p
}

// report is what a provider says about an error.
type report struct {
	message string
	code    string
	status  int // an HTTP status named in the body
}

// reportsError: the JSON document says plainly that it is an error.
func reportsError(doc []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(doc, &fields) != nil {
		return false
	}
	return ReportsError(fields)
}

// ReportsError says whether the top level of a frame is an error's: an error
// field that holds something, an error's type, or words that only errors have.
func ReportsError(fields map[string]json.RawMessage) bool {
	switch strings.TrimSpace(string(fields["error"])) {
	case "", "null", "false", `""`, "{}", "[]":
	default:
		return true
	}
	for _, key := range []string{"object", "type"} {
		if string(fields[key]) == `"error"` {
			return true
		}
	}
	if fields["choices"] != nil || fields["usage"] != nil {
		return false
	}
	if fields["detail"] != nil || fields["errors"] != nil || fields["error_msg"] != nil || fields["error_message"] != nil {
		return true
	}
	said := fields["message"] != nil && fields["message"][0] == '"' || fields["msg"] != nil
	return said && (fields["code"] != nil || fields["status"] != nil || fields["statusCode"] != nil)
}

// readReport finds message and code in a body of any shape; message is empty
// where the body is not JSON or tells nothing.
func readReport(body []byte) report {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) != nil {
		return report{}
	}
	var r report
	r.read(doc, 0)
	r.message = oneLine(r.message)
	return r
}

// messageKeys are the fields that hold an error's words, the best first.
var messageKeys = []string{"error", "errors", "message", "detail", "msg", "error_msg", "error_message", "error_description", "title"}

// read takes what v tells and is not known yet; inner values come first.
func (r *report) read(v any, depth int) {
	if depth > 5 {
		return
	}
	switch v := v.(type) {
	case string:
		if r.message == "" {
			r.message = v
		}
	case []any:
		for _, item := range v {
			if r.message == "" {
				r.read(item, depth+1)
			}
		}
	case map[string]any:
		for _, key := range messageKeys {
			if r.message == "" {
				r.read(v[key], depth+1)
			}
		}
		if inner, ok := v["metadata"].(map[string]any); ok && r.message != "" {
			if raw, ok := inner["raw"].(string); ok {
				r.message += ": " + raw
			}
		}
		for _, key := range []string{"code", "error_code", "type", "status", "statusCode"} {
			r.readCode(v[key])
		}
	}
}

func (r *report) readCode(v any) {
	switch v := v.(type) {
	case string:
		if r.code == "" && v != "error" {
			r.code = oneLine(v)
		}
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil && n >= 400 && n < 600 && r.status == 0 {
			r.status = n
		}
	}
}

// error sorts the report; status is the answer's own, 0 inside a stream.
func (r report) error(status int) *agent.ProviderError {
	p := &agent.ProviderError{Code: r.code, Message: r.message, Status: status}
	effective := status
	if status < 400 && r.status > 0 {
		effective = r.status
	}
	if p.Code == "" && effective >= 400 {
		p.Code = strconv.Itoa(effective)
	}
	p.Kind = kindOf(effective, strings.ToLower(r.code), strings.ToLower(r.message))
	p.Retryable = p.Kind == agent.KindOverloaded || p.Kind == agent.KindServer
	return p
}

// kindOf sorts an error by what the provider calls it, then by its status.
func kindOf(status int, code, message string) agent.ErrorKind {
	has := func(text string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has(code, "context_length", "context_window", "exceed_context"), status == 413,
		has(message, "maximum context length", "context window", "context size", "context length", "prompt is too long", "input is too long"):
		return agent.KindContext
	case has(code, "insufficient_quota", "billing", "payment"), status == 402,
		has(message, "credit balance is too low"):
		return agent.KindRequest
	case status == 401, status == 403, has(code, "authentication", "permission", "invalid_api_key", "unauthorized"):
		return agent.KindAuth
	case status == 429, status == 529, has(code, "overloaded", "rate_limit", "resource_exhausted", "too_many_requests"):
		return agent.KindOverloaded
	case status == 408, status == 409, status >= 500,
		has(code, "api_error", "server_error", "internal_error", "timeout", "unavailable"):
		return agent.KindServer
	}
	return agent.KindRequest
}

// retryAfter reads how long the provider asks to wait.
func retryAfter(h http.Header) time.Duration {
	if wait, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	if wait, ok := number(h.Get("Retry-After"), time.Second); ok {
		return wait
	}
	at, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(at.Sub(now), 0), longestRetryAfter)
}

// number reads a count of units, bounded by longestRetryAfter.
func number(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		return 0, false
	}
	most := float64(longestRetryAfter / unit)
	return time.Duration(min(max(n, 0), most) * float64(unit)), true
}

// oneLine squeezes white space and control characters and cuts after messageCap.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	if utf8.RuneCountInString(text) <= messageCap {
		return text
	}
	return string([]rune(text)[:messageCap]) + "…"
}
