package store

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"stagefold/internal/pgtest"
)

// proxy stands between the store and Postgres.
type proxy struct {
	to     string
	silent bool // a lost answer leaves its connection open; set before the first one
	l      net.Listener
	served sync.WaitGroup

	mu      sync.Mutex
	swallow int // how many answers to COMMIT are lost, each with its connection
	closed  bool
	open    map[net.Conn]bool
	lost    int
	refused int
}

// behindProxy is a new database's address through a proxy.
func behindProxy(t *testing.T) (string, *proxy) {
	t.Helper()
	u, err := url.Parse(pgtest.NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: u.Host, open: map[net.Conn]bool{}}
	if p.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	u.Host = p.l.Addr().String()
	p.served.Go(p.serve)
	t.Cleanup(func() {
		p.l.Close()
		p.close()
		p.served.Wait()
	})
	return u.String(), p
}

func (p *proxy) serve() {
	for {
		client, err := p.l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil || !p.keep(client, server) {
			client.Close()
			if server != nil {
				server.Close()
			}
			continue
		}
		c := &commitWatch{}
		p.served.Go(func() {
			_, _ = io.Copy(server, io.TeeReader(client, c))
			p.end(client, server)
		})
		p.served.Go(func() {
			p.answers(client, server, c)
			p.end(client, server)
		})
	}
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.refused++
		return false
	}
	for _, c := range conns {
		p.open[c] = true
	}
	return true
}

func (p *proxy) end(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.open, c)
	}
}

// answers copies what the server says, but for answers to COMMIT that get lost.
func (p *proxy) answers(client, server net.Conn, c *commitWatch) {
	b := make([]byte, 64<<10)
	for {
		n, err := server.Read(b)
		if err != nil {
			return
		}
		if c.take() && p.loses() {
			if p.silent {
				_, _ = io.Copy(io.Discard, server) // until the client gives up
			}
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) loses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.swallow == 0 {
		return false
	}
	p.swallow--
	p.lost++
	return true
}

// lose makes the next answers to COMMIT get lost.
func (p *proxy) lose(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow = n
}

// close cuts every connection and takes no new one, until reopen.
func (p *proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
}

func (p *proxy) reopen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
}

func (p *proxy) counts() (lost, refused int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost, p.refused
}

// commitWatch sees the COMMITs of a connection.
type commitWatch struct {
	mu   sync.Mutex
	seen bool
}

func (c *commitWatch) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = c.seen || bytes.Contains(b, []byte("commit\x00"))
	return len(b), nil
}

func (c *commitWatch) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = false
	return seen
}
