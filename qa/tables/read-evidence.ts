import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { readRecords } from "../support/attached-tables.ts";
import type { Entry, Evidence, NotedChange, Record, TableRow } from "./evidence.ts";
import { digestSql } from "./papers-sql.ts";
import { NOTED_SQL, ROWS_SQL, UNNOTED } from "./tables-sql.ts";

type Stored = Omit<Evidence, "commits" | "transactions" | "followers" | "told" | "lists">;

const PATIENCE_MS = 60_000;

const RECORD_VALUES = `${digestSql("r.data", "r.model")} as data,
  case when json_typeof(r.data) = 'number' then (r.data #>> '{}')::bigint::float8 end as unreadable`;

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
        `select sync_id as at, model, id, verb, ${digestSql("data", "model")} as data,
            case when json_typeof(data) = 'string' then data #>> '{}' end as unreadable,
            client_tx_id as name, actor, participant_kind as kind
          from holdfast.log order by sync_id`,
      ),
      await readRecords<Record & { at: string }>(
        client,
        (await all<{ tenant: number }>("select tenant from holdfast.attached_table"))[0]?.tenant ?? 0,
        RECORD_VALUES,
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
