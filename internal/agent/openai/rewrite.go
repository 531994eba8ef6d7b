package openai

import (
	"bytes"
	"encoding/json"

	"stagefold/internal/agent/provider"
)

// rewrite gives the SDK only frames that it reads as they are meant: errors of
// any shape end the stream as errors, "error": null is taken out (the SDK takes
// it for an error), and comments become chunks that say nothing.
func rewrite(f provider.Frame) (provider.Frame, error) {
	data := bytes.TrimSpace(f.Data)
	switch {
	case f.Event == "error" && len(data) > 0:
		return f, provider.StreamError(data)
	case bytes.HasPrefix(data, []byte("[DONE]")):
		return f, nil
	case len(data) == 0, f.Event != "" && f.Event != "message" && !bytes.Contains(data, []byte(`"choices"`)):
		return alive, nil
	case data[0] == '[' && bytes.Contains(data, []byte(`"error"`)):
		return f, provider.StreamError(data)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return f, provider.Broken("the provider sent a frame that is not a JSON object")
	}
	if provider.ReportsError(fields) {
		return f, provider.StreamError(data)
	}
	if _, has := fields["error"]; has {
		delete(fields, "error")
		data, _ = json.Marshal(fields)
	}
	return provider.Frame{Data: data}, nil
}
