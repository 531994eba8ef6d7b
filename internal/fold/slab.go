package fold

// slab hands out cells and their first parts, many from one allocation while a
// long log is folded at once.
type slab struct {
	size  int
	cells []cell
	parts []Part
}

// slabSize is the size for a log of n entries.
func slabSize(n int) int { return min(n/8, 256) }

func (s *slab) cell() (*cell, *Part) {
	if s.size < 2 {
		return new(cell), new(Part)
	}
	if len(s.cells) == 0 {
		s.cells, s.parts = make([]cell, s.size), make([]Part, s.size)
	}
	c, p := &s.cells[0], &s.parts[0]
	s.cells, s.parts = s.cells[1:], s.parts[1:]
	return c, p
}
