package fold

// Vec is an immutable sequence. Append and Set return a new Vec and share all
// but a bounded number of elements with the old one; the zero Vec is empty.
type Vec[T any] struct {
	items []T // replaced by a persistent tree
}
