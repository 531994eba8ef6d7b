package provider

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	m := NewMask("sk-test/7Q\"zz9", "https://user:p%20ss+w@host/v1?key=qk%2F5511&v=1&mode=on")
	for in, want := range map[string]string{
		"nothing here":                   "nothing here",
		"key sk-test/7Q\"zz9.":           "key ***.",
		`in JSON sk-test/7Q\"zz9`:        "in JSON ***",
		"in a query sk-test%2F7Q%22zz9":  "in a query ***",
		"qk/5511 and qk%2F5511":          "*** and ***",
		"user:p ss+w@host":               "user:***@host",
		"p%20ss+w or p+ss%2Bw":           "*** or ***",
		"Basic dXNlcjpwIHNzK3c=":         "Basic ***",
		"v=1&mode=on":                    "v=1&mode=on",
		"sk-test/7Q\"zz9sk-test/7Q\"zz9": "******",
	} {
		if got := m.Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, empty := range []Mask{{}, NewMask("", ""), NewMask("abc", "http://localhost/v1")} {
		if got := empty.Text("abc http://localhost/v1"); got != "abc http://localhost/v1" {
			t.Errorf("%q", got)
		}
	}
}

// A user name is a secret where it stands for a key.
func TestMaskUserName(t *testing.T) {
	for base, want := range map[string]string{
		"http://name@h":              "***",
		"http://name:@h":             "***",
		"http://name:pass@h":         "name",
		"http://sk-long-name:pass@h": "name",
	} {
		if got := NewMask("", base).Text("name"); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
	if got := NewMask("", "http://sk-long-name:pass@h").Text("sk-long-name"); got != "***" {
		t.Errorf("%q", got)
	}
}

// A longer secret that holds a shorter one leaves no rest.
func TestMaskNestedSecrets(t *testing.T) {
	m := NewMask("secret", "http://h/?a=secret-long&b=long")
	if got := m.Text("secret-long secret long"); strings.ContainsAny(got, "secrtlong") {
		t.Errorf("%q", got)
	}
}

func TestSafeURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pass@host:8080/v1?key=x#y": "https://host:8080/v1",
		"http://127.0.0.1:11434/v1":              "http://127.0.0.1:11434/v1",
		"http://host/?":                          "http://host/",
		"http://[::1":                            "",
	} {
		if got := SafeURL(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestUnescapeHTML(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\u003cb\u003e \u0026"}`: `{"a":"<b> &"}`,
		`"\\u003c \\\u003c \\\\u003c"`: `"\\u003c \\< \\\\u003c"`,
		`"\u2028 \u00e9 \u"`:           `"\u2028 \u00e9 \u"`,
		`plain`:                        `plain`, `\`: `\`, `\u00`: `\u00`,
	} {
		if got := string(unescapeHTML([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
