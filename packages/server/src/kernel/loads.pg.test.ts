import pg from "pg";
import { expect, test } from "vitest";
import { loadQueues, loadWaits } from "../modules/claims/db/claims.ts";
import { freshDatabase } from "../testing/database.ts";
import { loadGroupHeads } from "./commits/db/group-heads.ts";
import { loadHistory } from "./commits/db/history.ts";
import { loadReceipts } from "./commits/db/receipts.ts";
import { deleteRecords, loadRecords } from "./commits/db/records.ts";
import { PLANNING } from "./connection/pipe.ts";
import type { Statement } from "./connection/statement.ts";

const ROWS = 100_000;
const KEYS = 32;
const { url } = await freshDatabase();

/** Shared buffers that the statement touched, planned while the tables were empty. */
test.each([
  ["nothing, since they were never analyzed", ""],
  [
    "that they are empty",
    "analyze holdfast.record, holdfast.receipt, holdfast.group_head, holdfast.log, holdfast.claim",
  ],
])("[L7] what a round looks up costs a few pages for each key, when the planner knows %s", async (_, analyze) => {
  const client = new pg.Client({ connectionString: url, options: PLANNING });
  await client.connect();
  try {
    const named = (n: number) => ({
      tenant: 1,
      model: "slide",
      id: `s${n * 7}`,
      name: `k${n * 7}`,
      participant: "system:a",
    });
    const keys = Array.from({ length: KEYS }, (_, n) => named(n));
    const loads: Record<string, Statement<unknown>> = {
      records: loadRecords(keys),
      receipts: loadReceipts(keys),
      groups: loadGroupHeads(keys),
      history: loadHistory(keys.map((key) => ({ ...key, after: 0 }))),
      deletion: deleteRecords(keys),
      claims: loadQueues(keys),
      waits: loadWaits(keys.map(({ id }) => ({ tenant: 1, holder: `agent:${id}` }))),
    };
    for (const table of ["record", "receipt", "group_head", "log", "claim"])
      await client.query(`alter table holdfast.${table} set (autovacuum_enabled = off)`);
    await client.query("truncate holdfast.record, holdfast.receipt, holdfast.group_head, holdfast.log, holdfast.claim");
    await client.query(analyze);
    for (const [name, { text }] of Object.entries(loads)) await client.query(`prepare ${name}_load as ${text}`);
    // A statement without a name is planned each time, the others once.
    const execute = (name: string, { name: kept, text, values }: Statement<unknown>) =>
      kept === ""
        ? text.replace(/\$(\d)/g, (_, n: string) => literal(values[Number(n) - 1] as readonly string[]))
        : `execute ${name}_load(${values.map((value) => literal(value as readonly (string | number)[])).join(", ")})`;
    // Planned now, with nothing in the tables.
    for (const [name, load] of Object.entries(loads)) await client.query(execute(name, load));
    await client.query(
      `insert into holdfast.record select 1, 'slide', 's' || n, n, '{}', '{}', null, 1, '', now(), now(), '' from generate_series(1, ${ROWS}) n`,
    );
    await client.query(
      `insert into holdfast.receipt select 1, 'k' || n || ' ' || left(encode(sha256('system:a'), 'base64'), 16), '', '{}', false, now() from generate_series(1, ${ROWS}) n`,
    );
    await client.query(
      `insert into holdfast.group_head select 1, 'k' || n, n, null, 0 from generate_series(1, ${ROWS}) n`,
    );
    await client.query(
      `insert into holdfast.log select 1, n, 'slide', 's' || n, 'updated', '{}', null, '{}', null, '', null, null, '', 'system', null, now() from generate_series(1, ${ROWS}) n`,
    );
    await client.query(
      `insert into holdfast.claim (tenant, id, model, record, status, participant, token, action, ttl_ms, place, change, created_at, expires_at, seen_at)
       select 1, 'c' || n, 'slide', 's' || n, 'active', 'agent:s' || n, 't', 'edit', 60000, 1, n, now(), now() + interval '1 hour', now() from generate_series(1, ${ROWS}) n`,
    );
    for (const [name, load] of Object.entries(loads)) {
      const { rows } = await client.query<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
        `explain (analyze, buffers, format json) ${execute(name, load)}`,
      );
      const plan = rows[0]!["QUERY PLAN"][0]!.Plan;
      const buffers = (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
      expect(buffers > KEYS, String(name)).toBe(true);
      expect(buffers / KEYS <= 16, String(name)).toBe(true);
    }
  } finally {
    await client.end();
  }
});

const literal = (values: readonly (string | number)[]): string =>
  `'{${values.map((value) => (typeof value === "string" ? `"${value}"` : value)).join(",")}}'`;
