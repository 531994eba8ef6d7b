// Package bus is NATS, embedded in the process or external: the job queue with
// leases, the wake of watchers, and messages to the owner of a run. Everything
// it carries can be rebuilt from the database; nothing is lost with it.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options says how to reach NATS.
type Options struct {
	// URL of an external server with JetStream; "" embeds one without a port,
	// whose jobs stand in memory.
	URL      string
	Instance string // this process's name, unique among the instances
	Logger   *slog.Logger
	// AckWait is how long a silent worker keeps a job: a killed one is replaced
	// after it. 9 s where zero: a run has a new owner within 10 s. Workers say that they live three times in it.
	AckWait time.Duration
	// Reconcile is how often jobs are made anew from the database. 5 s where zero.
	Reconcile time.Duration
}

// Bus is a connection to NATS.
type Bus struct {
	o      Options
	conn   *nats.Conn
	js     jetstream.JetStream
	server *server.Server // embedded, else nil
	dir    string         // the embedded server's own folder

	mu   sync.Mutex
	held map[string]*nats.Subscription // by run id, see Hold
}

// Open connects, or starts the embedded server. An external server that is away
// is no error: the connection is made as soon as it answers.
func Open(ctx context.Context, o Options) (*Bus, error) {
	if o.AckWait <= 0 {
		o.AckWait = 9 * time.Second
	}
	if o.Reconcile <= 0 {
		o.Reconcile = 5 * time.Second
	}
	b := &Bus{o: o, held: map[string]*nats.Subscription{}}
	address := o.URL
	options := []nats.Option{
		nats.Name("stagefold " + o.Instance), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.RetryOnFailedConnect(true), nats.ReconnectBufSize(1 << 20), nats.Timeout(2 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Logger.Warn("nats was lost", slog.Any("err", err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { o.Logger.Info("nats answered again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			o.Logger.Warn("nats reported an error", slog.Any("err", err))
		}),
	}
	if o.URL == "" {
		if err := b.embed(); err != nil {
			return nil, err
		}
		options = append(options, nats.InProcessServer(b.server))
	}
	conn, err := nats.Connect(address, options...)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	b.conn = conn
	if b.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(2*time.Second)); err != nil {
		b.Close()
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	if o.URL == "" {
		if err := b.ensure(ctx); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// embed starts a server that listens on no port.
func (b *Bus) embed() error {
	dir, err := os.MkdirTemp("", "stagefold-nats-")
	if err != nil {
		return fmt.Errorf("make a folder for NATS: %w", err)
	}
	b.dir = dir
	s, err := server.NewServer(&server.Options{
		ServerName: "stagefold", DontListen: true, NoSigs: true, NoLog: true, NoSystemAccount: true,
		JetStream: true, StoreDir: dir, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 20,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("make the embedded NATS server: %w", err), os.RemoveAll(dir))
	}
	b.server = s
	s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		b.Close()
		return errors.New("the embedded NATS server did not get ready within 5 s")
	}
	return nil
}

// Connected reports whether NATS answers now.
func (b *Bus) Connected() bool { return b.conn.IsConnected() }

// Close ends the connection, then the embedded server.
func (b *Bus) Close() error {
	if b.conn != nil {
		b.conn.Close()
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
	if b.dir != "" {
		return os.RemoveAll(b.dir)
	}
	return nil
}
