package fold

import (
	"iter"
	"sync"
)

const (
	vecBits  = 5
	vecWidth = 1 << vecBits
	vecMask  = vecWidth - 1
)

// Vec is an immutable sequence: a tree of 32-way nodes with a tail. Append and
// Set return a new Vec that shares all but O(log32 n) nodes with the old one;
// the zero Vec is empty. Two Vecs that share a node are equal below it, which
// is how Changes skips what did not change.
type Vec[T any] struct {
	size  int
	depth int         // levels of the tree above its leaves
	root  *vecNode[T] // the full leaves; nil while everything fits the tail
	tail  []T         // 1..32 items where size > 0; never written after it is shared
	lazy  *lazyVec[T] // where set, the sequence is made on first use
}

// vecNode is an inner node (kids) or a full leaf (items).
type vecNode[T any] struct {
	kids  []*vecNode[T]
	items []T
}

// lazyVec is a sequence that is made from a text when it is first asked for.
type lazyVec[T any] struct {
	once sync.Once
	text string
	make func(text string) Vec[T]
	vec  Vec[T]
}

func (l *lazyVec[T]) force() Vec[T] {
	l.once.Do(func() { l.vec = l.make(l.text) })
	return l.vec
}

// VecOf is a Vec of these items.
func VecOf[T any](items ...T) Vec[T] { return Vec[T]{}.AppendAll(items) }

func (v Vec[T]) forced() Vec[T] {
	if v.lazy != nil {
		return v.lazy.force()
	}
	return v
}

// Len is the number of items.
func (v Vec[T]) Len() int { return v.forced().size }

// At is item i; it panics where i is out of range, like a slice.
func (v Vec[T]) At(i int) T {
	v = v.forced()
	if i < 0 || i >= v.size {
		panic("fold: index out of range")
	}
	return v.leaf(i)[i&vecMask]
}

// Last is the last item; false where there is none.
func (v Vec[T]) Last() (T, bool) {
	v = v.forced()
	if v.size == 0 {
		var none T
		return none, false
	}
	return v.tail[len(v.tail)-1], true
}

// All iterates over the items in order.
func (v Vec[T]) All() iter.Seq2[int, T] { return v.From(0) }

// From iterates over the items from index i on.
func (v Vec[T]) From(i int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		v := v.forced()
		for i := max(i, 0); i < v.size; {
			leaf := v.leaf(i)
			for _, item := range leaf[i&vecMask:] {
				if !yield(i, item) {
					return
				}
				i++
			}
		}
	}
}

// Slice is a new slice of the items.
func (v Vec[T]) Slice() []T {
	items := make([]T, 0, v.Len())
	for _, item := range v.All() {
		items = append(items, item)
	}
	return items
}

// Append adds an item at the end.
func (v Vec[T]) Append(item T) Vec[T] {
	v = v.forced()
	if len(v.tail) == vecWidth {
		v = v.pushTail()
	}
	tail := make([]T, len(v.tail)+1)
	copy(tail, v.tail)
	tail[len(v.tail)] = item
	v.tail = tail
	v.size++
	return v
}

// AppendAll adds items at the end, a leaf at a time; items is not kept.
func (v Vec[T]) AppendAll(items []T) Vec[T] {
	v = v.forced()
	for len(items) > 0 {
		if len(v.tail) == vecWidth {
			v = v.pushTail()
		}
		n := min(vecWidth-len(v.tail), len(items))
		tail := make([]T, len(v.tail)+n)
		copy(tail, v.tail)
		copy(tail[len(v.tail):], items[:n])
		v.tail = tail
		v.size += n
		items = items[n:]
	}
	return v
}

// Set replaces item i, which must exist.
func (v Vec[T]) Set(i int, item T) Vec[T] {
	v = v.forced()
	if i < 0 || i >= v.size {
		panic("fold: index out of range")
	}
	if start := v.tailStart(); i >= start {
		tail := make([]T, len(v.tail))
		copy(tail, v.tail)
		tail[i-start] = item
		v.tail = tail
		return v
	}
	v.root = v.root.set(v.depth, i, item)
	return v
}

// prefix is the first n items.
func (v Vec[T]) prefix(n int) Vec[T] {
	v = v.forced()
	if n >= v.size {
		return v
	}
	var items []T
	for i, item := range v.All() {
		if i == n {
			break
		}
		items = append(items, item)
	}
	return VecOf(items...)
}

func (v Vec[T]) tailStart() int { return v.size - len(v.tail) }

// leaf is the run of items that holds item i, at i&vecMask.
func (v Vec[T]) leaf(i int) []T {
	if i >= v.tailStart() {
		return v.tail
	}
	n := v.root
	for level := v.depth; level > 0; level-- {
		n = n.kids[i>>(level*vecBits)&vecMask]
	}
	return n.items
}

// pushTail moves the full tail into the tree and leaves an empty one.
func (v Vec[T]) pushTail() Vec[T] {
	leaf := &vecNode[T]{items: v.tail}
	at := v.tailStart()
	switch {
	case v.root == nil:
		v.root, v.depth = leaf, 0
	case at == vecWidth<<(v.depth*vecBits): // the tree is full: one level more
		v.root = &vecNode[T]{kids: []*vecNode[T]{v.root}}
		v.depth++
		fallthrough
	default:
		v.root = v.root.push(v.depth, at, leaf)
	}
	v.tail = nil
	return v
}

// push is the node with a leaf added at item index at.
func (n *vecNode[T]) push(level, at int, leaf *vecNode[T]) *vecNode[T] {
	if level == 0 {
		return leaf
	}
	slot := at >> (level * vecBits) & vecMask
	kids := make([]*vecNode[T], slot+1)
	copy(kids, n.kids)
	if slot < len(n.kids) {
		kids[slot] = n.kids[slot].push(level-1, at, leaf)
	} else {
		kids[slot] = (&vecNode[T]{}).push(level-1, at, leaf)
	}
	return &vecNode[T]{kids: kids}
}

func (n *vecNode[T]) set(level, i int, item T) *vecNode[T] {
	if level == 0 {
		items := make([]T, len(n.items))
		copy(items, n.items)
		items[i&vecMask] = item
		return &vecNode[T]{items: items}
	}
	kids := make([]*vecNode[T], len(n.kids))
	copy(kids, n.kids)
	slot := i >> (level * vecBits) & vecMask
	kids[slot] = kids[slot].set(level-1, i, item)
	return &vecNode[T]{kids: kids}
}

// same: both are the very same sequence, told without looking at the items.
// False says nothing.
func (v Vec[T]) same(w Vec[T]) bool {
	if v.lazy != nil || w.lazy != nil {
		if v.lazy == w.lazy {
			return true
		}
		v, w = v.forced(), w.forced()
	}
	return v.size == w.size && v.root == w.root && sameItems(v.tail, w.tail)
}

func sameItems[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// differ calls f for the common indices of v and w below which they share no
// node, in order; f returns false to stop, and so does differ.
func (v Vec[T]) differ(w Vec[T], f func(i int, old, now T) bool) bool {
	v, w = v.forced(), w.forced()
	common := min(v.size, w.size)
	for i := 0; i < common; {
		if n := v.shared(w, i, common); n > 0 {
			i += n
			continue
		}
		a, b := v.leaf(i), w.leaf(i)
		n := min(len(a), len(b))
		if &a[0] != &b[0] {
			for k := range n {
				if i+k < common && !f(i+k, a[k], b[k]) {
					return false
				}
			}
		}
		i += n
	}
	return true
}

// shared is the number of items from i on, a multiple of a leaf, that stand
// under one node of both trees; 0 where they share none there.
func (v Vec[T]) shared(w Vec[T], i, common int) int {
	common = min(common, v.tailStart(), w.tailStart()) // a node with room left says nothing about the tails
	if i >= common {
		return 0
	}
	a, b := v.root, w.root
	la, lb := v.depth, w.depth
	for {
		switch {
		case la > lb:
			a, la = a.kids[i>>(la*vecBits)&vecMask], la-1
		case lb > la:
			b, lb = b.kids[i>>(lb*vecBits)&vecMask], lb-1
		case a == b:
			span := vecWidth << (la * vecBits)
			return min(span-i&(span-1), common-i)
		case la == 0:
			return 0
		default:
			slot := i >> (la * vecBits) & vecMask
			a, b = a.kids[slot], b.kids[slot]
			la, lb = la-1, lb-1
		}
	}
}
