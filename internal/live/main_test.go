package live

import (
	"testing"

	"go.uber.org/goleak"
)

// The colouring of code has a clock that ends by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}
