package views

import (
	"encoding/json"
	"testing"
)

// TestSignals: the signals carry what the attributes of the element say, under
// the element's id.
func TestSignals(t *testing.T) {
	v := view(debtRun(), nil)
	row := RowView{Run: v, Row: v.Snap.Rows.At(1)}
	tool := PartView{Run: v, Row: row.Row, Part: row.Row.Parts.At(1)}
	for _, c := range []struct {
		signals Signals
		want    string
	}{
		{v.Signals(), `{"run":{"` + v.ID() + `":{"state":"finished","reason":"stop"}}}`},
		{row.Signals(), `{"row":{"` + row.ID() + `":{"status":"done","unverified":false,"closed":true}}}`},
		{tool.Signals(), `{"tool":{"` + tool.ID() + `":{"state":"cancelled"}}}`},
		{PartView{Run: v, Part: row.Row.Parts.At(0)}.Signals(), "null"},
	} {
		got, err := json.Marshal(c.signals)
		if err != nil || string(got) != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
