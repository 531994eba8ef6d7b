// Package provider holds what the adapters of both providers share: the repair
// of event streams, typed errors, masking of secrets, the silence limit, and
// which models there are and what they cost.
package provider
