package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"stagefold/internal/agent"
)

// Rewrite turns a provider's frame into the one that its SDK shall see; a frame
// without data is a comment. An error ends the stream.
type Rewrite func(Frame) (Frame, error)

// body reads a response and writes it anew as plain frames: one event line, data
// lines and a blank line, all ending in LF. So the SDK's decoder sees the same
// bytes however the provider ends its lines and however the network cuts them.
type body struct {
	raw     io.ReadCloser
	res     *http.Response
	watch   *watch
	rewrite Rewrite
	frames  frames
	buf     []byte
	out     bytes.Buffer
	err     error // returned once out is empty
}

func newBody(res *http.Response, w *watch, rewrite Rewrite) *body {
	return &body{raw: res.Body, res: res, watch: w, rewrite: rewrite, buf: make([]byte, 16<<10)}
}

func (b *body) Read(p []byte) (int, error) {
	for b.out.Len() == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	return b.out.Read(p)
}

func (b *body) Close() error { return b.raw.Close() }

// fill reads once and repairs what came.
func (b *body) fill() {
	b.watch.arm()
	n, err := b.raw.Read(b.buf)
	b.watch.disarm()
	if tooLong := b.frames.push(b.buf[:n]); tooLong != nil && err == nil {
		err = tooLong
	}
	if err == io.EOF {
		b.frames.flush()
	}
	if n > 0 && len(b.frames.ready) == 0 {
		b.frames.ready = append(b.frames.ready, Frame{}) // a sign of life
	}
	for _, f := range b.frames.ready {
		if b.err == nil {
			b.emit(f)
		}
	}
	b.frames.ready = b.frames.ready[:0]
	if b.err == nil {
		b.err = b.end(err)
	}
}

func (b *body) emit(f Frame) {
	f, err := b.rewrite(f)
	if err != nil {
		b.err = statusOf(err, b.res)
		return
	}
	if len(f.Data) == 0 {
		return
	}
	if f.Event != "" {
		fmt.Fprintf(&b.out, "event: %s\n", f.Event)
	}
	for line := range bytes.SplitSeq(f.Data, []byte("\n")) {
		fmt.Fprintf(&b.out, "data: %s\n", line)
	}
	b.out.WriteByte('\n')
}

// end is why the body ends; a body that held no frame at all tells its own story.
func (b *body) end(err error) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF && !b.frames.seen && len(bytes.TrimSpace(b.frames.stray)) > 0:
		return noStream(b.res, b.frames.stray)
	case err == io.EOF:
		return err
	}
	return fmt.Errorf("the connection to the provider broke in the middle of the answer: %w", err)
}

// statusOf adds what the response's head says to an error from its body.
func statusOf(err error, res *http.Response) error {
	var p *agent.ProviderError
	if errors.As(err, &p) && p.Status == 0 {
		p.Status = res.StatusCode
	}
	return err
}
