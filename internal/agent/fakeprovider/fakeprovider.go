// Package fakeprovider is a model server for tests that speaks the wire
// formats of OpenAI's chat completions and Anthropic's Messages.
package fakeprovider
