import type { Observable } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";

/** A number, or one for each set of labels. */
export type Reading = number | readonly Labelled[];
export type Labelled = readonly [value: number, labels: Readonly<Record<string, string>>];

/** What a process tells of itself, as Prometheus text. Names end in their unit, counters in `_total`. */
export interface Metrics {
  /** It only grows. Read when somebody asks. */
  counter(name: string, help: string, read: () => Reading): void;
  /** It goes up and down. What cannot be read is left out of that answer, and reported. */
  gauge(name: string, help: string, read: () => Reading | Promise<Reading>): void;
  /** How often values lay at or below each bound. Returns what takes them. */
  histogram(name: string, help: string, bounds: readonly number[]): (value: number) => void;
  /** Who asks meanwhile gets the same. */
  text(): Promise<string>;
}

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** What is not read by then is left out: who asks would give up in the end (Prometheus after 10 s). */
const PATIENCE_MS = 2_000;

export function createMetrics(failed: (error: unknown) => void): Metrics {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("holdfast");
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  /** Names that were not read this time: the library would tell what they were the last time. */
  const unread = new Set<string>();
  let asking: Promise<string> | undefined;

  function observe(instrument: Observable, name: string, read: () => Reading | Promise<Reading>): void {
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
