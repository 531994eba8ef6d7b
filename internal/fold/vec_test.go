package fold

import (
	"slices"
	"testing"
)

// FuzzVec does any sequence of appends and sets on a Vec and on a slice; old
// versions must stay what they were.
func FuzzVec(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint16(40))
	f.Add([]byte{200, 0, 200, 255, 7}, uint16(1100))
	f.Add([]byte{2, 6, 10, 14, 18, 22, 26, 30, 34}, uint16(8)) // sets in the tail
	f.Fuzz(func(t *testing.T, ops []byte, start uint16) {
		var want []int
		for i := range int(start % 2200) {
			want = append(want, i)
		}
		v := VecOf(want...)
		for i, op := range ops[:min(len(ops), 64)] {
			old, was := v, slices.Clone(want)
			switch op % 4 {
			case 0:
				v, want = v.Append(1000+i), append(slices.Clone(want), 1000+i)
			case 1:
				more := make([]int, int(op)*3)
				v, want = v.AppendAll(more), append(slices.Clone(want), more...)
			case 2:
				if len(want) > 0 {
					at := int(op) * 7 % len(want)
					want = slices.Clone(want)
					v, want[at] = v.Set(at, -i), -i
				}
			case 3:
				n := len(want) - int(op)/4
				v, want = v.prefix(max(n, 0)), want[:max(n, 0)]
			}
			checkVec(t, v, want)
			checkVec(t, old, was)
			checkDiffer(t, old, v, was, want)
		}
	})
}

// A node that has room left says nothing about the tails behind it.
func TestDifferLooksIntoTheTail(t *testing.T) {
	for _, size := range []int{1, 33, 65, 66, 1025, 1057, 2100} {
		was := make([]int, size)
		now := slices.Clone(was)
		now[size-1] = 7
		old := VecOf(was...)
		checkDiffer(t, old, old.Set(size-1, 7), was, now)
	}
}

func checkVec(t *testing.T, v Vec[int], want []int) {
	t.Helper()
	if v.Len() != len(want) || !slices.Equal(v.Slice(), want) {
		t.Fatalf("got %v, want %v", v.Slice(), want)
	}
	for i, x := range want {
		if v.At(i) != x {
			t.Fatalf("At(%d) = %d, want %d", i, v.At(i), x)
		}
	}
	if last, ok := v.Last(); ok != (len(want) > 0) || ok && last != want[len(want)-1] {
		t.Fatalf("Last() = %d, %v", last, ok)
	}
	if n := len(want) / 2; !slices.Equal(slices.Collect(seq(v, n)), want[n:]) {
		t.Fatalf("From(%d) is wrong", n)
	}
}

func seq(v Vec[int], from int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, x := range v.From(from) {
			if !yield(x) {
				return
			}
		}
	}
}

// checkDiffer: what differ does not name is equal.
func checkDiffer(t *testing.T, old, now Vec[int], was, want []int) {
	t.Helper()
	named := map[int]bool{}
	next := 0
	old.differ(now, func(i, a, b int) bool {
		if i < next || was[i] != a || want[i] != b {
			t.Fatalf("differ names %d: %d, %d", i, a, b)
		}
		next, named[i] = i+1, true
		return true
	})
	for i := range min(len(was), len(want)) {
		if was[i] != want[i] && !named[i] {
			t.Fatalf("differ does not name %d", i)
		}
	}
	if old.same(now) && !slices.Equal(was, want) {
		t.Fatal("same, but they differ")
	}
}

// TestVecShares: an appended or changed Vec shares all but a few nodes, so that
// differ looks at a few items only.
func TestVecShares(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 1023, 1024, 1025, 1056, 40000} {
		v := VecOf(make([]int, n)...)
		for name, now := range map[string]Vec[int]{"append": v.Append(1), "set": v.Set(n/2, 1), "last": v.Set(n-1, 1)} {
			looked := 0
			v.differ(now, func(int, int, int) bool { looked++; return true })
			if looked > 2*vecWidth {
				t.Errorf("%s of %d: looked at %d items", name, n, looked)
			}
		}
		if allocs := testing.AllocsPerRun(10, func() { v.Append(1) }); allocs > 8 {
			t.Errorf("append to %d: %v allocations", n, allocs)
		}
	}
}

func TestVecBounds(t *testing.T) {
	var zero Vec[int]
	if _, ok := zero.Last(); ok || zero.Len() != 0 || len(zero.Slice()) != 0 {
		t.Error("the zero Vec is not empty")
	}
	for _, at := range []int{-1, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("At(%d) of 3 items gave one", at)
				}
			}()
			VecOf(1, 2, 3).At(at)
		}()
	}
}

// TestLazyVec: a text that nobody saw while it grew is cut when it is asked
// for, once, and every copy sees the same blocks.
func TestLazyVec(t *testing.T) {
	cuts := 0
	v := Vec[*Block]{lazy: &lazyVec[*Block]{text: "a\n\nb", make: func(text string) Vec[*Block] {
		cuts++
		return cutAll(text)
	}}}
	w := v
	if v.Len() != 2 || w.Len() != 2 || v.At(1) != w.At(1) || cuts != 1 {
		t.Errorf("%d blocks, %d cuts", v.Len(), cuts)
	}
	if !v.same(w) || !v.same(v.forced()) || v.same(cutAll("a\n\nb")) {
		t.Error("same is wrong about lazy ones")
	}
}
