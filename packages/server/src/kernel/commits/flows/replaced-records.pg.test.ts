import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "../../../testing/app.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { type SourceService, startSourceService } from "../../../testing/source-service.ts";

// A commit that deletes a record and creates it again, wherever the record is and however the commit is sent.

const status = { type: "enum", values: ["draft", "sent", "paid"], transitions: { draft: ["sent"] } } as const;
const FIELDS = {
  status: { ...status, nullable: true },
  code: { type: "string", nullable: true, readonlyAfterCreate: true },
  note: { type: "string", nullable: true },
} as const;
const OWN = { ...FIELDS, secret: { type: "string", nullable: true, writableBy: ["$createdBy"] } } as const;

let service: SourceService;
const apps = new Map<string, App>();
beforeAll(async () => {
  service = await startSourceService();
  const own = await startApp({ datasourcesAllowPrivate: true });
  const source = await own.call("POST", "/v1/datasources", {
    json: { connection: "endpoint", endpoint: service.url, signingKey: service.signingKey },
  });
  const models = { bill: { fields: FIELDS, source: source.body.id }, deed: { fields: OWN, source: source.body.id } };
  const pushed = await own.call("POST", "/v1/schema", { json: { models, force: true } });
  expect(pushed.status, pushed.text).toBe(201);
  apps.set("behind an endpoint", own);

  const hosted = await startApp();
  const plain = { bill: { fields: FIELDS }, deed: { fields: OWN } };
  expect((await hosted.call("POST", "/v1/schema", { json: { models: plain, force: true } })).status).toBe(201);
  apps.set("hosted", hosted);

  const tables = await startWithTables();
  await tables.db.query(`create table public.bill (id text primary key, status text, code text, note text);
    create table public.deed (id text primary key, status text, code text, note text, secret text)`);
  await tables.attach("public.bill", FIELDS as never);
  await tables.attach("public.deed", OWN as never);
  apps.set("in a table", tables.app);
});
afterAll(() => service.close());

let made = 0;
const OPERATIONS = ["bill.*", "deed.*"];

describe.each(["hosted", "in a table", "behind an endpoint"])("a record %s", (place) => {
  const tokens: Record<string, string> = {};
  let app: App;
  beforeAll(async () => {
    app = apps.get(place) as App;
    for (const participantId of ["ann", "ben"])
      tokens[participantId] = (await app.capability({ participantId, operations: OPERATIONS, wideScope: true })).token;
  });

  const commit = (by: string, operations: readonly object[]) =>
    app.call("POST", "/v1/commits", { token: tokens[by] ?? null, json: { operations } });
  const bulk = async (by: string, operations: readonly object[]) => {
    const json = { commits: [{ clientTxId: `bulk_${made++}`, operations }] };
    const { body } = await app.call("POST", "/v1/commits/bulk", { token: tokens[by] ?? null, json });
    const [item] = body.data as { httpStatus: number; error?: object }[];
    return { status: item?.httpStatus, body: item?.error ?? item };
  };
  /** The record as Ann made it, replaced by `by` with other values. */
  const replace = async (
    model: string,
    [before, after]: readonly [object, object],
    { by = "ann", send = commit }: { by?: string; send?: typeof commit | typeof bulk } = {},
  ) => {
    const id = `r${made++}`;
    expect((await commit("ann", [{ action: "create", model, id, data: before }])).status).toBe(200);
    const answer = await send(by, [
      { action: "delete", model, id },
      { action: "create", model, id, data: after },
    ]);
    const { body } = await app.call("GET", `/v1/models/${model}/${id}`);
    return { status: answer.status, rule: (answer.body as { rule?: string }).rule, data: body.data };
  };

  test.each([
    ["a commit", { send: commit }],
    ["a bulk", { send: bulk }],
  ] as const)("[C24] [C34] keeps its rules when it is replaced, by %s", async (_, how) => {
    const jump = await replace("bill", [{ status: "draft" }, { status: "paid" }], how);
    expect(jump).toMatchObject({ status: 400, rule: "transitions", data: { status: "draft" } });
    const left = await replace("bill", [{ status: "draft" }, { note: "n" }], how);
    expect(left).toMatchObject({ status: 400, rule: "transitions", data: { status: "draft" } });
    const fixed = await replace("bill", [{ code: "a" }, { code: "b" }], how);
    expect(fixed).toMatchObject({ status: 400, rule: "readonlyAfterCreate", data: { code: "a" } });
    const gone = await replace("bill", [{ code: "a" }, {}], how);
    expect(gone).toMatchObject({ status: 400, rule: "readonlyAfterCreate", data: { code: "a" } });
    const taken = await replace("deed", [{ secret: "s" }, { secret: "t" }], { ...how, by: "ben" });
    expect(taken).toMatchObject({ status: 400, rule: "writableBy", data: { secret: "s" } });
    const owned = await replace("deed", [{ secret: "s" }, { secret: "s" }], { ...how, by: "ben" });
    expect(owned).toMatchObject({ status: 400, rule: "writableBy", data: { secret: "s" } });
  });

  test.each([
    ["a commit", commit],
    ["a bulk", bulk],
  ] as const)("[C20] [A11] keeps its rules and its claims in updates, by %s", async (_, send) => {
    const [bill, deed] = [`b${made++}`, `d${made++}`];
    await commit("ann", [
      { action: "create", model: "bill", id: bill, data: { status: "draft", code: "a" } },
      { action: "create", model: "deed", id: deed, data: { secret: "s" } },
    ]);
    const update = (by: string, model: string, id: string, data: object) =>
      send(by, [{ action: "update", model, id, data }]);
    expect((await update("ann", "bill", bill, { status: "paid" })).body).toMatchObject({ rule: "transitions" });
    expect((await update("ann", "bill", bill, { code: "b" })).body).toMatchObject({ rule: "readonlyAfterCreate" });
    expect((await update("ben", "deed", deed, { secret: "t" })).body).toMatchObject({ rule: "writableBy" });
    await app.call("POST", `/v1/models/bill/${bill}/claim`, { token: tokens.ann ?? null, json: {} });
    expect((await update("ben", "bill", bill, { note: "n" })).body).toMatchObject({ code: "claim_conflict" });
    const replaced = await send("ben", [
      { action: "delete", model: "bill", id: bill },
      { action: "create", model: "bill", id: bill, data: { status: "draft", code: "a" } },
    ]);
    expect(replaced.body).toMatchObject({ code: "claim_conflict" });
  });

  test("[C24] can be replaced where every rule allows the new values", async () => {
    const kept = await replace("bill", [
      { status: "draft", code: "a" },
      { status: "sent", code: "a", note: "n" },
    ]);
    expect(kept).toMatchObject({ status: 200, data: { status: "sent", code: "a", note: "n" } });
    const own = await replace("deed", [{ secret: "s" }, { secret: "t" }]);
    expect(own).toMatchObject({ status: 200, data: { secret: "t" } });
  });
});

test("[M28] [M48] [C24] a record that its commit creates again is not gone: nothing cascades", async () => {
  const app = apps.get("hosted") as App;
  const text = { type: "string", nullable: true } as const;
  const models = {
    album: { fields: { name: text } },
    song: { fields: { albumId: { ...text, references: "album", onDelete: "cascade" } } },
    sale: { fields: { albumId: { ...text, references: "album", onDelete: "restrict" } } },
  };
  expect((await app.call("POST", "/v1/schema", { json: { models, force: true } })).status).toBe(201);
  const create = (model: string, id: string, data: object) => ({ action: "create", model, id, data });
  const commit = (operations: readonly object[]) => app.call("POST", "/v1/commits", { json: { operations } });
  await commit([
    create("album", "a", { name: "One" }),
    create("song", "s", { albumId: "a" }),
    create("sale", "t", { albumId: "a" }),
  ]);
  const replaced = await commit([{ action: "delete", model: "album", id: "a" }, create("album", "a", { name: "Two" })]);
  expect(replaced.status, replaced.text).toBe(200);
  expect((await app.call("GET", "/v1/models/song/s")).status).toBe(200);
});
