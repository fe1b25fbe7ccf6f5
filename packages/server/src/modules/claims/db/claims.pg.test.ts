import { expect, test } from "vitest";
import { createPool, type Database } from "../../../kernel/connection/pool.ts";
import { insertOrganization } from "../../../kernel/organizations/db/organizations.ts";
import { freshDatabase } from "../../../testing/database.ts";
import { touchWaiters } from "./claim-times.ts";
import { readQueues } from "./read-claims.ts";

const ROWS = 100_000;
const KEYS = 100;
const { url } = await freshDatabase();

/** What a question costs that was planned while the table was empty, and never analysed since, in pages. */
async function pagesOf(client: Database, ask: () => Promise<unknown>): Promise<number> {
  const pages = async () => {
    await client.query("select pg_stat_force_next_flush()");
    const { rows } = await client.query<{ pages: number }>(
      `select (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int as pages
       from pg_statio_user_tables where schemaname = 'holdfast' and relname = 'claim'`,
    );
    return rows[0]?.pages ?? 0;
  };
  const before = await pages();
  await ask();
  return (await pages()) - before;
}

test("[L7] reading claim queues and touching waiters costs a few pages each, whatever statistics the planner has", async () => {
  const client = createPool({ url, maxConnections: 1 });
  try {
    await client.query("set plan_cache_mode = force_generic_plan");
    await insertOrganization(client, "org_1", "ours", { live: "log_1", test: "log_2" });
    const { tenant } = (await client.query<{ tenant: number }>("select min(id) as tenant from holdfast.tenant"))
      .rows[0]!;
    await client.query("alter table holdfast.claim set (autovacuum_enabled = off)");
    const ask = {
      queues: () =>
        readQueues(
          client,
          keys.map((n) => ({ tenant, model: "slide", id: `s${n}` })),
        ),
      waiters: () =>
        touchWaiters(
          client,
          keys.map((n) => ({ tenant, holder: `agent:w${n}` })),
          30_000,
        ),
    };
    const keys = Array.from({ length: KEYS }, (_, n) => n * 7);
    for (const question of Object.values(ask)) await question();
    await client.query("set statement_timeout = 0");
    await client.query(
      `insert into holdfast.claim (tenant, id, model, record, status, participant, token, action, ttl_ms, place, change, created_at, ended_at, seen_at)
       select ${tenant}, 'c' || n, 'slide', 's' || n, case when n % 7 = 0 then 'queued' else 'released' end, 'agent:w' || n, 't', 'edit', 60000, 1, n, now(),
         case when n % 7 > 0 then now() end, now() - interval '1 minute' from generate_series(1, ${ROWS}) n`,
    );
    for (const [name, question] of Object.entries(ask)) {
      const pages = await pagesOf(client, question);
      expect(pages > KEYS, String(name)).toBe(true);
      expect(pages < 20 * KEYS, String(name)).toBe(true);
    }
  } finally {
    await client.end();
  }
});
