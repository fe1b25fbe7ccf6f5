import type { JsonObject } from "@holdfast/sdk/protocol";
import type { StoredRow } from "../rules/schema-change.ts";
import { type Transaction, takeTime } from "./transaction.ts";

/** A record may have a few MiB, and a message to Postgres up to 1 GiB. */
const BATCH = 200;

/** Whether any record of a model has values that its schema hides. */
export async function hasHiddenValues(tx: Transaction, world: number, model: string): Promise<boolean> {
  const { rows } = await tx.query(
    "select 1 from holdfast.record where world = $1 and model = $2 and hidden is not null limit 1",
    [world, model],
  );
  return rows.length > 0;
}

/** Rewrites every record of a model, a batch at a time. Positions and times stay: what changed is the schema's words. */
export async function rewriteRecords(
  tx: Transaction,
  world: number,
  model: string,
  rewrite: (row: StoredRow) => StoredRow,
): Promise<void> {
  await takeTime(tx);
  for (let after = ""; ; ) {
    const { rows } = await tx.query<{ id: string; data: string; hidden: string | null }>(
      "select id, data, hidden from holdfast.record where world = $1 and model = $2 and id > $3 order by id limit $4",
      [world, model, after, BATCH],
    );
    const last = rows.at(-1);
    if (!last) return;
    const written = rows.map(({ data, hidden }) =>
      rewrite({
        data: JSON.parse(data) as JsonObject,
        hidden: hidden === null ? null : (JSON.parse(hidden) as JsonObject),
      }),
    );
    await tx.query(
      `update holdfast.record r set data = n.data::json, hidden = n.hidden::json
       from unnest($3::text[], $4::text[], $5::text[]) as n(id, data, hidden) where r.world = $1 and r.model = $2 and r.id = n.id`,
      [
        world,
        model,
        rows.map(({ id }) => id),
        written.map(({ data }) => JSON.stringify(data)),
        written.map(({ hidden }) => hidden && JSON.stringify(hidden)),
      ],
    );
    after = last.id;
  }
}
