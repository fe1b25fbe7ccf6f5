import type { Model, ModelSchema } from "@holdfast/sdk/protocol";
import { expect } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import type { App, Call } from "../app.ts";

const text = { type: "string" } as const;
export const grouped = (fields: Model["fields"], from = "deck"): ModelSchema["models"] => ({
  note: { fields, groups: [{ kind: "deck", from }] },
  other: { fields: { a: text } },
});
export const OLD = grouped({ deck: text, title: text, rest: text, size: { type: "string", index: true } });
/** `title` is called `heading`, records are grouped by another field, and `rest` is hidden. */
export const NEW = {
  models: grouped({ deck: text, heading: text, size: { type: "string", index: true } }, "size"),
  renames: [{ model: "note", from: "title", to: "heading" }],
  force: true,
};

export interface RewrittenTenant {
  readonly token: string;
  readonly tenant: number;
  ask(method: string, path: string, json?: unknown, by?: Call): ReturnType<Call>;
  /** How many records a push has prepared. */
  prepared(): Promise<number | undefined>;
  isRewriting(): Promise<boolean | undefined>;
}

/** Tenants with so many notes, whose schema a test changes. */
export function rewriting({ call, sql, connect, newOrganization, tenantOf }: App, rows: number) {
  /** A tenant with notes n0001 …, each in deck d0 to d9, of size s0 to s6. */
  async function openTenant(): Promise<RewrittenTenant> {
    const { organization, token } = await newOrganization();
    const ask = (method: string, path: string, json?: unknown, by = call) =>
      by(method, path, { token, ...(json !== undefined && { json }) });
    await ask("POST", "/v1/schema", { models: OLD });
    const tenant = await tenantOf(organization);
    await sql(
      `with head as (update holdfast.head set sync_id = $2 where tenant = $1)
       insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
       select $1, 'note', 'n' || lpad(n::text, 4, '0'), n, json_build_object('id', 'n' || lpad(n::text, 4, '0'), 'deck', 'd' || n % 10, 'title', 'note ' || n,
         'rest', 'rest ' || n, 'size', 's' || n % 7), array['deck:d' || n % 10], n, 'system:filler', now(), now(), 'system:filler'
       from generate_series(1, $2) n`,
      [tenant, rows],
    );
    const prepared = async () =>
      (
        await sql<{ n: number }>("select count(*)::int as n from holdfast.rewritten_record where tenant = $1", [tenant])
      )[0]?.n;
    const isRewriting = async () =>
      (await sql<{ is: boolean }>("select rewriting as is from holdfast.head where tenant = $1", [tenant]))[0]?.is;
    return { token, tenant, ask, prepared, isRewriting };
  }
  const settled = ({ prepared, isRewriting }: RewrittenTenant) =>
    until(async () => expect([await isRewriting(), await prepared()]).toEqual([false, 0]));

  /** Keeps the rows of a push that lands from being moved: the lock goes from the push to us. */
  async function freeze({ tenant, prepared }: RewrittenTenant) {
    await until(async () => expect(await prepared()).toBeGreaterThan(0));
    const holder = await connect();
    await holder.query("select pg_advisory_lock(4270005, $1)", [tenant]);
    return { release: () => holder.query("select pg_advisory_unlock_all()") };
  }

  /** All notes as each way to read shows them, by id. */
  async function readings({ ask }: RewrittenTenant, by = call) {
    const snapshot = (await ask("GET", "/v1/snapshot?limit=10000", undefined, by)).text.trim().split("\n").slice(1, -1);
    const listed: { id: string }[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await ask("GET", `/v1/models/note?limit=100&order_by=heading${cursor}`, undefined, by);
      listed.push(...(body.data as { id: string }[]));
      if (body.next_cursor === null) break;
      cursor = `&starting_after=${body.next_cursor}`;
    }
    const byId = (rows: readonly { id: string }[]) => new Map(rows.map((row) => [row.id, row]));
    return {
      snapshot: byId(snapshot.map((line) => (JSON.parse(line) as { data: { id: string } }).data)),
      listed: byId(listed),
    };
  }

  return { openTenant, settled, freeze, readings };
}
