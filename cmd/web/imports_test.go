package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the table of docs/architecture.md: who may import whom inside
// the module. A package that is not here may import nothing of it.
var mayImport = map[string][]string{
	"internal/planning":           {},
	"internal/part":               {"internal/planning"},
	"internal/fold":               {"internal/part", "internal/planning"},
	"views":                       {"internal/fold", "internal/part", "internal/planning"},
	"internal/agent":              {"internal/part", "internal/planning"},
	"internal/agent/openai":       {"internal/agent", "internal/agent/provider", "internal/part", "internal/planning"},
	"internal/agent/anthropic":    {"internal/agent", "internal/agent/provider", "internal/part", "internal/planning"},
	"internal/agent/provider":     {"internal/agent", "internal/part", "internal/planning"},
	"internal/agent/rehearsal":    {"internal/agent", "internal/part", "internal/planning"},
	"internal/agent/tools":        {"internal/agent", "internal/part", "internal/planning"},
	"internal/agent/fakeprovider": {},
	"internal/browsertest":        {},
	"internal/pgtest":             {},
	"internal/live":               {"internal/fold", "internal/part", "views", "internal/markdown"},
	"internal/markdown":           {},
	"internal/bus":                {"internal/part"},
	"internal/store":              {"internal/part", "internal/planning", "migrations"},
	"internal/transcript":         {"internal/part", "internal/planning", "internal/fold"},
	"static":                      {},
	"static/client/build":         {},
	"migrations":                  {},
	"cmd/web":                     {"*"},
}

// pure packages have no clock, I/O, goroutine or log: they may import these of
// the standard library and nothing from outside.
var pure = []string{"internal/planning", "internal/part", "internal/fold"}

var impure = []string{"os", "net", "net/http", "log", "log/slog", "context", "io/fs", "os/exec", "math/rand", "crypto/rand", "runtime"}

// onlyHere: third-party packages that stand beside one package of ours.
var onlyHere = map[string][]string{
	"github.com/yuin/goldmark":     {"internal/markdown"},
	"github.com/alecthomas/chroma": {"internal/markdown", "static"},
	"github.com/microcosm-cc":      {"internal/markdown"},
	"gorm.io":                      {"internal/store"},
	"github.com/pressly/goose":     {"internal/store", "migrations"},
	"github.com/openai/openai-go":  {"internal/agent/openai"},
	"github.com/anthropics":        {"internal/agent/anthropic"},
	"github.com/labstack/echo":     {"cmd/web"},
	"github.com/chromedp":          {"internal/browsertest"},
	"github.com/starfederation":    {"internal/live"},
	"github.com/nats-io":           {"internal/bus"},
	"charm.land/catwalk":           {"internal/agent/provider"},
	"github.com/evanw/esbuild":     {"static/client/build"},
	"github.com/prometheus":        {"cmd/web"},
	"github.com/santhosh-tekuri":   {"internal/agent"},
}

func TestImportDirections(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "stagefold/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		path, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		from := strings.TrimPrefix(path, "stagefold/")
		allowed, known := mayImport[from]
		if !known {
			t.Errorf("package %s is not in the table of imports", from)
			continue
		}
		for _, imp := range strings.Fields(list) {
			inside, ok := strings.CutPrefix(imp, "stagefold/")
			if ok && !slices.Contains(allowed, inside) && !slices.Contains(allowed, "*") {
				t.Errorf("%s may not import %s", from, inside)
			}
			if slices.Contains(pure, from) && !ok && (slices.Contains(impure, imp) || strings.Contains(strings.Split(imp, "/")[0], ".")) {
				t.Errorf("%s is pure and may not import %s", from, imp)
			}
			for prefix, homes := range onlyHere {
				if strings.HasPrefix(imp, prefix) && !slices.Contains(homes, from) {
					t.Errorf("%s imports %s, which stands only beside %s", from, imp, strings.Join(homes, ", "))
				}
			}
		}
	}
}
