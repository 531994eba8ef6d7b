// Command web is Stagefold's server: a chat with an AI agent whose plan is the
// page.
//
// The main path, from a message to the page:
//
//	messages.go   the form posts a message, 204
//	dispatch.go   the queued run is claimed and started
//	../../internal/agent/loop.go    prepare -> model -> entries -> tools -> stop?
//	../../internal/store/runlog.go  number, keep, persist, wake
//	../../internal/fold/folder.go   Apply(entry), Snapshot()
//	../../internal/live/view.go     changes -> templ -> encode once
//	stream.go     the same bytes to every viewer
//
// Beside it: config.go (settings), app.go (wiring), routes.go (the table of
// routes), guard.go (who may ask), errors.go (errors into sentences), one file
// a page or resource.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println("stagefold", version())
		return
	}
	cfg, err := readConfig(os.Args[1:], os.Getenv, os.Stdout)
	if errors.Is(err, errHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stagefold:", err)
		os.Exit(2)
	}
	forget()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := serve(ctx, cfg, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "stagefold:", err)
		os.Exit(1)
	}
}

// serve runs the product until ctx ends, then closes everything within 5 s.
func serve(ctx context.Context, cfg config, out, logs io.Writer) error {
	log := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: cfg.logLevel}))
	slog.SetDefault(log)
	listener, err := net.Listen("tcp", cfg.addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --addr, for instance 127.0.0.1:0 for a free port", err)
	}
	a, err := newApp(ctx, cfg, log)
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{
		Handler:           a.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext:       boundSendBuffer,
	}
	fmt.Fprintf(out, "listening on http://%s\n", listener.Addr())
	for _, line := range a.startLines() {
		fmt.Fprintln(out, line)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	closing, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	a.endStreams(closing)
	if down := server.Shutdown(closing); down != nil {
		server.Close()
	}
	return errors.Join(err, a.close(closing))
}

// sendBuffer is what the kernel may keep for a viewer that reads nothing, in
// bytes; without a bound it is several MB, and a frozen viewer is noticed late.
const sendBuffer = 256 << 10

func boundSendBuffer(ctx context.Context, c net.Conn) context.Context {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer)
	}
	return ctx
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
