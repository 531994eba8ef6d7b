package views

import "github.com/a-h/templ"

// Specimen is one component in one state.
type Specimen struct {
	Name string
	View templ.Component
}

// Specimens are all states of all components; the gallery shows them and the
// goldens keep them.
func Specimens() []Specimen { return nil }
