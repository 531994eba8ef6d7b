package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"stagefold/internal/part"
	"stagefold/internal/store"
)

// metrics is what GET /metrics tells, in Prometheus format (docs/operations.md).
type metrics struct {
	registry       *prometheus.Registry
	steps          prometheus.Histogram
	toViewer       prometheus.Histogram
	viewersDropped prometheus.Counter
	providerErrors *prometheus.CounterVec

	mu      sync.Mutex
	started map[string]time.Time // by run: when its current step began
}

func newMetrics(a *app) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		steps: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "stagefold_step_seconds",
			Help: "Time of one step: the model call and its tools.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 13)}),
		toViewer: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "stagefold_entry_to_viewer_seconds",
			Help: "Time from an entry of the log to the bytes on a viewer's connection.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 12)}),
		viewersDropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "stagefold_viewers_dropped_total",
			Help: "Viewers that were cut because they took no bytes."}),
		providerErrors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "stagefold_provider_errors_total",
			Help: "Failed model calls, by what came of them: retried, or the run failed."}, []string{"outcome"}),
		started: map[string]time.Time{},
	}
	m.registry.MustRegister(m.steps, m.toViewer, m.viewersDropped, m.providerErrors,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "stagefold_viewers", Help: "Open page streams of this process."}, func() float64 {
			_, viewers := a.hub.Watched()
			return float64(viewers)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "stagefold_writer_lag_seconds", Help: "How long the oldest entry of the last commit waited."}, func() float64 {
			return a.db.WriterLag().Seconds()
		}),
		runCounts{a},
	)
	return m
}

// committed reads the metrics out of what was logged.
func (m *metrics) committed(c store.Committed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range c.Entries {
		switch e.Type {
		case part.StartStep:
			m.started[c.RunID] = e.Time
		case part.FinishStep:
			if from, ok := m.started[c.RunID]; ok {
				m.steps.Observe(e.Time.Sub(from).Seconds())
				delete(m.started, c.RunID)
			}
		case part.DataNotice:
			var n part.NoticeData
			if json.Unmarshal(e.Data, &n) == nil && n.Kind == "retry" {
				m.providerErrors.WithLabelValues("retried").Inc()
			}
		case part.Finish:
			delete(m.started, c.RunID)
			if e.State == part.FailedRun {
				m.providerErrors.WithLabelValues("failed").Inc()
			}
		}
	}
}

func (m *metrics) handler() echo.HandlerFunc {
	return echo.WrapHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
}

// runCounts tells how many runs there are in each state.
type runCounts struct{ *app }

var runsDesc = prometheus.NewDesc("stagefold_runs", "Runs by state.", []string{"state"}, nil)

func (r runCounts) Describe(out chan<- *prometheus.Desc) { out <- runsDesc }

func (r runCounts) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	counts, err := r.db.Counts(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(runsDesc, err)
		return
	}
	for _, s := range runStates {
		out <- prometheus.MustNewConstMetric(runsDesc, prometheus.GaugeValue, float64(counts[s]), string(s))
	}
}
