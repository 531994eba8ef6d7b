package agent

import (
	"maps"
	"slices"
	"strings"

	"stagefold/internal/planning"
)

// Keys of reminders; the planner's own key comes from planning.ReminderKey.
const (
	keyBaseline  = "baseline"
	keyOnceAsk   = "once:ask"
	keyOncePlan  = "once:plan"
	keyPlanState = "plan_state" // steps only; it stands behind plan

	// oncePrefix marks keys that live for exactly one request.
	oncePrefix = "once:"
)

// baseline is the reminder that every request of every run carries.
const baseline = "Do not use emoji unless the user asks for them."

// reminders are the keyed texts for the next request (docs/planning.md,
// 'Across all planners'). The zero value is empty.
type reminders struct {
	texts map[string]string // escaped, ready for the block
}

// set replaces the text under key; an empty text clears it.
func (r *reminders) set(key, text string) {
	r.setFrame(key, planning.EscapeFrame(text))
}

// setFrame is set for a text that planning has escaped already and that may
// hold a frame of its own.
func (r *reminders) setFrame(key, text string) {
	if text == "" {
		delete(r.texts, key)
		return
	}
	if r.texts == nil {
		r.texts = map[string]string{}
	}
	r.texts[key] = text
}

// once sets a text for the next request only; an empty one changes nothing.
func (r *run) once(key, text string) {
	if text != "" {
		r.reminders.set(key, text)
	}
}

// take is the block for the next request, in key order; texts under a once:
// key are gone afterwards. Without any text it is empty.
func (r *reminders) take() string {
	if len(r.texts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<task_reminder>\n")
	for _, key := range slices.Sorted(maps.Keys(r.texts)) {
		b.WriteString(r.texts[key])
		b.WriteByte('\n')
		if strings.HasPrefix(key, oncePrefix) {
			delete(r.texts, key)
		}
	}
	b.WriteString("</task_reminder>")
	return b.String()
}
