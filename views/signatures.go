package views

import (
	"github.com/a-h/templ"

	"stagefold/internal/fold"
)

func RunArticle(v RunView) templ.Component { return templ.NopComponent }
func RunOutcome(v RunView) templ.Component { return templ.NopComponent }
func RunDebt(v RunView) templ.Component { return templ.NopComponent }
func PlanHead(v RunView) templ.Component { return templ.NopComponent }
func RunChildren(v RunView) templ.Component { return templ.NopComponent }
func RowList(v RunView) templ.Component { return templ.NopComponent }
func RowItem(v RowView) templ.Component { return templ.NopComponent }
func RowHead(v RowView) templ.Component { return templ.NopComponent }
func RowFacts(v RowView) templ.Component { return templ.NopComponent }
func RowBody(v RowView) templ.Component { return templ.NopComponent }
func PartItem(v PartView) templ.Component { return templ.NopComponent }
func PartHead(v PartView) templ.Component { return templ.NopComponent }
func PartBody(v PartView) templ.Component { return templ.NopComponent }
func BlockItem(v BlockView) templ.Component { return templ.NopComponent }
func PieceItem(v PieceView) templ.Component { return templ.NopComponent }
func Queue(v ChatState) templ.Component { return templ.NopComponent }
func ChatList(v ChatState) templ.Component { return templ.NopComponent }
func Composer(v ChatPageView) templ.Component { return templ.NopComponent }
func Notice(v string) templ.Component { return templ.NopComponent }
func ChatPage(v ChatPageView) templ.Component { return templ.NopComponent }
func RunsPage(v RunsPageView) templ.Component { return templ.NopComponent }
func RunPage(v RunPageView) templ.Component { return templ.NopComponent }
func SettingsPage(v SettingsView) templ.Component { return templ.NopComponent }
func ErrorPage(v ErrorView) templ.Component { return templ.NopComponent }
func GalleryPage(v PageView) templ.Component { return templ.NopComponent }
func RegionParts(v RunView, r fold.Region) templ.Component { return templ.NopComponent }
func StatusLine(c ChatState, run *RunView) templ.Component { return templ.NopComponent }
func PlanPane(c ChatState, run *RunView) templ.Component { return templ.NopComponent }
func PinnedPlan(c ChatState, run *RunView) templ.Component { return templ.NopComponent }
func Waiting(c ChatState, run *RunView) templ.Component { return templ.NopComponent }
