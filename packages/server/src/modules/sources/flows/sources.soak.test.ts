import type { SourceCall } from "@holdfast/sdk/protocol";
import { afterAll, beforeEach, expect, test } from "vitest";
import { SeededRandom } from "../../../../../../qa/support/seeded-random.ts";
import { until } from "../../../../../../scripts/testing/until.ts";
import { newMasterKey } from "../../../server.ts";
import { anotherDatabase } from "../../../testing/another-database.ts";
import { type Answer, startApp } from "../../../testing/app.ts";
import { newSigningKey, type SourceService, startSourceService } from "../../../testing/source-service.ts";
import { wholeLog } from "../../../testing/whole-log.ts";
import { builtInHooks } from "../../open-modules.ts";
import { openTableTools } from "../../tables/flows/table-tools.ts";
import type { DerivedTable } from "../../tables/rules/derive-models.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const { call, keys } = app;
let service: SourceService;
const opened: SourceService[] = [];
afterAll(() => Promise.all(opened.map((one) => one.close())));

const FIELDS = {
  title: { type: "string" },
  notes: { type: "string", nullable: true },
  more: { type: "json", nullable: true },
} as const;
let source = "";
let model = "";
let made = 0;

const models = new Map<string, object>();
const pushModels = (token = keys.live) =>
  call("POST", "/v1/schema", { token, json: { models: Object.fromEntries(models), force: true } });

/** Each test has a service and a model of its own. */
beforeEach(async () => {
  for (const { id } of (await listed()).filter(({ connection }) => connection === "endpoint")) {
    for (const [name, declared] of models) if ((declared as { source?: string }).source === id) models.delete(name);
    models.set("plain", { fields: FIELDS });
    await pushModels();
    await call("DELETE", `/v1/datasources/${id}`);
  }
  service = await startSourceService();
  opened.push(service);
  const registered = await register();
  expect(registered.status, registered.text).toBe(201);
  source = String(registered.body.id);
  model = `thing${++made}`;
  models.set("plain", { fields: FIELDS });
  models.set(model, { fields: FIELDS, source });
  const pushed = await pushModels();
  expect(pushed.status, pushed.text).toBe(201);
});

interface Listed {
  readonly id: string;
  readonly connection: string;
  readonly status: string;
  readonly last_error?: string;
}
const listed = async (token = keys.live) =>
  (await call("GET", "/v1/datasources", { token })).body.data as readonly Listed[];
const register = (more: object = {}, token = keys.live): Promise<Answer> =>
  call("POST", "/v1/datasources", {
    token,
    json: { connection: "endpoint", endpoint: service.url, signingKey: service.signingKey, ...more },
  });
const create = (id: string, data: object, key?: string) =>
  call("POST", `/v1/models/${model}`, { json: { id, data }, ...(key !== undefined && { key }) });
const update = (id: string, data: object, more: object = {}) =>
  call("PATCH", `/v1/models/${model}/${id}`, { json: { data, ...more } });
const read = async (id: string) => (await call("GET", `/v1/models/${model}/${id}`)).body.data;
const open = async () => await app.sql("select id from holdfast.intent");

test("[DS29] a commit happens at the source first, then in the log", async () => {
  expect((await create("a", { title: "one" })).status).toBe(200);
  expect(service.rows.get(`${model}/a`)).toEqual({ title: "one" });
  expect((await update("a", { title: "two" })).body).toMatchObject({ success: true, ops: 1 });
  expect(await read("a")).toMatchObject({ title: "two" });
  expect((await call("DELETE", `/v1/models/${model}/a`)).status).toBe(200);
  expect(service.rows.size).toBe(0);
  const log = (await wholeLog(call)).filter((entry) => entry.model === model);
  expect(log.map(({ verb }) => verb)).toEqual(["created", "updated", "deleted"]);
  expect(service.done.map(({ operations }) => operations)).toEqual([
    [{ action: "create", model, id: "a", data: { title: "one" } }],
    [{ action: "update", model, id: "a", data: { title: "two" } }],
    [{ action: "delete", model, id: "a" }],
  ]);
  expect(await open()).toEqual([]);
});

test("[DS29] [DS159] what a source refuses has not happened, uses no position, and may be tried again", async () => {
  service.put(model, "taken", { title: "theirs" });
  await create("b", { title: "x" });
  const before = (await wholeLog(call)).at(-1)?.syncId ?? 0;
  service.rows.delete(`${model}/b`);
  const refused = await update("b", { title: "y" }, { idempotencyKey: "again" });
  expect([refused.status, refused.body.code, refused.body.message]).toEqual([
    409,
    "source_refused",
    "update is not possible",
  ]);
  expect(refused.body.source).toEqual({ code: "wrong_state" });
  service.rows.set(`${model}/b`, { title: "x" });
  expect((await update("b", { title: "y" }, { idempotencyKey: "again" })).status).toBe(200);
  const log = (await wholeLog(call)).filter(({ syncId, id }) => syncId > before && id === "b");
  expect(log.map(({ syncId, verb, data }) => ({ syncId, verb, data }))).toMatchObject([
    { syncId: before + 1, verb: "updated", data: { title: "y" } },
  ]);
});

test("[DS30] [DS171] no answer is an unknown outcome: the commit is finished by asking again, once", async () => {
  let lost = 1;
  service.after = () => {
    if (lost-- > 0) throw new Error("the answer is lost");
  };
  const first = await create("c", { title: "one" }, "key-c");
  expect([first.status, first.body.code]).toEqual([503, "source_unavailable"]);
  expect(await open()).toHaveLength(1);
  expect((await read("c")) as unknown).toBeUndefined();
  // A process that has no answer asks again soon.
  await until(async () => (await open()).length === 0);
  expect(await read("c")).toMatchObject({ title: "one" });
  const again = await create("c", { title: "one" }, "key-c");
  expect([again.status, again.headers["idempotent-replayed"]]).toEqual([200, "true"]);
  expect(service.done.filter(({ operations }) => operations[0]?.id === "c")).toHaveLength(2);
  expect((await wholeLog(call)).filter((entry) => entry.model === model)).toHaveLength(1);
});

test("[DS30] [DS171] [DS161] while a commit is on its way, its records wait, other records do not, and the same key is not done twice", async () => {
  await create("d", { title: "0" });
  await create("e", { title: "0" });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  service.before = ({ operations }) => (operations[0]?.data?.title === "slow" ? held : undefined);
  const slow = update("d", { title: "slow" }, { idempotencyKey: "slow" });
  await until(async () => (await open()).length === 1);
  const other = await app.another();
  let next: Answer | undefined;
  const waiting = update("d", { title: "next" }).then((answer) => {
    next = answer;
  });
  const elsewhere = other.call("PATCH", `/v1/models/${model}/d`, {
    json: { data: { title: "slow" }, idempotencyKey: "slow" },
  });
  expect((await update("e", { title: "quick" })).status).toBe(200);
  expect((await call("POST", "/v1/models/plain", { json: { id: `p${model}`, data: { title: "p" } } })).status).toBe(
    200,
  );
  expect(next).toBeUndefined();
  release();
  expect((await slow).status).toBe(200);
  await waiting;
  expect(next?.status).toBe(200);
  expect((await elsewhere).headers["idempotent-replayed"]).toBe("true");
  expect(await read("d")).toMatchObject({ title: "next" });
  expect(service.rows.get(`${model}/d`)).toMatchObject({ title: "next" });
});

test("[DS31] what the service's own code writes comes into the log, and what was there before is read", async () => {
  const late = `${model}late`;
  for (let n = 0; n < 250; n++) service.put(late, `r${n}`, { title: String(n) });
  models.set(late, { fields: FIELDS, source });
  expect((await pushModels()).status).toBe(201);
  const count = async () => (await wholeLog(call)).filter((entry) => entry.model === late).length;
  await until(async () => (await count()) === 250);
  await create("f", { title: "one" });
  service.put(model, "f", { title: "theirs" });
  service.put(model, "g", { title: "new", notes: "n" });
  await until(async () => ((await read("f")) as { title?: string })?.title === "theirs");
  await until(async () => (await read("g")) !== undefined);
  service.put(model, "g", { title: "new" });
  await until(async () => ((await read("g")) as { notes?: string | null })?.notes === null);
  service.put(model, "g", null);
  await until(async () => (await call("GET", `/v1/models/${model}/g`)).status === 404);
  const log = (await wholeLog(call)).filter((entry) => entry.model === model && entry.id === "f");
  expect(log.length).toBeLessThanOrEqual(2);
});

test("[DS31] a write that read an older state than the source's own code has left is a conflict", async () => {
  const { body } = await create("h", { title: "one" });
  service.put(model, "h", { title: "theirs" });
  await until(async () => ((await read("h")) as { title?: string })?.title === "theirs");
  const stale = await update("h", { title: "mine" }, { readAt: body.lastSyncId, onStale: "reject" });
  expect([stale.status, stale.body.code]).toEqual([409, "stale_context"]);
});

/** The first answer to a `load` goes out when it is let go. */
function holdLoad() {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const loads = { count: 0, letGo };
  service.late = ({ type }) => (type === "load" && loads.count++ === 0 ? released : undefined);
  return loads;
}

test("[DS31] [DS162] what a source showed before it had a commit of ours does not undo that commit: it is asked again", async () => {
  await create("late", { title: "one" });
  const loads = holdLoad();
  service.put(model, "late", { title: "theirs" });
  await until(async () => loads.count > 0);
  expect((await update("late", { title: "ours" })).status).toBe(200);
  loads.letGo();
  await until(async () => loads.count > 1);
  service.put(model, "last", { title: "x" });
  await until(async () => (await read("last")) !== undefined);
  const log = (await wholeLog(call)).filter((entry) => entry.model === model && entry.id === "late");
  expect(log.map(({ data }) => data?.title)).toEqual(["one", "ours"]);
});

test("[DS31] what a source showed before the model changed is asked for again", async () => {
  const loads = holdLoad();
  service.put(model, "changed", { title: "t", notes: "n" });
  await until(async () => loads.count > 0);
  models.set(model, { fields: { title: FIELDS.title }, source });
  expect((await pushModels()).status).toBe(201);
  loads.letGo();
  await until(async () => (await read("changed")) !== undefined);
  expect(await read("changed")).toMatchObject({ title: "t" });
  expect((await wholeLog(call)).at(-1)).toMatchObject({ id: "changed", data: { title: "t" } });
  expect((await wholeLog(call)).at(-1)?.data).not.toHaveProperty("notes");
});

test("[DS32] a bulk: independent commits go together, and what builds on a refused one is blocked", async () => {
  const commits = Array.from({ length: 30 }, (_, n) => ({
    clientTxId: `bulk-${model}-${n}`,
    operations: [{ action: "create", model, id: `k${n}`, data: { title: "x" } }],
  }));
  const many = await call("POST", "/v1/commits/bulk", { json: { commits } });
  expect((many.body.data as { httpStatus: number }[]).map(({ httpStatus }) => httpStatus)).toEqual(
    commits.map(() => 200),
  );
  expect(service.calls.filter(({ type }) => type === "commit").length).toBeLessThan(15);
  service.rows.delete(`${model}/k0`);
  const chain = await call("POST", "/v1/commits/bulk", {
    json: {
      commits: [
        { clientTxId: `c1-${model}`, operations: [{ action: "update", model, id: "k0", data: { title: "y" } }] },
        { clientTxId: `c2-${model}`, operations: [{ action: "update", model, id: "k1", data: { title: "y" } }] },
        { clientTxId: `c3-${model}`, operations: [{ action: "update", model, id: "k0", data: { title: "z" } }] },
      ],
    },
  });
  expect(
    (chain.body.data as { httpStatus: number; code?: string }[]).map(({ httpStatus, code }) => code ?? httpStatus),
  ).toEqual(["source_refused", 200, "dependency_blocked"]);
});

test("[DS33] [DS165] [DS164] registration: keys of the kind, the address, the list, the key's rotation, and removal", async () => {
  const [mine] = (await listed()).filter(({ id }) => id === source);
  expect(mine).toMatchObject({ connection: "endpoint", status: "active", endpoint: service.url });
  expect(await listed(keys.test)).toContainEqual(expect.objectContaining({ id: source, livemode: true }));
  expect((await listed(keys.other)).map(({ id }) => id)).not.toContain(source);
  const refusals: [object, string, string][] = [
    [{ endpoint: undefined }, "missing_field", "endpoint"],
    [{ signingKey: undefined }, "missing_field", "signingKey"],
    [{ connectionString: "postgres://a@b/c" }, "unknown_field", "connectionString"],
    [{ signingKey: "whsec_abcdefghijklmnopqrstuvw!" }, "invalid_value", "signingKey"],
    [{ endpoint: "ftp://x" }, "invalid_url", "endpoint"],
    [{ endpoint: "http://127.0.0.1:5432/" }, "invalid_url", "endpoint"],
  ];
  for (const [more, code, param] of refusals) {
    const { status, body } = await register(more);
    expect([status, body.code, body.param]).toEqual([400, code, param]);
  }
  expect((await call("DELETE", `/v1/datasources/${source}`)).body.code).toBe("datasource_has_models");
  for (const token of [keys.test, keys.other])
    expect((await call("DELETE", `/v1/datasources/${source}`, { token })).status).toBe(404);
  service.signingKey = newSigningKey();
  await until(async () => (await listed()).find(({ id }) => id === source)?.status === "rejected");
  const rotated = await call("POST", `/v1/datasources/${source}/rotate_key`, {
    json: { signingKey: service.signingKey },
  });
  expect([rotated.status, rotated.body.key_last4]).toEqual([201, service.signingKey.slice(-4)]);
  expect(rotated.text).not.toContain(service.signingKey);
  await until(async () => (await listed()).find(({ id }) => id === source)?.status === "active");
  expect(JSON.stringify(await app.sql("select * from holdfast.source"))).not.toContain(service.signingKey);
});

test("[DS33] [DS165] a schema can name only a source of its own, for a model without records", async () => {
  const push = async (declared: object, token = keys.live) => {
    const { status, body } = await call("POST", "/v1/schema", {
      token,
      json: { models: { ...Object.fromEntries(models), ...declared } },
    });
    return status === 201 ? status : [body.code, body.param];
  };
  expect(await push({ other: { fields: FIELDS, source: "ds_nowhere" } })).toEqual([
    "invalid_schema",
    "models.other.source",
  ]);
  await call("POST", "/v1/models/plain", { json: { id: `q${model}`, data: { title: "p" } } });
  expect(await push({ plain: { fields: FIELDS, source } })).toEqual(["invalid_schema", "models.plain.source"]);
  const theirs = await call("POST", "/v1/schema", {
    token: keys.test,
    json: { models: { other: { fields: FIELDS, source } }, force: true },
  });
  expect([theirs.status, theirs.body.code]).toEqual([400, "invalid_schema"]);
});

test("[DS30] [DS31] [DS162] with lost calls, lost answers, two servers and the service's own writes, store, records and log agree", async () => {
  const other = await app.another();
  const chance = new SeededRandom(20_261_127);
  const random = (below: number) => chance.below(below);
  let isCalm = false;
  const lose = () => {
    if (!isCalm && random(4) === 0) throw new Error("lost");
  };
  service.before = lose;
  service.after = lose;
  const ids = ["r0", "r1", "r2", "r3"];
  for (const id of ids) service.put(model, id, { title: "0" });
  await until(async () => (await read("r3")) !== undefined);
  const acknowledged: string[] = [];
  const write = async (n: number) => {
    for (let i = 0; i < 12; i++) {
      const title = `${n}.${i}`;
      const to = random(2) === 0 ? call : other.call;
      const path = `/v1/models/${model}/${ids[random(4)]}`;
      const json = { data: { title }, idempotencyKey: `${model}-${title}` };
      for (let attempt = 0; attempt < 3; attempt++) {
        const { status } = await to("PATCH", path, { json });
        if (status === 503) continue;
        expect(status).toBe(200);
        acknowledged.push(title);
        break;
      }
      if (random(6) === 0) service.put(model, ids[random(4)] as string, { title: `own ${title}` });
    }
  };
  // So that the test need not wait as long as a user would.
  const asking = setInterval(() => void app.sql("update holdfast.intent set ask_at = now()").catch(() => {}), 200);
  await Promise.all(Array.from({ length: 6 }, (_, n) => write(n)));
  isCalm = true;
  await until(async () => (await open()).length === 0);
  clearInterval(asking);
  await until(async () => {
    for (const id of ids)
      if (((await read(id)) as { title?: string }).title !== service.rows.get(`${model}/${id}`)?.title) return false;
    return true;
  });
  const log = (await wholeLog(call)).filter((entry) => entry.model === model);
  const titles = log.map(({ data }) => String((data as { title?: string } | null)?.title));
  for (const title of acknowledged) expect([title, titles.filter((one) => one === title).length]).toEqual([title, 1]);
  for (const id of ids)
    expect(log.filter((entry) => entry.id === id).at(-1)?.data).toEqual({ id, ...service.rows.get(`${model}/${id}`) });
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(await app.sql("select key from holdfast.reservation")).toEqual([]);
});

/** What a service may answer instead, by name. */
const LIES: Record<string, (ids: readonly string[]) => { status?: number; body: string }> = {
  "an error": () => ({ status: 500, body: "{}" }),
  "a page": () => ({ body: "<html>It works!</html>" }),
  "a redirect": () => ({ status: 302, body: "" }),
  nothing: () => ({ body: "" }),
  "no results": () => ({ body: `{"results":[]}` }),
  "the result of another commit": () => ({ body: `{"results":[{"clientTxId":"int_other","status":"committed"}]}` }),
  "a status that there is not": ([id]) => ({ body: JSON.stringify({ results: [{ clientTxId: id, status: "ok" }] }) }),
  "a refusal without a message": ([id]) => ({
    body: JSON.stringify({ results: [{ clientTxId: id, status: "refused" }] }),
  }),
  "17 MiB": ([id]) => ({
    body: JSON.stringify({ results: [{ clientTxId: id, status: "refused", message: "x".repeat(17 * 2 ** 20) }] }),
  }),
};

test("[DS30] what is no answer leaves the outcome open, and stops nothing", async () => {
  await create("lied", { title: "0" });
  for (const [name, lie] of Object.entries(LIES)) {
    service.instead = (call) =>
      call.type === "commit" ? lie(call.commits.map(({ clientTxId }) => clientTxId)) : undefined;
    const key = `${model}-${name.replaceAll(" ", "-")}`;
    const asked = await update("lied", { title: name }, { idempotencyKey: key });
    expect([name, asked.status, asked.body.code]).toEqual([name, 503, "source_unavailable"]);
    service.instead = () => undefined;
    await app.sql("update holdfast.intent set ask_at = now()");
    await until(async () => (await open()).length === 0);
    expect((await update("lied", { title: name }, { idempotencyKey: key })).headers["idempotent-replayed"]).toBe(
      "true",
    );
  }
  const problems = (await listed()).find(({ id }) => id === source);
  expect(problems?.status).toBe("active");
});

test("[DS31] [DS163] records that cannot be ones of the model are left out, and the datasource says which", async () => {
  service.put(model, "good", { title: "x" });
  service.put(model, "wrong", { title: 7 });
  service.put(model, "no id", { title: "x" });
  service.put(model, "large", { title: "x".repeat(2 ** 21) });
  service.put("another", "x", { title: "x" });
  await until(async () => (await read("good")) !== undefined);
  await until(async () => (await listed()).find(({ id }) => id === source)?.last_error !== undefined);
  expect((await listed()).find(({ id }) => id === source)?.last_error).toMatch(/^thing\d+ (wrong|no id|large): ./);
  expect((await wholeLog(call)).filter((entry) => entry.model === model).map(({ id }) => id)).toEqual(["good"]);
  service.put(model, "wrong", { title: "right" });
  await until(async () => (await read("wrong")) !== undefined);
});

test("[DS31] [DS163] text and JSON that no record can have are left out, and stop neither lists nor what comes after", async () => {
  service.put(model, "half", { title: "a\ud800b" });
  service.put(model, "nul", { title: "a\0b" });
  service.put(model, "deep", { more: JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`) });
  service.put(model, "i\0d", { title: "x" });
  service.put(model, "good", { title: "back\\u0000slash" });
  await until(async () => (await read("good")) !== undefined);
  for (const id of ["half", "nul", "deep"])
    expect([id, (await call("GET", `/v1/models/${model}/${id}`)).status]).toEqual([id, 404]);
  for (const query of ["filter[title]=fine", "order_by=title"])
    expect((await call("GET", `/v1/models/${model}?${query}`)).status).toBe(200);
  expect(await read("good")).toMatchObject({ title: "back\\u0000slash" });
  expect((await create("mine", { title: "my \\u0000 too" })).status).toBe(200);
  service.put(model, "next", { title: "x" });
  await until(async () => (await read("next")) !== undefined);
  expect((await listed()).find(({ id }) => id === source)?.status).toBe("active");
});

test("[DS29] what a source says of a commit is shown as text, and what it shows of a deleted record waits for its event", async () => {
  await create("m", { title: "x" });
  const answering = (result: object) => (call: SourceCall) =>
    call.type === "commit"
      ? { body: JSON.stringify({ results: call.commits.map(({ clientTxId }) => ({ clientTxId, ...result })) }) }
      : undefined;
  service.instead = answering({ status: "refused", message: "no\0\ud800", code: "c\0", field: "" });
  const refused = await update("m", { title: "y" });
  expect([refused.status, refused.body.message, refused.body.source]).toEqual([
    409,
    "no\ufffd\ufffd",
    { code: "c\ufffd" },
  ]);
  expect(refused.body).not.toHaveProperty("param");
  const still = [{ model, id: "m", data: { title: "still here" } }];
  service.instead = answering({ status: "committed", records: still });
  expect((await call("DELETE", `/v1/models/${model}/m`)).status).toBe(200);
  expect((await call("GET", `/v1/models/${model}/m`)).status).toBe(404);
  expect(await open()).toEqual([]);
});

test("[DS31] a page with more records than were asked for is no answer", async () => {
  const record = (n: number) => ({ id: `r${n}`, data: {} });
  service.instead = ({ type }) =>
    type === "list"
      ? { body: JSON.stringify({ records: Array.from({ length: 101 }, (_, n) => record(n)), cursor: null }) }
      : undefined;
  models.set(`${model}more`, { fields: FIELDS, source });
  expect((await pushModels()).status).toBe(201);
  const lastError = async () => (await listed()).find(({ id }) => id === source)?.last_error;
  await until(async () => (await lastError()) !== undefined);
  expect(await lastError()).toMatch(/wrong shape.*records/);
  service.instead = () => undefined;
});

test("[DS31] the tenant that leaves its source is like any other: its attached tables check every write", async () => {
  await create("left", { title: "x" });
  models.set(model, { fields: FIELDS });
  expect((await pushModels()).status).toBe(201);
  expect((await call("DELETE", `/v1/datasources/${source}`)).status).toBe(200);
  await app.sql("create table public.checked (id text primary key, title text check (title <> 'no'))");
  const pool = app.pool();
  const tools = openTableTools(pool, { ...builtInHooks, schemaPushed: [] }, app.databaseUrl);
  const tenant = { organization: app.organization, livemode: true };
  try {
    const [derived] = await tools.inspect(["public.checked"]);
    await tools.attach(tenant, derived as Extract<DerivedTable, { model: unknown }>, {});
    const write = (id: string, title: string) => call("POST", "/v1/models/checked", { json: { id, data: { title } } });
    expect((await write("a", "yes")).status).toBe(200);
    expect((await write("b", "no")).body.code).toBe("source_refused");
    expect(await app.sql("select id from public.checked")).toEqual([{ id: "a" }]);
  } finally {
    await tools.detach(tenant, "checked", { drop: true });
  }
});

test("[DS31] a commit that never gets an answer keeps its own records from being read, and no others", async () => {
  await create("p1", { title: "0" });
  await create("p2", { title: "0" });
  service.before = ({ operations }) => {
    if (operations[0]?.data?.title === "poison") throw new Error("always");
  };
  expect((await update("p1", { title: "poison" })).status).toBe(503);
  service.put(model, "p1", { title: "own" });
  service.put(model, "p2", { title: "own" });
  const title = async (id: string) => ((await read(id)) as { title: string } | undefined)?.title;
  await until(async () => (await title("p2")) === "own");
  expect(await title("p1")).toBe("0");
  const again = async () =>
    JSON.stringify((await app.sql("select again from holdfast.source")).map((one) => one.again));
  await until(async () => (await again()) === JSON.stringify([[{ model, id: "p1" }]]));
  service.before = () => {};
  await app.sql("update holdfast.intent set ask_at = now()");
  await until(async () => (await title("p1")) === "poison");
  await until(async () => (await again()) === "[[]]");
  service.put(model, "p1", { title: "own again" });
  await until(async () => (await title("p1")) === "own again");
});

test("[DS33] [DS166] a datasource that is removed takes its open commits with it; the copies stay and are hosted", async () => {
  await create("kept", { title: "x" });
  service.after = () => {
    throw new Error("lost");
  };
  expect((await create("open", { title: "x" })).status).toBe(503);
  expect(await open()).toHaveLength(1);
  models.set(model, { fields: FIELDS });
  const busy = await call("POST", "/v1/schema", { json: { models: Object.fromEntries(models) } });
  expect([busy.status, busy.body.code]).toEqual([409, "schema_busy"]);
  expect((await pushModels()).status).toBe(201);
  expect((await call("DELETE", `/v1/datasources/${source}`)).status).toBe(200);
  expect([await open(), await app.sql("select key from holdfast.reservation")]).toEqual([[], []]);
  expect((await update("kept", { title: "y" })).status).toBe(200);
  expect((await create("open", { title: "x" })).status).toBe(200);
  expect((await listed()).map(({ id }) => id)).not.toContain(source);
});

test("[DS33] [DS167] sources move with their tenant, with the commits that are on their way", async () => {
  await create("m", { title: "one" });
  service.after = () => {
    throw new Error("lost");
  };
  expect((await update("m", { title: "two" }, { idempotencyKey: `${model}-moves` })).status).toBe(503);
  const theirs = await anotherDatabase(app);
  const made = await call("POST", "/v1/datasources", {
    json: { connection: "direct", connectionString: theirs.connectionString },
  });
  expect(made.status, made.text).toBe(201);
  const statusOf = async () => (await listed()).find(({ id }) => id === made.body.id)?.status;
  await until(async () => (await statusOf()) === "active");
  service.after = () => {};
  await theirs.sql("update holdfast.intent set ask_at = now()");
  // While requests find the tenant in its new place, some are 503.
  const title = async () => ((await read("m")) as { title: string } | undefined)?.title;
  await until(async () => (await title()) === "two");
  service.put(model, "m", { title: "theirs" });
  await until(async () => (await title()) === "theirs");
  expect((await listed()).find(({ id }) => id === source)?.status).toBe("active");
  expect((await call("DELETE", `/v1/datasources/${made.body.id}`)).status).toBe(200);
  await until(async () => (await statusOf()) === undefined);
  await until(async () => (await update("m", { title: "home" })).status === 200);
});

test("[DS33] after a change of the master key the older one is not needed any more", async () => {
  const newer = newMasterKey();
  await (await app.another({ masterKeys: [newer, ...app.masterKeys] })).server.close();
  const { call: later } = await app.another({ masterKeys: [newer] });
  const path = `/v1/models/${model}`;
  expect((await later("POST", path, { json: { id: "after", data: { title: "x" } } })).status).toBe(200);
});

test("[DS31] [DS32] bytes: records whose list and load would be larger than an answer may be are read in smaller numbers", async () => {
  const large = `${model}large`;
  const put = (title: string) => {
    for (let n = 0; n < 40; n++) service.put(large, `r${n}`, { title: title.repeat(900_000) });
  };
  put("x");
  models.set(large, { fields: FIELDS, source });
  expect((await pushModels()).status).toBe(201);
  const first = async () => {
    const rows = await app.sql(`select left(data ->> 'title', 1) as first from holdfast.record where model = $1`, [
      large,
    ]);
    return rows.map((row) => row.first).join("");
  };
  await until(async () => (await first()) === "x".repeat(40));
  put("y");
  await until(async () => (await first()) === "y".repeat(40));
}, 150_000);
