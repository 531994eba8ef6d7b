package main

import (
	"bytes"
	"errors"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

// headless bundles idiomorph without its handling of <head>, which no patch
// touches: a twentieth of all that a page loads.
var headless = api.Plugin{Name: "headless", Setup: func(build api.PluginBuild) {
	build.OnLoad(api.OnLoadOptions{Filter: `idiomorph\.esm\.js$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		source, err := os.ReadFile(args.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		from, to := bytes.Index(source, []byte(headFrom)), bytes.Index(source, []byte(headTo))
		if from < 0 || to < from {
			return api.OnLoadResult{}, errors.New("idiomorph has another form than the version this was written for")
		}
		text := string(source[:from]) + headInstead + string(source[to:])
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}}

const (
	headFrom    = "// Head Management Functions\n"
	headTo      = "// Create Morph Context Functions\n"
	headInstead = "const withHeadBlocking = (ctx, from, to, morph) => morph(ctx)\nconst handleHeadElement = () => []\n"
)
