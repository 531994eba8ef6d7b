package live

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Viewer is one reader of a view. It is for one goroutine. A viewer in step
// reads the frames that all read; one that joins or fell behind gets a frame of
// its own, from what it shows to what there is, and nothing is kept for it.
type Viewer struct {
	view    *view
	base    base // what its page shows
	n       int  // the last frame it has
	joined  bool
	inEpoch bool   // its inflater has seen every chunk of the epoch
	crc     uint32 // of what it was given, for the gzip trailer
	size    uint32
	left    bool
	out     []Frame // of the last Next, used again
}

// Next waits for frames; the slice is good until the next call. It ends with an error of the context, of the store or
// ErrClosed.
func (v *Viewer) Next(ctx context.Context) ([]Frame, error) {
	for {
		w := v.view.window.Load()
		frames, inStep := w.since(v.n)
		switch {
		case w.err != nil:
			return nil, w.err
		case !v.joined || !inStep:
			f, err := v.join(w)
			if err != nil {
				return nil, err
			}
			if len(f.Plain) > 0 {
				v.out = append(v.out[:0], f)
				return v.given(v.out), nil
			}
			continue
		case len(frames) > 0:
			return v.given(v.take(frames)), nil
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join makes the frame that brings the viewer into step at w.
func (v *Viewer) join(w *window) (Frame, error) {
	j, err := w.joins.frame(v.view, v.base, w.state)
	if err != nil {
		return Frame{}, err
	}
	v.joined, v.inEpoch, v.n = true, false, w.last
	v.base = w.state.base()
	return Frame{Plain: j.plain, Deflate: j.deflate}, nil
}

// take reads frames that others read too.
func (v *Viewer) take(frames []*frame) []Frame {
	v.out = v.out[:0]
	for _, f := range frames {
		chunk := f.deflate
		v.inEpoch = v.inEpoch || f.opens
		if !v.inEpoch {
			chunk = f.solo()
		}
		v.out = append(v.out, Frame{Plain: f.plain, Deflate: chunk, Newest: f.after.newest})
	}
	last := frames[len(frames)-1]
	v.n = last.n
	v.base = last.after.base()
	return v.out
}

func (v *Viewer) given(frames []Frame) []Frame {
	for _, f := range frames {
		v.crc = crc32.Update(v.crc, crc32.IEEETable, f.Plain)
		v.size += uint32(len(f.Plain))
	}
	return frames
}

// GzipTrailer ends the viewer's gzip member after all frames that it was given.
func (v *Viewer) GzipTrailer() []byte {
	out := slices.Clone(lastBlock)
	out = binary.LittleEndian.AppendUint32(out, v.crc)
	return binary.LittleEndian.AppendUint32(out, v.size)
}

// Close leaves the view. It may be called twice.
func (v *Viewer) Close() {
	if !v.left {
		v.left = true
		v.view.hub.leave(v.view)
	}
}
