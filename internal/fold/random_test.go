package fold

import (
	"fmt"
	"math/rand"
	"testing"
)

// TestFoldAtRandom holds the fold's promises to random logs.
func TestFoldAtRandom(t *testing.T) {
	for seed := range int64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(seed))
			data := make([]byte, 40+r.Intn(260))
			for i := range data {
				data[i] = byte(r.Intn(256))
			}
			log := fuzzLog(data)
			checkLog(t, log, 1)
			checkLog(t, log, 3)
		})
	}
}
