import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type EmbeddedPostgres, newMasterKey, startEmbeddedPostgres } from "@holdfast/server";
import { embeddedUrl } from "../../support/log-tables.ts";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { type Options, openStage, WRITTEN_BEFORE } from "../stage/stage.ts";
import { CONNECTIONS, rateOf } from "./commit-rates.ts";

const ORGANIZATIONS = 300;
const NAMES = ["second", "third"];
const cli = fileURLToPath(new URL("../../../packages/server/dist/cli.js", import.meta.url));

/**
 * Organizations that the operator has spread over three Postgres servers, and three processes each of which serves them
 * all, in turns with one server, one process and a third of the organizations. All have the whole machine: what the
 * three lack of the one is what several databases cost.
 */
export async function measureDatabases({ rounds, seconds, print }: Options): Promise<Row[]> {
  const stage = await openStage();
  const dirs = NAMES.map((name) => mkdtempSync(join(tmpdir(), `holdfast-bench-${name}-`)));
  const others: EmbeddedPostgres[] = [];
  const masterKey = newMasterKey();
  try {
    const databaseUrl = await stage.database("spread");
    const empty = await stage.server({ databaseUrl, masterKey, organizations: 1 });
    for (const [i, name] of NAMES.entries()) {
      const dataDir = dirs[i] as string;
      const other = await startEmbeddedPostgres({ dataDir });
      others.push(other);
      await stage.sql(other.url, WRITTEN_BEFORE);
      await stage.sql(other.url, "checkpoint");
      const env = { ...process.env, DATABASE_URL: databaseUrl, HOLDFAST_MASTER_KEY: masterKey };
      await promisify(execFile)(process.execPath, [cli, "databases", "add", name, embeddedUrl(dataDir)], { env });
    }
    await empty.stop();
    print(`making ${ORGANIZATIONS} organizations, each in the database with the fewest …`);
    const first = await stage.server({ databaseUrl, masterKey, organizations: ORGANIZATIONS });
    const { tokens } = first;
    const more = await Promise.all(
      NAMES.map(() => stage.server({ databaseUrl, masterKey, organizations: 0, tokens: tokens.slice(0, 1) })),
    );
    const urls = [first, ...more].map(({ url }) => url);
    const one = await stage.server({ database: "alone", organizations: ORGANIZATIONS / 3 });
    const found: Record<"alone" | "spread", number[]> = { alone: [], spread: [] };
    for (let n = 0; n < rounds; n++) {
      for (const which of n % 2 === 0 ? (["alone", "spread"] as const) : (["spread", "alone"] as const))
        found[which].push(
          which === "alone"
            ? await rateOf([one.url], one.tokens, seconds)
            : await rateOf(urls, tokens, seconds, 3 * CONNECTIONS),
        );
      print(
        `round ${n + 1} of ${rounds}: ${round(found.alone.at(-1) ?? 0)} alone, ${round(found.spread.at(-1) ?? 0)} spread`,
      );
    }
    const shares = summarize(found.spread.map((rate, n) => rate / (found.alone[n] ?? Number.NaN)));
    return [
      {
        what: `commits/s of ${ORGANIZATIONS / 3} organizations in one database, one process, ${CONNECTIONS} connections`,
        ...{ unit: "/s", runs: summarize(found.alone) },
      },
      {
        what: `commits/s of ${ORGANIZATIONS} organizations in 3 databases, 3 processes, ${3 * CONNECTIONS} connections, on the same machine`,
        ...{ unit: "/s", runs: summarize(found.spread) },
        against: `**${round(shares.median)}** (${round(shares.min)} – ${round(shares.max)}) of the one`,
        note: "target 0.90",
      },
    ];
  } finally {
    await stage[Symbol.asyncDispose]();
    for (const other of others) await other.stop();
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
}
