package fold

import "stagefold/internal/part"

// slab hands out what every part needs, many from one allocation while a long
// log is folded at once.
type slab struct {
	size  int
	cells []cell
	parts []Part
	tools []part.Tool
	lazys []lazyVec[*Block]
}

// slabSize is the size for a log of n entries.
func slabSize(n int) int { return min(n/8, 64) }

// cell is a cell with its first part.
func (s *slab) cell() *cell {
	if s.size < 2 {
		return &cell{p: new(Part)}
	}
	if len(s.cells) == 0 {
		s.cells, s.parts = make([]cell, s.size), make([]Part, s.size)
	}
	c, p := &s.cells[0], &s.parts[0]
	s.cells, s.parts = s.cells[1:], s.parts[1:]
	c.p = p
	return c
}

// tool is a zero Tool; nil where each is allocated on its own.
func (s *slab) tool() *part.Tool {
	if s.size < 2 {
		return nil
	}
	if len(s.tools) == 0 {
		s.tools = make([]part.Tool, s.size)
	}
	t := &s.tools[0]
	s.tools = s.tools[1:]
	return t
}

func (s *slab) lazy(wanted bool) *lazyVec[*Block] {
	if !wanted {
		return nil
	}
	if s.size < 2 {
		return new(lazyVec[*Block])
	}
	if len(s.lazys) == 0 {
		s.lazys = make([]lazyVec[*Block], s.size)
	}
	l := &s.lazys[0]
	s.lazys = s.lazys[1:]
	return l
}
