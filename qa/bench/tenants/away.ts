import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@holdfast/server";
import { sendAsJson } from "../../../scripts/testing/ask-json.ts";
import { embeddedUrl } from "../../support/log-tables.ts";
import { killPostgres, stallPostgres } from "../../support/postgres-process.ts";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage } from "../stage/stage.ts";
import { afterSeconds, COMMITS_PER_SECOND, commitSteadily } from "./steady-commits.ts";

/** What happens to the database of two of the four tenants. */
const TROUBLES = ["killed", "silent"] as const;
type Trouble = (typeof TROUBLES)[number];

/**
 * Four tenants in two databases, all of them writing. The database of two of them is killed, or stops to answer, and the
 * other two are measured.
 */
export async function measureAway({ rounds, seconds, print }: Options): Promise<Row[]> {
  const stage = await openStage();
  const dataDir = mkdtempSync(join(tmpdir(), "holdfast-bench-other-"));
  let other = await startEmbeddedPostgres({ dataDir });
  try {
    const server = await stage.server({ organizations: 4 });
    const [here = "", hereToo = "", ...there] = server.tokens;
    for (const token of there) await moveAway(server, token, dataDir);
    const span = Math.max(seconds, 6);
    const measure = async () => {
      const [one, two] = await Promise.all([
        ...[here, hereToo].map((token) => commitSteadily(server, token, afterSeconds(span))),
        ...there.map((token) => commitSteadily(server, token, afterSeconds(span))),
      ]);
      return { p99: Math.max(one?.p99 ?? 0, two?.p99 ?? 0), failed: (one?.failed ?? 0) + (two?.failed ?? 0) };
    };
    const quiet: number[] = [];
    const found: Record<Trouble, number[]> = { killed: [], silent: [] };
    let failed = 0;
    for (let n = 0; n < rounds; n++) {
      quiet.push((await measure()).p99);
      for (const trouble of TROUBLES) {
        const { over } = await begin(trouble, { dataDir, other, ms: (span + 1) * 1_000 });
        const measured = await measure();
        other = await over();
        found[trouble].push(measured.p99);
        failed += measured.failed;
        await until(server, there);
      }
      print(
        `round ${n + 1} of ${rounds}: p99 ${round(quiet.at(-1) ?? 0)} ms quiet, ${round(found.killed.at(-1) ?? 0)} ms beside a killed database, ${round(found.silent.at(-1) ?? 0)} ms beside a silent one`,
      );
    }
    const base = summarize(quiet).median;
    return [
      {
        what: `4 tenants in 2 databases, ${COMMITS_PER_SECOND} commits a second each, p99 of two: quiet`,
        ...{ unit: "ms", runs: summarize(quiet) },
      },
      ...TROUBLES.map((trouble) => {
        const runs = summarize(found[trouble]);
        const against = `${round(runs.median / base)} × quiet`;
        return { what: `the same while the others' is ${trouble}`, unit: "ms", runs, against, note: "target 2 ×" };
      }),
      { what: "their commits that failed", unit: "", runs: summarize([failed]), note: "target 0" },
    ];
  } finally {
    await stage[Symbol.asyncDispose]();
    await other.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** `over` ends it, and resolves when the database answers again. */
async function begin(
  trouble: Trouble,
  { dataDir, other, ms }: { dataDir: string; other: EmbeddedPostgres; ms: number },
): Promise<{ over(): Promise<EmbeddedPostgres> }> {
  if (trouble === "silent") {
    const silent = stallPostgres(dataDir, ms);
    return { over: () => silent.then(() => other) };
  }
  await killPostgres(dataDir);
  // It would be started again.
  await other.stop();
  return { over: () => startEmbeddedPostgres({ dataDir }) };
}

async function moveAway({ url }: ServerReady, token: string, dataDir: string): Promise<void> {
  const connectionString = embeddedUrl(dataDir);
  const made = await ask(url, token, "/v1/datasources", { connection: "direct", connectionString });
  if (made.status !== 201) throw new Error(`The datasource was refused: ${await made.text()}`);
  const { id } = (await made.json()) as { id: string };
  for (;;) {
    const { status } = (await (await ask(url, token, `/v1/datasources/${id}`)).json()) as { status: string };
    if (status === "active") return;
    await pause(100);
  }
}

/** Waits until the tenants can write again. */
async function until({ url }: ServerReady, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) while ((await ask(url, token, "/v1/log?limit=1")).status !== 200) await pause(100);
}

const ask = (url: string, token: string, path: string, json?: object): Promise<Response> =>
  sendAsJson(url + path, token, json ? "POST" : "GET", json);
