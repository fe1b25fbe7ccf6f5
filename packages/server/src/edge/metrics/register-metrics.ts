import type { CommitLanes } from "../../kernel/commits/flows/commit-lanes.ts";
import type { Database } from "../../kernel/connection/pool.ts";
import type { DatabaseHealth } from "../../kernel/database-health.ts";
import type { AnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import type { UsageCounter } from "../../kernel/organizations/flows/count-usage.ts";
import type { CacheUse } from "../../kernel/sized-cache.ts";
import type { Failures } from "../../server-options.ts";
import type { Counters } from "../http/counters.ts";
import type { Gateway } from "../socket/gateway.ts";
import type { Metrics } from "./prometheus.ts";

export interface Measured {
  readonly pool: Database;
  readonly authPool: Database;
  /** The caches of the process, by name. */
  readonly caches: Readonly<Record<string, CacheUse>>;
  readonly counters: Counters;
  readonly answers: AnswerBytes;
  readonly usage: UsageCounter;
  readonly lane: CommitLanes;
  readonly gateway: Gateway;
  readonly failures: Failures;
  /** The databases beside the service's own. */
  others(): readonly MeasuredDatabase[];
}

export interface MeasuredDatabase {
  /** As the operator calls it. Null: it is a tenant's own. */
  readonly name: string | null;
  readonly health: Pick<DatabaseHealth, "problem" | "since">;
  readonly database: { readonly pool: Database; readonly lanes: Pick<CommitLanes, "waiting"> } | undefined;
}

/** Seconds: from a commit in an idle database to one that is about to be refused. */
export const ROUND_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Registers all metrics. Those of tables are about all processes. */
export function registerMetrics(metrics: Metrics, measured: Measured): void {
  const { pool, counters, answers, usage, lane, gateway, failures } = measured;
  const { counter, gauge } = metrics;
  counter("holdfast_requests_total", "Requests received.", () => counters.requests);
  counter("holdfast_refusals_total", "Requests refused, by code.", () =>
    [...counters.refusals].map(([code, count]) => [count, { code }] as const),
  );
  const { totals } = usage;
  counter("holdfast_commits_total", "Commits confirmed, each counted once.", () => totals.commits);
  counter("holdfast_operations_total", "Operations in confirmed commits.", () => totals.operations);
  counter("holdfast_reads_total", "Responses to reads of records or of the log.", () => totals.reads);
  counter("holdfast_webhook_deliveries_total", "Deliveries accepted by an endpoint.", () => totals.webhook_deliveries);
  gauge("holdfast_commits_waiting", "Write requests waiting for a round.", () => lane.waiting);
  gauge("holdfast_answer_bytes", "Bytes of answers that have not left the process.", () => answers.bytes);
  gauge("holdfast_streams", "Open stream sockets.", () => gateway.size);
  gauge("holdfast_database_connections", "Database connections for everything but commits, by state.", () => [
    [pool.totalCount - pool.idleCount, { state: "busy" }],
    [pool.idleCount, { state: "idle" }],
  ]);
  gauge("holdfast_database_waiting", "Requests waiting for a database connection.", () => pool.waitingCount);
  counter("holdfast_background_failures_total", "Failures in the background, by log event.", () =>
    [...failures].map(([event, count]) => [count, { event }] as const),
  );
  measureAuthentication(metrics, measured);
  measureCaches(metrics, measured);
  measureProcess(metrics);
  measureOthers(metrics, measured);
}

/** The operator's databases by name, those of tenants all together: there may be thousands. */
function measureOthers({ gauge }: Metrics, { others }: Measured): void {
  const sumsOf = (
    measure: (one: NonNullable<MeasuredDatabase["database"]>) => number,
    more: Record<string, string> = {},
  ) => {
    const sums = new Map<string, number>();
    for (const { name, database: open } of others())
      sums.set(name ?? "", (sums.get(name ?? "") ?? 0) + (open ? measure(open) : 0));
    return [...sums].map(([name, sum]) => [sum, { ...labelsOf(name), ...more }] as const);
  };
  gauge("holdfast_other_databases", "Databases beside the service's own, by kind and state.", () => {
    const counts = new Map<string, number>();
    const key = (name: string | null, state: string) => `${name ?? ""} ${state}`;
    const all = others();
    for (const { name } of all) for (const state of ["up", "away"]) counts.set(key(name, state), 0);
    for (const { name, health } of all) {
      const state = health.problem === undefined ? "up" : "away";
      counts.set(key(name, state), (counts.get(key(name, state)) ?? 0) + 1);
    }
    return [...counts].map(([text, count]) => {
      const [name = "", state = ""] = text.split(" ");
      return [count, { ...labelsOf(name), state }] as const;
    });
  });
  gauge(
    "holdfast_other_database_connections",
    "Connections to other databases for everything but commits, by state.",
    () => [
      ...sumsOf(({ pool }) => pool.totalCount - pool.idleCount, { state: "busy" }),
      ...sumsOf(({ pool }) => pool.idleCount, { state: "idle" }),
    ],
  );
  gauge("holdfast_other_database_waiting", "Requests waiting for a connection to another database.", () =>
    sumsOf(({ pool }) => pool.waitingCount),
  );
  gauge("holdfast_other_database_commits_waiting", "Write requests waiting for a round in another database.", () =>
    sumsOf(({ lanes }) => lanes.waiting),
  );
}

const labelsOf = (name: string): Record<string, string> =>
  name === "" ? { kind: "direct" } : { kind: "operator", database: name };

function measureAuthentication({ gauge }: Metrics, { authPool }: Measured): void {
  gauge("holdfast_auth_connections", "Database connections for token lookups, by state.", () => [
    [authPool.totalCount - authPool.idleCount, { state: "busy" }],
    [authPool.idleCount, { state: "idle" }],
  ]);
}

function measureCaches({ counter, gauge }: Metrics, { caches }: Measured): void {
  const each = Object.entries(caches);
  counter("holdfast_cache_requests_total", "Cache lookups, by cache and result.", () =>
    each.flatMap(([cache, { hits, misses }]) => [
      [hits, { cache, result: "hit" }] as const,
      [misses, { cache, result: "miss" }] as const,
    ]),
  );
  gauge("holdfast_cache_bytes", "Estimated memory of each cache.", () =>
    each.map(([cache, { bytes }]) => [bytes, { cache }] as const),
  );
}

function measureProcess({ counter, gauge }: Metrics): void {
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970.", () => startedAt);
  counter("process_cpu_seconds_total", "CPU time of all threads.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge("process_resident_memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
  gauge("nodejs_heap_used_bytes", "Used JavaScript heap.", () => process.memoryUsage().heapUsed);
  counter(
    "nodejs_eventloop_active_seconds_total",
    "Busy time of the event loop: near one second per second, requests wait.",
    () => performance.eventLoopUtilization().active / 1_000,
  );
}
