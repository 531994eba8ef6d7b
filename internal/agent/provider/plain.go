package provider

import (
	"bytes"
	"io"
	"net/http"
)

// plainJSON writes the escapes of <, > and & out, which an SDK adds for the sake
// of HTML: in a request they are only longer and harder to read.
func plainJSON(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return err
	}
	body = unescapeHTML(body)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}

var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

func unescapeHTML(doc []byte) []byte {
	if !bytes.Contains(doc, []byte(`\u00`)) {
		return doc
	}
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' || i+1 >= len(doc) {
			out = append(out, doc[i])
			continue
		}
		if i+6 <= len(doc) {
			if c := htmlEscapes[string(doc[i:i+6])]; c != 0 {
				out = append(out, c)
				i += 5
				continue
			}
		}
		out = append(out, doc[i], doc[i+1])
		i++
	}
	return out
}
