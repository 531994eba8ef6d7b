package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"stagefold/internal/planning"
)

// config is every setting, from flags, else the environment, else defaults
// (docs/settings.md). A wrong one is an error of one line that names it.
type config struct {
	addr      string
	data      string
	workspace string
	model     string // "" = the best one found
	mode      planning.Mode
	compact   bool // --plan-limits compact

	openAIKey, openAIBase       string
	anthropicKey, anthropicBase string

	pace         time.Duration // a word of the rehearsal model
	stepLimit    int
	runTimeout   time.Duration
	silence      time.Duration
	toolTimeout  time.Duration
	toolOutput   int
	allowedHosts []string
	dev          bool
	logLevel     slog.Level
	datastarJS   string // --datastar-js FILE
	databaseURL  string // "" = SQLite in the data folder
	natsURL      string // "" = embedded

	// These have no flag; only tests change them.
	takeTimeout time.Duration // how long a viewer may take no bytes before it is cut; it reconnects by itself
	lookEvery   time.Duration // how soon what a lost wake or letter did not tell is made good
	ackWait     time.Duration // how long a silent worker keeps its runs; 0 is the bus's own
	patience    time.Duration // how long a commit is tried again; 0 is the store's own
}

// errHelp: --help was printed; nothing is wrong.
var errHelp = errors.New("help asked for")

func readConfig(args []string, env func(string) string, out io.Writer) (config, error) {
	c := config{takeTimeout: 15 * time.Second, lookEvery: 2 * time.Second}
	fs := flag.NewFlagSet("stagefold", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	or := func(name, fallback string) string {
		if v := env(name); v != "" {
			return v
		}
		return fallback
	}
	fs.StringVar(&c.addr, "addr", or("STAGEFOLD_ADDR", "127.0.0.1:8080"), "address to listen on; port 0 picks a free one (STAGEFOLD_ADDR)")
	fs.StringVar(&c.data, "data", or("STAGEFOLD_DATA", "./data"), "data folder, made if missing (STAGEFOLD_DATA)")
	fs.StringVar(&c.workspace, "workspace", or("STAGEFOLD_WORKSPACE", "./workspace"), "folder the agent's tools work on, made with a small sample if missing (STAGEFOLD_WORKSPACE)")
	fs.StringVar(&c.model, "model", or("STAGEFOLD_MODEL", ""), "anthropic/NAME, openai/NAME or rehearsal; default: the best one found (STAGEFOLD_MODEL)")
	mode := fs.String("planning-mode", or("STAGEFOLD_PLANNING_MODE", "metronome"), "metronome, classic, checklist, steps or none; for new chats (STAGEFOLD_PLANNING_MODE)")
	limits := fs.String("plan-limits", "normal", "normal or compact")
	fs.IntVar(&c.stepLimit, "step-limit", 100, "model calls a run may make")
	fs.DurationVar(&c.runTimeout, "run-timeout", 2*time.Hour, "time a run may take")
	fs.DurationVar(&c.silence, "silence-limit", 120*time.Second, "time without a byte from the provider that ends a step as an error")
	fs.DurationVar(&c.toolTimeout, "tool-timeout", 120*time.Second, "time one tool call may take")
	fs.IntVar(&c.toolOutput, "tool-output-limit", 32<<10, "bytes of a tool's output shown to the model")
	approve := fs.String("approve", "always", "always: tools run without asking; said on the page")
	var hosts listFlag
	fs.Var(&hosts, "allowed-host", "a further host name accepted, for a reverse proxy; may be repeated")
	fs.StringVar(&c.datastarJS, "datastar-js", "", "serve this official Datastar file in place of the built-in client (adds unsafe-eval to the CSP)")
	fs.StringVar(&c.databaseURL, "database-url", or("STAGEFOLD_DATABASE_URL", ""), "postgres://... for several instances; default: SQLite in the data folder (STAGEFOLD_DATABASE_URL)")
	fs.StringVar(&c.natsURL, "nats-url", or("STAGEFOLD_NATS_URL", ""), "nats://... with JetStream, for several instances; default: embedded (STAGEFOLD_NATS_URL)")
	fs.BoolVar(&c.dev, "dev", false, "development: /gallery, templates' errors shown")
	level := fs.String("log-level", "info", "debug, info, warn or error")

	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(out, fs)
			return c, errHelp
		}
		return c, oneLine(err)
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q; commands are: version; see --help", fs.Arg(0))
	}
	var err error
	if c.mode, err = planning.ParseMode(*mode); err != nil {
		return c, fmt.Errorf("--planning-mode %q is unknown; use metronome, classic, checklist, steps or none", *mode)
	}
	switch *limits {
	case "normal":
	case "compact":
		c.compact = true
	default:
		return c, fmt.Errorf("--plan-limits %q is unknown; use normal or compact", *limits)
	}
	if *approve != "always" {
		return c, fmt.Errorf("--approve %q is not possible yet; the only value is always", *approve)
	}
	if err := c.logLevel.UnmarshalText([]byte(*level)); err != nil {
		return c, fmt.Errorf("--log-level %q is unknown; use debug, info, warn or error", *level)
	}
	for name, n := range map[string]int{"--step-limit": c.stepLimit, "--tool-output-limit": c.toolOutput} {
		if n < 1 {
			return c, fmt.Errorf("%s must be at least 1, not %d", name, n)
		}
	}
	for name, d := range map[string]time.Duration{"--run-timeout": c.runTimeout, "--silence-limit": c.silence, "--tool-timeout": c.toolTimeout} {
		if d <= 0 {
			return c, fmt.Errorf("%s must be longer than 0, not %s", name, d)
		}
	}
	pace := or("STAGEFOLD_REHEARSAL_PACE", "40")
	ms, err := strconv.Atoi(pace)
	if err != nil || ms < 0 || ms > 60_000 {
		return c, fmt.Errorf("STAGEFOLD_REHEARSAL_PACE %q is not a number of milliseconds from 0 to 60000", pace)
	}
	c.pace = time.Duration(ms) * time.Millisecond
	c.openAIKey, c.openAIBase = env("OPENAI_API_KEY"), env("OPENAI_BASE_URL")
	c.anthropicKey, c.anthropicBase = env("ANTHROPIC_API_KEY"), env("ANTHROPIC_BASE_URL")
	for name, base := range map[string]string{"OPENAI_BASE_URL": c.openAIBase, "ANTHROPIC_BASE_URL": c.anthropicBase} {
		if base == "" {
			continue
		}
		u, err := url.Parse(base)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return c, fmt.Errorf("%s is not an http or https address", name)
		}
	}
	if err := checkModel(c.model); err != nil {
		return c, err
	}
	if err := c.checkEngines(); err != nil {
		return c, err
	}
	c.allowedHosts = hosts
	return c, c.checkAddr()
}

// checkAddr refuses an address that other machines reach: there is no login yet.
func (c config) checkAddr() error {
	host, port, err := net.SplitHostPort(c.addr)
	if err != nil {
		return fmt.Errorf("--addr %q is not HOST:PORT, for instance 127.0.0.1:8080", c.addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("--addr %q has no port from 0 to 65535", c.addr)
	}
	if !loopback(host) {
		return fmt.Errorf("--addr %q is not a loopback address; other machines would reach it and there is no login", c.addr)
	}
	return nil
}

// checkEngines: an unknown scheme ends the start; so does one half of scale-out,
// where two instances would not share what they must. The addresses may hold
// passwords, so that they are not printed.
func (c config) checkEngines() error {
	if !schemeIn(c.databaseURL, "postgres", "postgresql") {
		return errors.New("--database-url has an unknown scheme; use postgres://USER:PASSWORD@HOST/NAME, or leave it away for SQLite")
	}
	if !schemeIn(c.natsURL, "nats", "tls") {
		return errors.New("--nats-url has an unknown scheme; use nats://HOST:PORT, or leave it away for the embedded one")
	}
	if c.natsURL != "" && c.databaseURL == "" {
		return errors.New("--nats-url needs --database-url: instances that share a queue must share the database")
	}
	return nil
}

func schemeIn(address string, schemes ...string) bool {
	if address == "" {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

func checkModel(name string) error {
	if name == "" || name == rehearsalName {
		return nil
	}
	provider, model, ok := strings.Cut(name, "/")
	if ok && model != "" && (provider == "openai" || provider == "anthropic") {
		return nil
	}
	return fmt.Errorf("--model %q is unknown; use anthropic/NAME, openai/NAME or rehearsal", name)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// forget takes the keys out of the process's environment, so that no child
// inherits them.
func forget() {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "STAGEFOLD_DATABASE_URL", "STAGEFOLD_NATS_URL"} {
		os.Unsetenv(name)
	}
}

func usage(out io.Writer, fs *flag.FlagSet) {
	fmt.Fprint(out, "stagefold: a chat with an AI agent whose plan is the page\n\nusage: web [flags]\n       web version\n\n")
	fs.SetOutput(out)
	fs.PrintDefaults()
	fmt.Fprint(out, `
environment
  OPENAI_API_KEY, OPENAI_BASE_URL        OpenAI-compatible provider; the base ends in /v1; a key is optional when a base is given
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL  Anthropic provider; the base has no /v1
  STAGEFOLD_REHEARSAL_PACE               milliseconds a word of the rehearsal model (40)
`)
}

// oneLine keeps the first line of flag's error, which names the flag.
func oneLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line + "; see --help")
}

type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }
