package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stagefold/internal/agent"
)

// Endpoint is one provider's address with what belongs to it. It is safe for
// use by several goroutines.
type Endpoint struct {
	Base    string     // without user info, query and fragment
	Query   url.Values // of the base address; sent with every request
	User    *url.Userinfo
	Client  *http.Client
	Mask    Mask
	silence time.Duration
	invalid error // why the base address cannot be used
}

// NewEndpoint reads a base address. client nil means one of its own; redirects
// are never followed, because they would carry the key along.
func NewEndpoint(base, key string, client *http.Client, silence time.Duration) *Endpoint {
	e := &Endpoint{Base: SafeURL(base), Mask: NewMask(key, base), Client: withoutRedirects(client), silence: silence}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		e.invalid = &agent.ProviderError{
			Kind: agent.KindRequest, Code: "base_address",
			Message: "the provider's base address is not an http or https address",
		}
		return e
	}
	e.Query, e.User = u.Query(), u.User
	return e
}

// Is reports whether the endpoint stands on the host of another base address.
func (e *Endpoint) Is(base string) bool {
	own, err := url.Parse(e.Base)
	other, err2 := url.Parse(base)
	return err == nil && err2 == nil && own.Host != "" && own.Host == other.Host
}

func withoutRedirects(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{Transport: sharedTransport}
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// sharedTransport serves every client that brings none of its own.
var sharedTransport = newTransport()

func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.ResponseHeaderTimeout = 0 // the silence limit bounds it
	return t
}

// Call is one request to a provider and its answer.
type Call struct {
	endpoint *Endpoint
	outer    context.Context
	ctx      context.Context
	cancel   context.CancelCauseFunc
	watch    *watch
	rewrite  Rewrite
}

// Begin starts a call. The caller ends it with End.
func (e *Endpoint) Begin(ctx context.Context, rewrite Rewrite) (*Call, error) {
	if e.invalid != nil {
		return nil, e.invalid
	}
	c := &Call{endpoint: e, outer: ctx, rewrite: rewrite}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.watch = newWatch(e.silence, c.cancel)
	return c, nil
}

// Context is the context of the call's request.
func (c *Call) Context() context.Context { return c.ctx }

// End gives everything back.
func (c *Call) End() {
	c.watch.disarm()
	c.cancel(nil)
}

// Expect shortens the silence limit: little more can come.
func (c *Call) Expect(limit time.Duration) {
	c.watch.limit = min(c.watch.limit, limit)
}

// Do is a middleware of both SDKs: an answer other than a stream becomes a
// *agent.ProviderError, a stream is repaired.
func (c *Call) Do(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if u := c.endpoint.User; u != nil {
		password, _ := u.Password()
		if req.Header.Get("Authorization") == "" {
			req.SetBasicAuth(u.Username(), password)
		}
	}
	if err := plainJSON(req); err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	c.watch.arm()
	res, err := next(req)
	c.watch.disarm()
	if err != nil {
		return nil, connectError(c.endpoint.Base, err)
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		c.watch.arm()
		text, _ := io.ReadAll(io.LimitReader(res.Body, strayCap))
		c.watch.disarm()
		return nil, failedStatus(res, text)
	}
	res.Body = newBody(res, c.watch, c.rewrite)
	return res, nil
}

// Fail turns any error of the call into the one that the caller sees: ctx's own,
// or a *agent.ProviderError with every secret masked.
func (c *Call) Fail(err error) error {
	if c.outer.Err() != nil {
		return c.outer.Err()
	}
	if errors.Is(context.Cause(c.ctx), errSilence) {
		return &agent.ProviderError{
			Kind: agent.KindSilence, Code: string(agent.KindSilence),
			Message: fmt.Sprintf("the provider sent nothing for %s", c.watch.limit),
		}
	}
	p, ok := agent.AsProviderError(err)
	if !ok {
		p = Broken(err.Error())
	}
	return c.endpoint.Mask.Error(p)
}

// Broken is the error of a stream that did not reach its own end.
func Broken(message string) *agent.ProviderError {
	return &agent.ProviderError{
		Kind: agent.KindBroken, Code: "broken_stream", Message: message, Retryable: true,
	}
}

// connectError is why no answer came at all. The address in a *url.Error holds
// the query, so only its cause is told.
func connectError(base string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var dns *net.DNSError
	return &agent.ProviderError{
		Kind: agent.KindConnect, Code: "connection",
		Message:   fmt.Sprintf("no connection to the provider at %s: %s", strings.TrimSuffix(base, "/"), err),
		Retryable: !(errors.As(err, &dns) && dns.IsNotFound),
	}
}
