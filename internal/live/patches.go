package live

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"stagefold/views"
)

// The modes of datastar-patch-elements that the page's stream uses.
const (
	outer   = ""
	inner   = "inner"
	remove  = "remove"
	prepend = "prepend"
	appends = "append"
	after   = "after"
)

// patches collects the way from one state of the page to another: signals
// first, then elements in order. Neighbours of one mode and place become one
// event.
type patches struct {
	forget  bool // the page's signals are out of date
	signals views.Signals
	events  []*event
	seq     int64 // the id of the last event, 0 for none
}

type event struct {
	mode, selector string
	html           strings.Builder
	alone          bool  // its elements cannot be parsed beside others
	seq            int64 // its id, 0 for none
}

// elements adds components, rendered.
func (p *patches) elements(mode, selector string, components ...templ.Component) *event {
	e := p.event(mode, selector)
	for _, c := range components {
		render(&e.html, c)
	}
	return e
}

// changed adds the component where it does not look like was.
func (p *patches) changed(was, is templ.Component) {
	old, now := rendered(was), rendered(is)
	if old != now {
		p.html(now)
	}
}

// html adds elements that replace those with the same ids.
func (p *patches) html(s string) { p.event(outer, "").html.WriteString(s) }

// event is the last event where it fits, else a new one. Inner patches do not
// add up.
func (p *patches) event(mode, selector string) *event {
	if n := len(p.events); n > 0 && mode != inner {
		if e := p.events[n-1]; e.mode == mode && e.selector == selector && !e.alone && e.seq == 0 {
			return e
		}
	}
	e := &event{mode: mode, selector: selector}
	p.events = append(p.events, e)
	return e
}

// single is an event whose elements stand alone, such as a table's rows.
func (p *patches) single(mode, selector string, c templ.Component) {
	e := &event{mode: mode, selector: selector, alone: true}
	render(&e.html, c)
	p.events = append(p.events, e)
}

// set adds signals; later ones win.
func (p *patches) set(s views.Signals) {
	if p.signals == nil {
		p.signals = views.Signals{}
	}
	for root, keys := range s {
		if p.signals[root] == nil {
			p.signals[root] = map[string]any{}
		}
		maps.Copy(p.signals[root], keys)
	}
}

// encode is the patches as server-sent events; nil for none.
func (p *patches) encode() []byte {
	enc := NewEncoder()
	last := ""
	if p.seq > 0 {
		last = strconv.FormatInt(p.seq, 10)
	}
	if p.forget {
		enc.Signals([]byte(`{"run":null,"row":null,"tool":null}`), "")
	}
	if len(p.signals) > 0 {
		id := ""
		if len(p.events) == 0 {
			id = last
		}
		enc.Signals(signalJSON(p.signals), id)
	}
	for i, e := range p.events {
		id := ""
		switch {
		case i == len(p.events)-1:
			id = last
		case e.seq > 0:
			id = strconv.FormatInt(e.seq, 10)
		}
		enc.Elements(Elements{Selector: e.selector, Mode: e.mode, HTML: e.html.String(), ID: id})
	}
	return enc.Bytes()
}

// signalJSON cannot fail: signals are words, flags and numbers of this program.
func signalJSON(s views.Signals) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte("{}")
	}
	return b
}

func render(out *strings.Builder, c templ.Component) {
	// A component only fails where its writer does, and memory does not.
	_ = c.Render(context.Background(), out)
}

func rendered(c templ.Component) string {
	var out strings.Builder
	render(&out, c)
	return out.String()
}

// heartbeat keeps a silent stream alive.
func heartbeat() []byte {
	enc := NewEncoder()
	enc.Comment("")
	return enc.Bytes()
}
