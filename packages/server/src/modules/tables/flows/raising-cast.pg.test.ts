import { beforeAll, expect, test } from "vitest";
import { dumpOrganization } from "../../../kernel/organizations/flows/dump.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { builtInHooks } from "../../open-modules.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach, post, update, remove, mark, entries } = await startWithTables();
let model = "";

/** By the column whose JSON cannot be made. */
const UNREADABLE = ["cell", "feeling", "feelings"];

beforeAll(async () => {
  await db.query(`create type public.mood as enum ('good', 'bad');
    create function public.mood_json(mood) returns json language plpgsql as $$
      begin if $1 = 'bad' then raise exception 'no JSON of this mood'; end if; return to_json($1::text); end $$;
    create cast (mood as json) with function mood_json(mood);
    create type public.cell as (mood mood);
    create table public.days (id text primary key, title text, feeling mood, feelings mood[], cell cell);
    insert into public.days select 'n' || n, 'Day ' || n, 'good', '{good}', row('good')::cell from generate_series(1, 5) n;
    insert into public.days values ('feeling', 'One', 'bad', null, null), ('feelings', 'Many', null, '{good,bad}', null), ('cell', 'In it', null, null, row('bad')::cell)`);
  const fields = { title: {}, feeling: { type: "json" }, feelings: { type: "array" }, cell: { type: "json" } } as const;
  ({ model } = await attach("public.days", fields));
});

const leftOut = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
  (body.unreadable as { id: string }[] | undefined)?.map(({ id }) => id).sort();

test("[DS91] a small row whose JSON Postgres cannot make is left out of lists and queries, and the others are read", async () => {
  const list = await app.call("GET", `/v1/models/${model}?limit=100`);
  expect(list.status).toBe(200);
  expect(list.body.data).toHaveLength(5);
  expect(leftOut(list)).toEqual(UNREADABLE);
  const query = await post(`/v1/models/${model}/query`, { orderBy: "title", limit: 100 });
  expect(query.body.data).toHaveLength(5);
  expect(leftOut(query)).toEqual(UNREADABLE);
});

test("[DS91] it is 413 by itself, and is left out of snapshots and dumps", async () => {
  for (const id of UNREADABLE)
    expect((await app.call("GET", `/v1/models/${model}/${id}`)).body.code).toBe("record_too_large");
  const { text, status } = await app.call("GET", "/v1/snapshot");
  expect(status).toBe(200);
  expect(text.split('"Day ')).toHaveLength(6);
  const lines: string[] = [];
  await dumpOrganization(pool, builtInHooks.places, app.organization, async (line) => void lines.push(line));
  expect(lines.filter((line) => line.includes('"Day '))).toHaveLength(5);
});

test("[DS83] it fails no statement of the caller's, and comes into the log without values", async () => {
  await mark();
  await db.query("update days set title = 'Changed' where id in ('cell', 'feeling', 'feelings')");
  await db.query("update days set title = 'Day one' where id = 'n1'");
  const changed = await entries(4);
  expect(changed.map(({ id, data }) => [id, data?.title]).sort()).toEqual([
    ...UNREADABLE.map((id) => [id, undefined]),
    ["n1", "Day one"],
  ]);
});

test("[DS91] [DS83] [DS131] it can be verified and deleted", async () => {
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ rows: 8, different: 0, extra: 0 });
  expect((await update(model, "cell", { title: "Another" })).body.code).toBe("record_too_large");
  for (const id of UNREADABLE) expect((await remove(model, id)).status).toBe(200);
});
