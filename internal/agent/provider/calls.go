package provider

import (
	"fmt"
	"strings"

	"stagefold/internal/agent"
	"stagefold/internal/part"
)

// Fragment is one piece of a tool call as a provider sent it; every field may
// be missing.
type Fragment struct {
	Index    int
	HasIndex bool
	ID       string
	Name     string
	Args     []byte
}

// Calls builds the tool calls of one answer from fragments. A fragment is
// placed by its index, else by its id, else into the only call that still waits
// for arguments; one that fits nowhere is reported and nothing is guessed. The
// zero value is ready.
type Calls struct {
	list []*call
	ids  map[string]bool
}

// call is one call that is being built.
type call struct {
	index    int
	hasIndex bool
	id       string // the provider's
	unique   string // the one it is told by; set once the call was announced
	name     string
	join     Joiner
	args     strings.Builder
	object   object
}

// Add places one fragment.
func (c *Calls) Add(f Fragment) []agent.Chunk {
	k, fault := c.place(f)
	if fault != "" {
		return []agent.Chunk{{Kind: agent.ChunkToolBroken, Text: fault}}
	}
	if k == nil {
		return nil
	}
	if k.id == "" {
		k.id = f.ID
	}
	if f.HasIndex && !k.hasIndex {
		k.index, k.hasIndex = f.Index, true
	}
	if k.name == "" {
		k.name = f.Name
	}
	text := k.join.Add(f.Args)
	k.args.WriteString(text)
	k.object.scan(text)
	if k.unique == "" {
		return c.announce(k)
	}
	return k.delta(text)
}

// End closes the calls at the end of the answer. One whose arguments were cut
// by the end gets no ChunkToolEnd.
func (c *Calls) End(reason part.FinishReason) []agent.Chunk {
	cut := reason == part.ReasonLength || reason == part.ReasonContentFilter
	var out []agent.Chunk
	for _, k := range c.list {
		if k.unique == "" {
			out = append(out, agent.Chunk{Kind: agent.ChunkToolBroken, Text: "a tool call came without a name"})
			continue
		}
		if text := k.join.Flush(); text != "" {
			k.args.WriteString(text)
			out = append(out, k.delta(text)...)
		}
		if !cut || k.object.complete() {
			out = append(out, agent.Chunk{Kind: agent.ChunkToolEnd, ID: k.unique, Text: k.args.String()})
		}
	}
	return out
}

// place finds or makes the call that the fragment belongs to; nil without a
// fault for a fragment that says nothing new.
func (c *Calls) place(f Fragment) (k *call, fault string) {
	says := f.ID != "" || f.Name != "" || len(strings.TrimSpace(string(f.Args))) > 0
	switch {
	case !says && !f.HasIndex:
		return nil, ""
	case f.HasIndex:
		k = c.last(func(k *call) bool { return k.hasIndex && k.index == f.Index })
		if k == nil && f.ID != "" {
			k = c.last(func(k *call) bool { return !k.hasIndex && k.id == f.ID })
		}
		if k == nil && f.ID == "" && f.Name == "" {
			return c.adopt(f, says)
		}
	case f.ID != "":
		k = c.last(func(k *call) bool { return k.id == f.ID })
		if k == nil && f.Name == "" {
			k = c.last(func(k *call) bool { return k.id == "" && !k.object.complete() })
		}
	case f.Name != "":
		k = c.last(func(*call) bool { return true })
		if k != nil && k.name != "" && !(k.name == f.Name && k.object.begun && !k.object.complete() && !opens(f.Args)) {
			k = nil
		}
	default:
		return c.only()
	}
	switch {
	case k == nil || k.another(f):
		return c.open(), ""
	case k.repeats(f):
		return nil, ""
	case f.Name != "" && k.name != "" && f.Name != k.name:
		return nil, fmt.Sprintf("a fragment of the call of %s names %s", k.name, f.Name)
	}
	return k, ""
}

// adopt places a fragment with an index that is not known yet and nothing else:
// a call without an index may take it.
func (c *Calls) adopt(f Fragment, says bool) (*call, string) {
	if !says {
		return nil, ""
	}
	if len(c.list) == 0 {
		return c.open(), "" // id and name may still come under this index
	}
	k, fault := c.only()
	if fault == "" && k.hasIndex {
		return nil, fmt.Sprintf("a fragment has the index %d, which no tool call has", f.Index)
	}
	return k, fault
}

// only is the one call that waits for more arguments.
func (c *Calls) only() (*call, string) {
	var found *call
	for _, k := range c.list {
		if k.object.complete() {
			continue
		}
		if found != nil {
			return nil, "a fragment without index and id could belong to more than one tool call"
		}
		found = k
	}
	if found == nil {
		return nil, "a fragment without index and id belongs to no tool call"
	}
	return found, ""
}

func (c *Calls) open() *call {
	k := &call{}
	c.list = append(c.list, k)
	return k
}

func (c *Calls) last(match func(*call) bool) *call {
	for i := len(c.list) - 1; i >= 0; i-- {
		if match(c.list[i]) {
			return c.list[i]
		}
	}
	return nil
}

// announce tells of a call once its name is known, with an id of its own.
func (c *Calls) announce(k *call) []agent.Chunk {
	if k.name == "" {
		return nil
	}
	base := k.id
	if base == "" {
		base = fmt.Sprintf("call_%d", len(c.list))
	}
	k.unique = base
	for n := 2; c.ids[k.unique]; n++ {
		k.unique = fmt.Sprintf("%s-%d", base, n)
	}
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.ids[k.unique] = true
	start := agent.Chunk{Kind: agent.ChunkToolStart, ID: k.unique, Name: k.name}
	return append([]agent.Chunk{start}, k.delta(k.args.String())...)
}

func (k *call) delta(text string) []agent.Chunk {
	if text == "" {
		return nil
	}
	return []agent.Chunk{{Kind: agent.ChunkToolDelta, ID: k.unique, Text: text}}
}

// another: the fragment was placed on k by index or id, but begins a new call
// (providers that give every call the index 0, or the same id).
func (k *call) another(f Fragment) bool {
	if f.Name == "" || k.name == "" {
		return false
	}
	if f.ID != "" && k.id != "" && f.ID != k.id {
		return true
	}
	return k.object.complete() && opens(f.Args) && !k.repeats(f)
}

// repeats: the fragment tells the whole call once more.
func (k *call) repeats(f Fragment) bool {
	return f.ID != "" && f.ID == k.id && f.Name == k.name && k.object.complete() && string(f.Args) == k.args.String()
}

// opens: the arguments begin with an object.
func opens(args []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(string(args), " \t\r\n"), "{")
}

// object follows the braces of a JSON object that arrives in pieces.
type object struct {
	depth   int
	text    bool // inside a string
	escaped bool
	begun   bool
	ended   bool
	wrong   bool // something stands before or after the object
}

// complete: one whole object came and nothing else.
func (o *object) complete() bool { return o.ended && !o.wrong }

func (o *object) scan(text string) {
	for i := range len(text) {
		b := text[i]
		switch {
		case o.text:
			switch {
			case o.escaped:
				o.escaped = false
			case b == '\\':
				o.escaped = true
			case b == '"':
				o.text = false
			}
		case b == ' ', b == '\t', b == '\r', b == '\n':
		case !o.begun && b != '{', o.ended:
			o.begun, o.wrong = true, true
		case b == '{', b == '[':
			o.begun = true
			o.depth++
		case b == '}', b == ']':
			o.depth--
			o.ended = o.depth <= 0
		case b == '"':
			o.text = true
		}
	}
}
