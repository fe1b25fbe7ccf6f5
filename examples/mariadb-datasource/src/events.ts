import type { EventPage } from "@holdfast/sdk/datasource";
import type { RowDataPacket } from "mysql2";
import type { Pool, PoolConnection } from "mysql2/promise";

// Numbers of an `auto_increment` are not in the order of commits: a reader that goes on after 6 misses 5 if that is
// committed later. So a number is given when a change is read:
//
//   any program ─► its table ─trigger─► captured_change ─► event ─► the cursor
//                  in its transaction                  a reader moves what has been committed

/** Other collations take "a", "A" and "a " for one id. */
export const OPTIONS = "engine = innodb, collate = utf8mb4_nopad_bin";

const COLUMNS = `(seq bigint unsigned auto_increment primary key, model varchar(255) not null, id varchar(255) not null)`;

export const EVENT_TABLES = [
  `create table if not exists captured_change ${COLUMNS} ${OPTIONS}`,
  `create table if not exists event ${COLUMNS} ${OPTIONS}`,
  // A reader locks its row, so that there is one at a time.
  `create table if not exists event_reader (id int primary key) ${OPTIONS}`,
  "insert ignore into event_reader values (1)",
];

export const triggersOf = (model: string, table: string): string[] =>
  Object.entries({ insert: ["new"], update: ["old", "new"], delete: ["old"] }).map(
    ([event, rows]) => `create trigger if not exists ${table}_${event} after ${event} on ${table} for each row
      insert into captured_change (model, id) values ${rows.map((row) => `('${model}', ${row}.id)`).join(", ")}`,
  );

/** In a transaction. Changes that are not committed yet are locked: they are passed over, and come the next time. */
export async function placeEvents(connection: PoolConnection, limit: number): Promise<void> {
  await connection.query("select id from event_reader for update");
  const [captured] = await connection.query<RowDataPacket[]>(
    "select seq, model, id from captured_change order by seq limit ? for update skip locked",
    [limit],
  );
  if (captured.length === 0) return;
  const events = captured.map(({ model, id }) => [model, id]);
  await connection.query("insert into event (model, id) values ?", [events]);
  await connection.query("delete from captured_change where seq in (?)", [captured.map(({ seq }) => seq)]);
}

export async function readEvents(
  pool: Pool,
  { cursor, limit }: { readonly cursor: string | null; readonly limit: number },
): Promise<EventPage> {
  const text = "select seq, model, id from event where seq > ? order by seq limit ?";
  const [rows] = await pool.query<RowDataPacket[]>(text, [Number(cursor ?? 0), limit]);
  const events = rows.map(({ model, id }) => ({ model: String(model), id: String(id) }));
  return { events, cursor: String(rows.at(-1)?.seq ?? cursor ?? 0), more: rows.length === limit };
}
