package main

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"stagefold/static"
)

// handler is the table of routes. Reads of the log start at the pages and the
// stream; every write ends with 204 (or 303 without JavaScript) and the stream
// shows what came of it.
func (a *app) handler() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = a.handleError
	e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{LogErrorFunc: a.logPanic}))
	e.Use(secure(a.cfg.datastarJS != ""), guard(a.cfg.allowedHosts), middleware.BodyLimit("1M"), jsonBody, compress())

	e.GET("/", a.home)
	e.GET("/chats", a.home)
	e.POST("/chats", a.newChat)
	e.GET("/chats/:id", a.chatPage)
	e.GET("/chats/:id/stream", a.chatStream)
	e.GET("/chats/:id/state", a.chatShortState)
	e.POST("/chats/:id/messages", a.postMessage)
	e.POST("/chats/:id/settings", a.chatSettings)
	e.POST("/chats/:id/delete", a.deleteChat)
	e.POST("/chats/:id/queue/:message", a.editQueued)
	e.POST("/chats/:id/queue/:message/delete", a.deleteQueued)
	e.POST("/chats/:id/queue/:message/send", a.sendQueued)
	e.GET("/runs", a.runsPage)
	e.GET("/runs/:id", a.runPage)
	e.GET("/runs/:id/stages/:key", a.stageFragment)
	e.POST("/runs/:id/stop", a.stopRun)
	e.POST("/runs/:id/again", a.runAgain)
	e.POST("/runs/:id/answer", a.answerRun)
	e.GET("/settings", a.settingsPage)
	if a.cfg.dev {
		e.GET("/gallery", a.galleryPage)
	}
	if a.client != nil {
		e.GET(static.URL("client.js"), a.officialClient)
	}
	e.GET("/static/*", echo.WrapHandler(static.Handler()))
	e.GET("/healthz", a.health)
	e.GET("/metrics", a.meter.handler())

	api := e.Group("/api")
	api.GET("/models", a.apiModels)
	api.POST("/chats", a.apiNewChat)
	api.GET("/chats", a.apiChats)
	api.GET("/chats/:id", a.apiChat)
	api.DELETE("/chats/:id", a.apiDeleteChat)
	api.POST("/chats/:id/messages", a.apiPostMessage)
	api.PATCH("/chats/:id/queue/:message", a.apiEditQueued)
	api.DELETE("/chats/:id/queue/:message", a.apiDeleteQueued)
	api.POST("/chats/:id/queue/:message/send", a.apiSendQueued)
	api.GET("/runs", a.apiRuns)
	api.GET("/runs/:id", a.apiRun)
	api.GET("/runs/:id/entries", a.apiEntries)
	api.GET("/runs/:id/plan/revisions", a.apiRevisions)
	api.POST("/runs/:id/stop", a.apiStop)
	api.POST("/runs/:id/again", a.apiAgain)
	api.POST("/runs/:id/answer", a.apiAnswer)
	api.GET("/tool-outputs/:run/:call", a.apiToolOutput)
	return e
}

// compress gzips pages and JSON; streams, static files and metrics compress themselves.
func compress() echo.MiddlewareFunc {
	return middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024, Skipper: func(c echo.Context) bool {
		return c.Path() == "/chats/:id/stream" || c.Path() == "/static/*" || c.Path() == "/metrics"
	}})
}

func (a *app) logPanic(c echo.Context, err error, stack []byte) error {
	a.log.Error("handler panicked", "path", c.Path(), "err", err, "stack", string(stack))
	return err
}

// health is GET /healthz: 200 when the database answers.
func (a *app) health(c echo.Context) error {
	ctx, cancel := contextWithin(c, 2*time.Second)
	defer cancel()
	if err := a.db.Ping(ctx); err != nil {
		return &webError{http.StatusServiceUnavailable, "database", "The database does not answer.", "Look at the server's log."}
	}
	return c.JSON(http.StatusOK, map[string]bool{"ok": true})
}

// officialClient serves the file of --datastar-js at our own client's address.
func (a *app) officialClient(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-cache")
	return c.Blob(http.StatusOK, "text/javascript; charset=utf-8", a.client)
}
