import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { readRecords } from "../support/attached-tables.ts";
import type { Entry, Evidence, NotedChange, TableRow } from "./evidence.ts";
import { NOTED_SQL, ROWS_SQL, UNNOTED } from "./tables-sql.ts";

type Stored = Omit<Evidence, "commits" | "transactions" | "followers">;

const PATIENCE_MS = 60_000;

/** Waits until the captured changes are collected, for a minute at most, and reads tables, records and log. */
export async function readEvidence(databaseUrl: string): Promise<Stored> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const waiting = await captured(client);
    const all = async <T extends object>(text: string) => (await client.query<T>(text)).rows;
    await client.query("begin isolation level repeatable read read only");
    const [heads, log, records, rows, noted] = [
      await all<{ at: string }>("select sync_id as at from holdfast.head order by sync_id desc limit 1"),
      await all<Entry & { at: string }>(
        `select sync_id as at, model, id, verb, data, client_tx_id as name, actor, participant_kind as kind
          from holdfast.log order by sync_id`,
      ),
      await readRecords(
        client,
        (await all<{ tenant: number }>("select tenant from holdfast.attached_table"))[0]?.tenant ?? 0,
      ),
      await all<TableRow>(ROWS_SQL),
      await all<NotedChange>(NOTED_SQL),
    ];
    return {
      head: Number(heads[0]?.at),
      log: log.map(({ at, ...entry }) => ({ ...entry, syncId: Number(at) })),
      records: records.map(({ at, ...record }) => ({ ...record, syncId: Number(at) })),
      ...{ rows, noted, waiting, unnoted: UNNOTED },
    };
  } finally {
    await client.end();
  }
}

async function captured(client: pg.Client): Promise<number> {
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    const { rows } = await client.query<{ n: number }>("select count(*)::int as n from holdfast.captured_change");
    const n = rows[0]?.n ?? 0;
    if (n === 0 || performance.now() > end) return n;
    await pause(100);
  }
}
