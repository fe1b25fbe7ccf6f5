import type { Observable } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";

/** A number, or one per set of labels. */
export type MetricValue = number | readonly Labelled[];
export type Labelled = readonly [value: number, labels: Readonly<Record<string, string>>];

/** The metrics of a process, in the Prometheus text format. Names end with a unit, counters with `_total`. */
export interface Metrics {
  /** A value that only grows. Read on each scrape. */
  counter(name: string, help: string, read: () => MetricValue): void;
  /** A value that goes up and down. If it cannot be read, it is omitted from that scrape and reported. */
  gauge(name: string, help: string, read: () => MetricValue | Promise<MetricValue>): void;
  /** Counts values by upper bound. Returns the function that records one. */
  histogram(name: string, help: string, bounds: readonly number[]): (value: number) => void;
  /** Concurrent scrapes share one result. */
  text(): Promise<string>;
}

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A gauge that takes longer to read is omitted: otherwise the scraper would time out (Prometheus after 10 s). */
const PATIENCE_MS = 2_000;

export function createMetrics(failed: (error: unknown) => void): Metrics {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("holdfast");
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  /** Names that were not read this time. The library would report their previous values. */
  const unread = new Set<string>();
  let asking: Promise<string> | undefined;

  function observe(instrument: Observable, name: string, read: () => MetricValue | Promise<MetricValue>): void {
    instrument.addCallback(async (result) => {
      unread.add(name);
      const reading = await read();
      for (const [value, labels] of typeof reading === "number" ? [[reading, {}] as const] : reading)
        result.observe(value, labels);
      unread.delete(name);
    });
  }

  async function ask(): Promise<string> {
    const { resourceMetrics, errors } = await reader.collect({ timeoutMillis: PATIENCE_MS });
    for (const error of errors) failed(error);
    const scopeMetrics = resourceMetrics.scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.filter(({ descriptor: { name } }) => !unread.has(name)),
    }));
    return serializer.serialize({ ...resourceMetrics, scopeMetrics });
  }

  return {
    counter: (name, help, read) => observe(meter.createObservableCounter(name, { description: help }), name, read),
    gauge: (name, help, read) => observe(meter.createObservableGauge(name, { description: help }), name, read),
    histogram(name, help, bounds) {
      const taken = meter.createHistogram(name, {
        description: help,
        advice: { explicitBucketBoundaries: [...bounds] },
      });
      return (value) => taken.record(value);
    },
    text() {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}
