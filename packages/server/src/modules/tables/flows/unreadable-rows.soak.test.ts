import { beforeAll, expect, test } from "vitest";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { smallServers } from "../../../testing/small-server.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach } = await startWithTables();
const smallServer = smallServers(app);

const ORDINARY = 100;
/** Two texts that no string of JavaScript can have together, and a text that takes six times as much in JSON. */
const UNREADABLE = ["a40mib", "b600mib", "c1200mib", "d60mib", "e1180mib"];
let model = "";

beforeAll(async () => {
  await db.query(`create table public.papers (id text primary key, title text, body text, more text, doc jsonb);
    insert into public.papers select 'p' || lpad(n::text, 3, '0'), 'Paper ' || n, 'Text', null, '{"a":1}' from generate_series(1, ${ORDINARY}) n;
    insert into public.papers values ('a40mib', 'Large', repeat('x', 41943040));
    insert into public.papers values ('b600mib', 'Larger', repeat('x', 300000000), repeat('y', 300000000));
    insert into public.papers values ('c1200mib', 'None', null, null, to_jsonb(repeat(E'\\x01', 200000000)));
    insert into public.papers values ('d60mib', 'Made', null, null, to_jsonb(repeat(E'\\x01', 10000000)));
    insert into public.papers values ('e1180mib', 'Digits', null, null, (select jsonb_agg(1e131071::numeric) from generate_series(1, 9000)))`);
  ({ model } = await attach("public.papers", { title: {}, body: {}, more: {}, doc: { type: "json" } }));
});

const READS: readonly (readonly [what: string, method: string, path: () => string, json?: object])[] = [
  ["a list", "GET", () => `/v1/models/${model}?limit=100`],
  ["a list by title", "GET", () => `/v1/models/${model}?limit=100&order_by=title&order=desc`],
  ["a list by body", "GET", () => `/v1/models/${model}?limit=100&order_by=body`],
  ["a query that counts", "POST", () => `/v1/models/${model}/query`, { limit: 100, count: true, countBy: "title" }],
  ["a search", "POST", () => `/v1/models/${model}/query`, { limit: 100, where: { title: { contains: "aper" } } }],
  ["a snapshot", "GET", () => "/v1/snapshot"],
  [
    "a part",
    "GET",
    () => `/v1/snapshot?where=${encodeURIComponent(JSON.stringify({ [model]: { title: "Paper 7" } }))}`,
  ],
  ["the log", "GET", () => "/v1/log"],
];

test("[DS91] rows of 40 MiB and 600 MiB, and one whose JSON cannot be made, end no process: the tenant's other rows are read, and another tenant goes on", async () => {
  const { call, child, log } = await smallServer(256);
  const token = app.keys.other;
  const statuses: number[] = [];
  let isOver = false;
  const other = (async () => {
    for (let n = 0; !isOver; n++) {
      const id = `other${n}`;
      statuses.push(
        (await call("POST", "/v1/models/slide", { token, key: id, json: { id, data: { deckId: "d", title: id } } }))
          .status,
        (await call("GET", `/v1/models/slide/${id}`, { token })).status,
        (await call("GET", "/v1/models/slide?limit=10", { token })).status,
      );
    }
  })();
  try {
    for (const id of UNREADABLE) {
      const { status, body } = await call("GET", `/v1/models/${model}/${id}`);
      expect([id, status, body.code]).toEqual([id, 413, "record_too_large"]);
      const history = await call("GET", `/v1/models/${model}/${id}/history`);
      expect([id, history.status]).toEqual([id, 200]);
    }
    for (const [what, method, path, json] of READS) {
      const { status, text } = await call(method, path(), { json });
      expect([what, status, status === 200 ? "" : text]).toEqual([what, 200, ""]);
      if (what !== "the log" && what !== "a part")
        expect([what, text.split('"Paper ').length - 1 >= 95]).toEqual([what, true]);
    }
  } finally {
    isOver = true;
    await other;
  }
  expect(child.exitCode).toBeNull();
  expect(log()).toBe("");
  expect(new Set(statuses)).toEqual(new Set([200]));
}, 600_000);

test("[DS83] [DS130] however long Postgres takes over the JSON of a row, tables verify waits for it, and names the row", async () => {
  const { rows, different, extra, notes } = await verifyTable(pool, tenant, model);
  expect({ rows, different, extra }).toEqual({ rows: ORDINARY + UNREADABLE.length, different: 0, extra: 0 });
  for (const id of UNREADABLE) expect(notes.some((note) => note.startsWith(`"${id}": `))).toBe(true);
}, 600_000);
