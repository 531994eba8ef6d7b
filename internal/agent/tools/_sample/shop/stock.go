package shop

import (
	"errors"
	"sort"
)

// ErrOutOfStock is returned when there is less than was asked for.
var ErrOutOfStock = errors.New("out of stock")

// Stock says how many of each thing are there.
type Stock map[string]int

// Take takes count of one thing out of the stock.
func (s Stock) Take(name string, count int) error {
	if s[name] < count {
		return ErrOutOfStock
	}
	s[name] -= count
	return nil
}

// Low lists what has to be ordered, in order of name.
func (s Stock) Low(least int) []string {
	var names []string
	for name, count := range s {
		if count < least {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// TODO: a stock that two tills share needs a lock.
