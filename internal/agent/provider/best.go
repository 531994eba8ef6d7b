package provider

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
)

// preference is the order in which Best looks for a model: the first pattern
// that an ID matches decides. Small and special models (lesser) count only
// where a pattern has nothing else. Of one pattern the highest version wins.
var preference = compile(
	`^anthropic/claude-opus-`,
	`^anthropic/claude-sonnet-`,
	`^openai/gpt-5`,
	`^anthropic/claude-`,
	`^openai/(o[3-9]|gpt-4\.1|gpt-4o)`,
	`(?i)^openai/(.*/)?claude-(opus|sonnet)`,
	`(?i)^openai/(.*/)?(kimi-k|glm-|deepseek|minimax)`,
	`(?i)^openai/(.*/)?(gpt-oss|qwen3|devstral)`,
	`(?i)^openai/(.*/)?(llama-?3|llama-?4|mistral|qwen|gemma)`,
	`.`,
)

// lesser are models that are small, old or made for one purpose.
var lesser = regexp.MustCompile(`(?i)mini|nano|lite|flash|chat-latest|search|instruct|vision|preview|base|guard|[:-](0\.\d|[1-4](\.\d)?)b\b`)

// version is a number in a name that is neither a date nor a size.
var version = regexp.MustCompile(`(\d{1,2})(?:[.-](\d{1,2}))?(?:[^\db]|$)`)

func compile(patterns ...string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, p := range patterns {
		out = append(out, regexp.MustCompile(p))
	}
	return out
}

// Best is the ID of the model to use where the user chose none; "" where
// nothing was found.
func Best(found []Found) string {
	for _, pattern := range preference {
		var fits []Found
		for _, f := range found {
			if pattern.MatchString(f.ID) {
				fits = append(fits, f)
			}
		}
		if len(fits) > 0 {
			return slices.MinFunc(fits, better).ID
		}
	}
	return ""
}

// better sorts the better model first: no lesser one, the higher version, the
// dearer one, the shorter name (without a date), then by name.
func better(a, b Found) int {
	return cmp.Or(
		compareBool(lesser.MatchString(a.Name), lesser.MatchString(b.Name)),
		slices.Compare(versionOf(b.Name), versionOf(a.Name)),
		cmp.Compare(priceOfID(b.ID), priceOfID(a.ID)),
		cmp.Compare(len(a.Name), len(b.Name)),
		cmp.Compare(a.Name, b.Name),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func versionOf(name string) []int {
	m := version.FindStringSubmatch(dated.ReplaceAllString(name, ""))
	if m == nil {
		return []int{0, 0}
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return []int{major, minor}
}

func priceOfID(id string) float64 {
	info, _ := Lookup(id)
	return info.price.output
}
