package provider

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"stagefold/internal/agent"
)

// masked stands where a secret stood.
const masked = "***"

// shortestSecret is the length from which a text counts as a secret: shorter
// ones would mask ordinary words.
const shortestSecret = 4

// longName is the length from which a user name beside a password counts as one.
const longName = 12

// Mask hides known secrets in texts. The zero value hides none.
type Mask struct {
	replace *strings.Replacer
}

// NewMask knows the key and what a base address may hold of secrets: its user
// info and its query values, in every spelling they can come back in.
func NewMask(key, base string) Mask {
	secrets := []string{key}
	if u, err := url.Parse(base); err == nil {
		if u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
			if name := u.User.Username(); password == "" || len(name) >= longName {
				secrets = append(secrets, name) // a key, not a name
			}
		}
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	} else {
		secrets = append(secrets, base)
	}

	var forms []string
	for _, s := range secrets {
		if len(s) < shortestSecret {
			continue
		}
		quoted, _ := json.Marshal(s)
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), string(quoted[1 : len(quoted)-1])} {
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	if len(forms) == 0 {
		return Mask{}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f, masked)
	}
	return Mask{strings.NewReplacer(pairs...)}
}

// Text is text without the secrets.
func (m Mask) Text(text string) string {
	if m.replace == nil {
		return text
	}
	return m.replace.Replace(text)
}

// Error is a copy of p without the secrets.
func (m Mask) Error(p *agent.ProviderError) *agent.ProviderError {
	clean := *p
	clean.Message, clean.Code = m.Text(p.Message), m.Text(p.Code)
	return &clean
}

// SafeURL is an address as it may be shown: without user info, query and fragment.
func SafeURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}
