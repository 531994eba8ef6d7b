package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stagefold/internal/part"
)

// BenchmarkViewers is one run, watched by many, patched at a fixed pace; each
// operation is one patch. It reports how long a patch takes to its viewers, what
// a viewer costs in memory, and the CPU against a bare hub, which hands the same
// number of bytes that somebody else has made to the same number of channels.
func BenchmarkViewers(b *testing.B) {
	for _, c := range []struct{ viewers, pace int }{{1000, 20}, {5000, 10}} {
		b.Run(fmt.Sprintf("%d_at_%d", c.viewers, c.pace), func(b *testing.B) {
			l := newChatLog()
			h := NewHub(Config{Entries: l.entries, Chat: l.state})
			l.hub = h
			defer h.Shutdown(context.Background())
			l.begin("run", "Do it")
			l.add("run", &part.Entry{Step: 1, Type: part.StartStep}, &part.Entry{Step: 1, Type: part.TextStart, ID: "t"})
			heap := heapInUse()
			var sent atomic.Int64 // when the newest patch was asked for
			var bytes atomic.Int64
			late := make([][]time.Duration, c.viewers)
			var viewers, ready sync.WaitGroup
			ready.Add(c.viewers)
			for i := range c.viewers {
				v, err := h.Subscribe(context.Background(), "chat", Cursor{RunID: "run", Seq: 1})
				if err != nil {
					b.Fatal(err)
				}
				viewers.Go(func() {
					defer v.Close()
					_, err := v.Next(context.Background())
					ready.Done()
					for err == nil {
						var frames []Frame
						frames, err = v.Next(context.Background())
						for _, f := range frames {
							bytes.Add(int64(len(f.Deflate)))
							late[i] = append(late[i], time.Duration(time.Now().UnixNano()-sent.Load()))
						}
					}
				})
			}
			ready.Wait()
			memory := float64(heapInUse()-heap) / float64(c.viewers)
			cpu := cpuTime()
			r := rand.New(rand.NewPCG(1, 1))
			pace := time.NewTicker(time.Second / time.Duration(c.pace))
			patches := 0
			for b.Loop() {
				<-pace.C
				sent.Store(time.Now().UnixNano())
				l.add("run", &part.Entry{Step: 1, Type: part.TextDelta, ID: "t", Delta: words(r, 10)})
				patches++
			}
			pace.Stop()
			<-time.After(time.Second / time.Duration(c.pace))
			ours := cpuTime() - cpu
			h.Shutdown(context.Background())
			viewers.Wait()
			bare := bareHub(c.viewers, patches, c.pace, int(bytes.Load())/max(1, patches*c.viewers))
			all := slices.Concat(late...)
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(memory/1024, "KiB/viewer")
			b.ReportMetric(float64(bytes.Load())/float64(len(all)), "wire-B/patch")
			b.ReportMetric(float64(ours)/float64(bare), "cpu/bare")
		})
	}
}

// bareHub is the CPU time of handing bytes to viewers at a pace, and no more.
func bareHub(viewers, patches, pace, size int) time.Duration {
	channels := make([]chan []byte, viewers)
	var done sync.WaitGroup
	var sum atomic.Int64
	from := time.Now().UnixNano()
	for i := range channels {
		channels[i] = make(chan []byte, 8)
		done.Go(func() {
			var late []time.Duration
			for b := range channels[i] {
				sum.Add(int64(len(b)))
				late = append(late, time.Duration(time.Now().UnixNano()-from))
			}
		})
	}
	cpu := cpuTime()
	tick := time.NewTicker(time.Second / time.Duration(pace))
	defer tick.Stop()
	for range patches {
		<-tick.C
		b := make([]byte, size)
		for _, c := range channels {
			c <- b
		}
	}
	for _, c := range channels {
		close(c)
	}
	done.Wait()
	return cpuTime() - cpu
}

// BenchmarkPatch is the work of one patch of growing text, without viewers but
// one: fold, render, encode, compress.
func BenchmarkPatch(b *testing.B) {
	for _, c := range []struct {
		name  string
		setup func(l *chatLog)
	}{
		{"text", func(*chatLog) {}},
		{"in_a_plan_of_20", func(l *chatLog) {
			l.add("run", stages("p", append([]string{"in_progress"}, slices.Repeat([]string{"pending"}, 19)...)...)...)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := newChatLog()
			h := NewHub(Config{Entries: l.entries, Chat: l.state, Tick: time.Nanosecond})
			l.hub = h
			defer h.Shutdown(context.Background())
			l.begin("run", "Do it")
			l.add("run", &part.Entry{Step: 1, Type: part.StartStep})
			c.setup(l)
			l.add("run", &part.Entry{Step: 1, Type: part.TextStart, ID: "t"})
			v, err := h.Subscribe(context.Background(), "chat", Cursor{})
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			r := rand.New(rand.NewPCG(1, 1))
			wire, said := 0, 0
			next := func() {
				text := words(r, 10)
				said += len(text)
				l.add("run", &part.Entry{Step: 1, Type: part.TextDelta, ID: "t", Delta: text})
				for v.base.snap == nil || v.base.snap.Seq < l.last("run") {
					frames, err := v.Next(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					for _, f := range frames {
						wire += len(f.Deflate)
					}
				}
			}
			next()
			wire, said = 0, 0
			b.ReportAllocs()
			for b.Loop() {
				next()
			}
			b.ReportMetric(float64(wire)/float64(said), "wire-B/char")
		})
	}
}

var vocabulary = strings.Fields("the build got slow on this day when its database moved out of memory and tests wait for disk while every package writes into one file so that nothing runs beside another stage evidence report measure compare second minute table change commit branch cache")

// words is a delta of n words; now and then a paragraph ends.
func words(r *rand.Rand, n int) string {
	var out strings.Builder
	for range n {
		out.WriteString(vocabulary[r.IntN(len(vocabulary))])
		out.WriteByte(' ')
	}
	if r.IntN(6) == 0 {
		out.WriteString("\n\n")
	}
	return out.String()
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
