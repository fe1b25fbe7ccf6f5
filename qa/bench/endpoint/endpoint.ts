import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EndpointRecords, startEndpoint } from "../../faults/endpoint.ts";
import { mariadbRecords } from "../../faults/mariadb-records.ts";
import { sqliteRecords } from "../../faults/sqlite-records.ts";
import { missingMariadb } from "../../support/mariadb.ts";
import { createRequester } from "../../support/requester.ts";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { creates } from "../stage/creates.ts";
import { type Options, openStage, runAbreast, type Stage } from "../stage/stage.ts";

const CONNECTIONS = 64;
/** For each server of those that are sent to in turn. */
const TURNS_SECONDS = 12;
/** As processes.ts starts programs, so that the service, too, has the built handler. */
const FLAGS = ["--import", "tsx"];

/** Commits to records behind an endpoint, over SQLite and over MariaDB, beside hosted ones. */
export async function measureEndpoint({ rounds, print }: Options): Promise<{ notes: string; rows: Row[] }> {
  const missing = missingMariadb();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-endpoint-"));
  await using stage = await openStage();
  const hosted = await stage.server({ database: "hosted" });
  const sources = [await openSource(stage, "SQLite", sqliteRecords(folder))];
  if (missing === undefined) sources.push(await openSource(stage, "MariaDB", await mariadbRecords()));
  try {
    const plans = [hosted, ...sources.map(({ server }) => server)].map((server) => ({
      ...{ ...creates(server), connections: CONNECTIONS, seconds: TURNS_SECONDS },
    }));
    const rates: number[][] = plans.map(() => []);
    for (let n = 0; n < rounds; n++) {
      for (const [i, turns] of (await runAbreast(plans)).entries()) rates[i]?.push(summarize(turns).median);
      print(`round ${n + 1} of ${rounds}: ${rates.map((found) => round(found.at(-1) ?? 0)).join(", ")} commits/s`);
    }
    for (const source of sources) await source.checkEqual();
    const names = ["hosted records", ...sources.map(({ name }) => `records behind an endpoint over ${name}`)];
    return {
      notes: `The service runs on the same two cores. ${missing === undefined ? "" : `MariaDB was left out: ${missing}.`}`,
      rows: names.map((name, i) => ({
        ...{ what: `commits to ${name}, ${CONNECTIONS} connections`, unit: "/s", runs: summarize(rates[i] ?? []) },
        ...(name.endsWith("MariaDB") && { note: "target 500/s" }),
      })),
    };
  } finally {
    for (const source of sources) await source.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openSource(stage: Stage, name: string, records: EndpointRecords) {
  const databaseUrl = await stage.database(name.toLowerCase());
  const server = await stage.server({ databaseUrl });
  const endpoint = await startEndpoint(records, FLAGS);
  await endpoint.register(createRequester(() => [server.url], server.tokens[0] as string));
  return {
    name,
    server,
    /** A fast write that leaves the store and the log unequal is worth nothing. */
    async checkEqual() {
      for (;;) {
        const [open] = await stage.sql<{ n: number }>(databaseUrl, "select count(*)::int as n from holdfast.intent");
        if (open?.n === 0) break;
        await pause(100);
      }
      const [kept] = await stage.sql<{ n: number }>(databaseUrl, "select count(*)::int as n from holdfast.record");
      const there = (await records.read()).length;
      if (there !== kept?.n) throw new Error(`${name} has ${there} records, and the server ${kept?.n}.`);
    },
    stop: () => endpoint.stop(),
  };
}
