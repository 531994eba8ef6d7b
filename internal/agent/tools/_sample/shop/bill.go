// Package shop sells things.
package shop

import "math"

// Line is one kind of thing on a bill.
type Line struct {
	Name  string
	Count int
	Price float64 // of one, in euros
}

// Total adds up a bill. Ten of one thing are five percent cheaper.
func Total(lines []Line) float64 {
	sum := 0.0
	for _, line := range lines {
		amount := float64(line.Count) * line.Price
		if line.Count >= 10 {
			amount *= 0.95
		}
		sum += amount
	}
	// TODO: use whole cents instead of floats
	return math.Round(sum*100) / 100
}
