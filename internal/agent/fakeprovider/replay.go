package fakeprovider

import (
	"io"
	"net/http"
	"sync/atomic"
)

// Replay is a http.RoundTripper that answers every request with the same bytes,
// cut into exactly these reads, without any network.
type Replay struct {
	Pieces [][]byte
	Err    error // ends the answer instead of a plain end
	open   atomic.Int64
}

// Split cuts bytes at the offsets, which rise.
func Split(b []byte, at ...int) [][]byte {
	var pieces [][]byte
	from := 0
	for _, to := range append(at, len(b)) {
		if to > from {
			pieces = append(pieces, b[from:to])
		}
		from = to
	}
	return pieces
}

// Client is a client over the replay.
func (r *Replay) Client() *http.Client { return &http.Client{Transport: r} }

// Open is the number of answers that were not closed.
func (r *Replay) Open() int { return int(r.open.Load()) }

// RoundTrip answers one request.
func (r *Replay) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		io.Copy(io.Discard, req.Body)
		req.Body.Close()
	}
	r.open.Add(1)
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1, Request: req,
		Body: &replayBody{replay: r, pieces: r.Pieces},
	}, nil
}

type replayBody struct {
	replay *Replay
	pieces [][]byte
	closed atomic.Bool
}

func (b *replayBody) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		if b.replay.Err != nil {
			return 0, b.replay.Err
		}
		return 0, io.EOF
	}
	n := copy(p, b.pieces[0])
	if n == len(b.pieces[0]) {
		b.pieces = b.pieces[1:]
	} else {
		b.pieces = append([][]byte{b.pieces[0][n:]}, b.pieces[1:]...)
	}
	return n, nil
}

func (b *replayBody) Close() error {
	if !b.closed.Swap(true) {
		b.replay.open.Add(-1)
	}
	return nil
}
