package main

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"stagefold/views"
)

// settingsPage is GET /settings: what was found and what new chats start with.
func (a *app) settingsPage(c echo.Context) error {
	standard := a.models.standard()
	v := views.SettingsView{Page: a.page(c, "Settings", "settings"), Models: a.models.choices(standard), Modes: modes(), Mode: a.cfg.mode,
		Workspace: a.work.Dir(), DataDir: a.cfg.data, Approve: "always"}
	if a.cfg.openAIKey == "" && a.cfg.openAIBase == "" && a.cfg.anthropicKey == "" {
		v.Notes = append(v.Notes, "No API key was found at the start. Set ANTHROPIC_API_KEY or OPENAI_API_KEY (and OPENAI_BASE_URL) and start again; until then the rehearsal model plays.")
	}
	v.Notes = append(v.Notes, "Tools run without asking (--approve always).")
	return render(c, http.StatusOK, views.SettingsPage(v))
}

// galleryPage is GET /gallery, in development only: every state of every component.
func (a *app) galleryPage(c echo.Context) error {
	page := a.page(c, "Gallery", "gallery")
	page.Render = a.folds.render
	return render(c, http.StatusOK, views.GalleryPage(page))
}
