package anthropic

import (
	"strings"
	"testing"
	"unicode/utf8"

	"stagefold/internal/agent"
	. "stagefold/internal/agent/fakeprovider"
)

// No event of any shape makes the decoder fail or tell invalid text, and
// message_stop after a stop reason always ends it.
func FuzzDecoder(f *testing.F) {
	for _, a := range answers {
		for _, line := range strings.Split(string(Wire(a.steps...)), "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				f.Add(data, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`)
			}
		}
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		d := &decoder{}
		var all []agent.Chunk
		for _, raw := range []string{one, two, two, one, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`} {
			all = append(all, d.take(raw)...)
		}
		last, err := d.end(nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, last...)
		if all[len(all)-1].Kind != agent.ChunkFinish {
			t.Fatalf("no finish: %s", tell(all))
		}
		for _, c := range all {
			if !utf8.ValidString(c.Text + c.ID + c.Name) {
				t.Fatalf("invalid text %+v", c)
			}
		}
	})
}
