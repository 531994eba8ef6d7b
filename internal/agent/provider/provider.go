// Package provider holds what the adapters of both providers share: the repair
// of event streams, typed errors, masking of secrets, the silence limit, tool
// calls built from fragments, valid message lists, and which models there are
// and what they cost (docs/protocols.md, section 4).
package provider
