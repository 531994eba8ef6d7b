package planning

// Codes of the tool errors that planners give.
const (
	CodeInvalidJSON  = "invalid_json"      // the arguments are not JSON; the message names the place
	CodeInvalid      = "invalid_arguments" // a field is missing, blank, of the wrong type or has an unknown word
	CodeLimit        = "limit_exceeded"    // the message names the limit
	CodeOpenStages   = "open_stages"       // a metronome plan that would leave nothing open while a stage is open
	CodeWrongPlanner = "wrong_planner"     // a tool of a planner that this chat does not use
	CodeOveruse      = "planner_overuse_execute_next_step"
)
