package planning

import "strings"

// standing ends every plan_state block.
const standing = "Update the statuses with the plan verb before you finish your reply."

// PlanStateBlock is the plan_state frame of a steps plan, rebuilt for each
// request and never stored: one line a step with its status, id and label, then
// the standing instruction. It is "" without a plan, without steps and for the
// other planners. No text of the model can open or close a frame in it.
func PlanStateBlock(s State) string {
	if s.Plan.Mode != Steps || !s.HasPlan || len(s.Plan.Stages) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<plan_state>\n")
	for _, st := range s.Plan.Stages {
		b.WriteString("- [" + string(st.Status) + "] " + framed(st.ID) + ": " + framed(st.Content) + "\n")
	}
	b.WriteString(standing + "\n</plan_state>")
	return b.String()
}

// framed is a text as it stands in a frame: one line, no tag.
func framed(s string) string { return EscapeFrame(oneLine(s)) }
