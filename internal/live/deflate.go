package live

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/flate"
)

// epochFrames is how many frames share one compressor before it starts anew. A
// viewer that joined in the middle is in step from the next epoch on.
const epochFrames = 50

const deflateLevel = 6

// GzipHeader begins a viewer's gzip member; the Deflate chunks of its frames
// follow, then its GzipTrailer.
var GzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// lastBlock is an empty stored block that says it is the last.
var lastBlock = []byte{1, 0, 0, 0xff, 0xff}

// sharedDeflater compresses the frames of a view once for all viewers. Each
// chunk ends at a byte (a sync flush), so that chunks of different compressors
// can follow each other in one member: a fresh one refers to nothing before it.
type sharedDeflater struct {
	out bytes.Buffer
	w   *flate.Writer
	n   int
}

// deflate is the next chunk; opens says that it begins an epoch.
func (d *sharedDeflater) deflate(plain []byte) (chunk []byte, opens bool) {
	opens = d.n%epochFrames == 0
	d.n++
	switch {
	case d.w == nil:
		d.w = newDeflater(&d.out)
	case opens:
		d.w.Reset(&d.out)
	}
	return flushed(&d.out, d.w, plain), opens
}

type soloDeflater struct {
	out bytes.Buffer
	w   *flate.Writer
}

var soloDeflaters = sync.Pool{New: func() any {
	d := &soloDeflater{}
	d.w = newDeflater(&d.out)
	return d
}}

// deflated is a chunk that needs no chunk before it.
func deflated(plain []byte) []byte {
	d := soloDeflaters.Get().(*soloDeflater)
	defer soloDeflaters.Put(d)
	d.w.Reset(&d.out)
	return flushed(&d.out, d.w, plain)
}

func newDeflater(out *bytes.Buffer) *flate.Writer {
	w, err := flate.NewWriter(out, deflateLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}

// flushed compresses into memory, which cannot fail.
func flushed(out *bytes.Buffer, w *flate.Writer, plain []byte) []byte {
	_, _ = w.Write(plain)
	_ = w.Flush()
	chunk := bytes.Clone(out.Bytes())
	out.Reset()
	return chunk
}
