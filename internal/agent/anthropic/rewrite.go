package anthropic

import (
	"bytes"
	"encoding/json"

	"stagefold/internal/agent/provider"
)

// rewrite gives the SDK only events that it reads as they are meant: the name is
// taken from the data (the SDK skips events without one), errors of any shape
// end the stream as errors, comments and pings become events that say nothing.
func rewrite(f provider.Frame) (provider.Frame, error) {
	data := bytes.TrimSpace(f.Data)
	if len(data) == 0 || f.Event == "ping" || bytes.HasPrefix(data, []byte("[DONE]")) {
		return alive, nil
	}
	if f.Event == "error" {
		return f, provider.StreamError(data)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return f, provider.Broken("the provider sent an event that is not a JSON object")
	}
	name := provider.Word(fields["type"])
	switch {
	case name == "ping":
		return alive, nil
	case name == "error", name == "" && provider.ReportsError(fields):
		return f, provider.StreamError(data)
	case name == "":
		name = f.Event
	}
	if !known[name] {
		return alive, nil
	}
	return provider.Frame{Event: name, Data: data}, nil
}

// known are the events that the decoder reads; others may come at any time and
// are ignored.
var known = map[string]bool{
	"message_start": true, "content_block_start": true, "content_block_delta": true,
	"content_block_stop": true, "message_delta": true, "message_stop": true,
}
