// Command build bundles the browser client and the page's own script:
// go run ./static/client/build, after npm ci in static/client.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// bundles are the entries below static/client and the files they become.
var bundles = map[string]string{
	"src/client.ts":  "client.js",
	"src/app/app.ts": "app.js",
}

// inside are long names of properties that never leave a bundle.
const inside = "^(morphStyle|(before|after)(Node|Attribute)\\w+|should(Preserve|ReAppend|Remove)|afterHeadMorphed|ignoreActive(Value)?|" +
	"restoreFocus|activeElementAndParents|persistentIds|idMap|newContent|callbacks|pantry)$"

func main() {
	dir := flag.String("dir", "static", "the folder of static files")
	flag.Parse()
	for entry, name := range bundles {
		content, err := bundle(*dir, entry)
		if err == nil {
			err = os.WriteFile(filepath.Join(*dir, name), content, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "build:", err)
			os.Exit(1)
		}
	}
}

// bundle is one entry with all it imports, minified. The same sources give the
// same bytes.
func bundle(static, entry string) ([]byte, error) {
	dir, err := filepath.Abs(filepath.Join(static, "client"))
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     dir,
		EntryPoints:       []string{entry},
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		MangleProps:       inside,
		Plugins:           []api.Plugin{headless},
		LegalComments:     api.LegalCommentsNone,
		Charset:           api.CharsetUTF8,
	})
	if len(result.Errors) > 0 {
		e := result.Errors[0]
		if e.Location != nil {
			return nil, fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Line, e.Text)
		}
		return nil, fmt.Errorf("%s: %s", entry, e.Text)
	}
	return result.OutputFiles[0].Contents, nil
}
