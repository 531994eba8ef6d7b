// Package views holds the templ components: one file for each thing on the
// page. A component takes one value and renders it: no I/O, no clock.
//
// # What is patched
//
// Every component whose name ends a constant or method of ids.go renders one
// element with that id, and a patch replaces it ('outer'). RowList, RowBody and
// RegionParts are the inner of an element; rows, parts, blocks and pieces are
// appended to RowsID, BodyID or RegionID, PartView.BodyID and PiecesID. When a
// run changed outside rows and parts, RunOutcome, RunDebt, PlanHead,
// RunChildren, StatusLine, Waiting, PinnedPlan and PlanPane are due. When a part
// changed, PartHead and PartBody are, as PatchesHead and PatchesBody say.
// Attributes of elements that hold a reader's state follow signals (signals.go).
//
// # What the browser client does with the page
//
//	details[data-load]        a row: opening it while its ol is empty loads the
//	                          ol's inner from that address
//	time[data-since]          a running clock, in the form of duration
//	html[data-away]           set while the reader is away from the bottom: shows
//	                          the button [data-action=jump]
//	html[data-new-below]      set while there is output below that was not seen
//	html[data-connection]     live or lost
//	#plan-pane[hidden]        the reader's; without data-open-plan it closes by
//	                          itself; opened by [data-action=plan], closed by
//	                          [data-action=close-pane]
//	#keys                     a popover: the keys; #single-keys switches them off
//	#status-line[data-state]  the newest run's state, for the tab's title
//	#stream                   the empty element on which the page's stream sits
//	form#composer             input[name=id] is a new message's id; the form is
//	                          reset once a message is taken
//
// The page scrolls as a document; the dock with the composer is sticky.
package views
