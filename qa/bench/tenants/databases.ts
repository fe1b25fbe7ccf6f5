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
import { CONNECTIONS, rateBy, rateOf, sendersOf } from "./commit-rates.ts";

const ORGANIZATIONS = 300;
const NAMES = ["second", "third"];
const WAYS = ["alone", "apart", "routed", "spread"] as const;
type Way = (typeof WAYS)[number];
const cli = fileURLToPath(new URL("../../../packages/server/dist/cli.js", import.meta.url));

/**
 * Organizations that the operator has spread over three Postgres servers, and three processes each of which serves them
 * all, in turns with three services that know nothing of each other, each with one server, one process and a third of the
 * organizations: what the one service lacks of the three is what several databases in one service cost. One of the three
 * alone, with the whole machine, shows what six programs on one machine cost.
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
    const servers = [stage.postgres.url, ...others.map(({ url }) => url)];
    const apart = await Promise.all(
      servers.map(async (server) => {
        await stage.sql(server, "create database alone");
        const own = new URL(server);
        own.pathname = "/alone";
        return stage.server({ databaseUrl: own.href, organizations: ORGANIZATIONS / 3 });
      }),
    );
    const one = apart[0] as (typeof apart)[number];
    const homes = await stage.sql<{ home: string }>(
      databaseUrl,
      "select coalesce(t.home, 'own') as home from unnest($1::text[]) with ordinality o(id, n) join holdfast.tenant t on t.organization = o.id and t.livemode order by n",
      [first.organizations],
    );
    const places = [...new Set(homes.map(({ home }) => home))];
    /** As a proxy sends them that knows where an organization lives: each process serves one database. */
    const routed = async () =>
      (
        await Promise.all(
          places.map((place, i) => {
            const here = tokens.filter((_, n) => homes[n]?.home === place);
            return sendersOf([urls[i] as string], here);
          }),
        )
      ).flat();
    const measured: Record<Way, () => Promise<number>> = {
      alone: () => rateOf([one.url], one.tokens, seconds),
      apart: async () =>
        rateBy((await Promise.all(apart.map(({ url, tokens }) => sendersOf([url], tokens)))).flat(), seconds),
      routed: async () => rateBy(await routed(), seconds),
      spread: () => rateOf(urls, tokens, seconds, 3 * CONNECTIONS),
    };
    const found: Record<Way, number[]> = { alone: [], apart: [], routed: [], spread: [] };
    for (let n = 0; n < rounds; n++) {
      for (const way of n % 2 === 0 ? WAYS : WAYS.toReversed()) found[way].push(await measured[way]());
      const shown = WAYS.map((way) => `${way} ${round(found[way].at(-1) ?? 0)}`);
      print(`round ${n + 1} of ${rounds}: ${shown.join(", ")}`);
    }
    const shareOf = (way: Way) => {
      const { median, min, max } = summarize(found[way].map((rate, n) => rate / (found.apart[n] ?? Number.NaN)));
      return `**${round(median)}** (${round(min)} – ${round(max)}) of the three services`;
    };
    const all = `${ORGANIZATIONS} organizations, 3 databases, 3 processes, ${3 * CONNECTIONS} connections, on the same machine`;
    return [
      {
        what: `commits/s of ${ORGANIZATIONS / 3} organizations in one database, one process, ${CONNECTIONS} connections`,
        ...{ unit: "/s", runs: summarize(found.alone) },
      },
      {
        what: `the sum of three such services at once: ${all}`,
        ...{ unit: "/s", runs: summarize(found.apart) },
      },
      {
        ...{ what: "one service, each process sent those of one database", unit: "/s", runs: summarize(found.routed) },
        ...{ against: shareOf("routed"), note: "target 0.90" },
      },
      {
        ...{ what: "the same, each process sent those of all three", unit: "/s", runs: summarize(found.spread) },
        against: shareOf("spread"),
      },
    ];
  } finally {
    await stage[Symbol.asyncDispose]();
    for (const other of others) await other.stop();
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
}
