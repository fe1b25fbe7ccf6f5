import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const { call, capability, sql } = app;
const slides = "/v1/models/slide";
const refused = { code: "budget_spent" };

let made = 0;
const create = () => ({ action: "create", model: "slide", id: `s${++made}`, data: {} });
const agent = async (budget: object) =>
  await capability({ operations: ["slide.*"], wideScope: true, participantId: "writer", budget });
/** Sends one commit of so many new records. */
const write = (token: string, records = 1, more: object = {}, to = call) =>
  to("POST", "/v1/commits", { token, json: { operations: Array.from({ length: records }, create), ...more } });
const statuses = async (answers: readonly Promise<{ status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

test("[BU1] a commit beyond the budget is refused by every door, and writes nothing", async () => {
  const { token } = await agent({ commits: 2 });
  expect((await write(token)).status).toBe(200);
  expect((await call("POST", slides, { token, json: { id: "single", data: {} } })).status).toBe(200);
  const over = await write(token);
  expect(over).toMatchObject({ status: 429, body: refused });
  expect(over.body.message).toMatch(/may write 2 commits in all: 2 are written/);
  const ways = [
    () => call("POST", slides, { token, json: { id: "over", data: {} } }),
    () => call("PATCH", `${slides}/single`, { token, json: { data: { title: "x" } } }),
    () => call("POST", `${slides}/single/archive`, { token, json: {} }),
    () => call("DELETE", `${slides}/single`, { token }),
  ];
  for (const ask of ways) expect(await ask()).toMatchObject({ status: 429, body: refused });
  const commits = [create(), create()].map((operation, i) => ({ clientTxId: `over-${i}`, operations: [operation] }));
  const bulk = await call("POST", "/v1/commits/bulk", { token, json: { commits } });
  expect(bulk.body.data).toMatchObject([refused, refused]);
  expect((await call("GET", `${slides}/over`)).status).toBe(404);
  expect((await call("GET", `${slides}/single`)).body).toMatchObject({ archivedAt: null });
});

test("[BU1] records are counted by commit, and a commit that is too large leaves room for a smaller one", async () => {
  const { token } = await agent({ records: 5 });
  expect(await statuses([write(token, 6)])).toEqual([429]);
  expect(await statuses([write(token, 4)])).toEqual([200]);
  expect(await statuses([write(token, 2)])).toEqual([429]);
  expect(await statuses([write(token, 1)])).toEqual([200]);
  expect((await write(token)).body.message).toMatch(/may write 5 records in all: 5 are written, and this commit has 1/);
});

test("[BU2] with per run, each run has the budget, and commits without a run are one", async () => {
  const { token } = await agent({ commits: 1, per: "run" });
  for (const run of ["one", "two", undefined]) {
    expect((await write(token, 1, { run })).status).toBe(200);
    expect(await write(token, 1, { run })).toMatchObject({ status: 429, body: refused });
  }
});

test("[BU3] what does not land is not counted", async () => {
  const { token } = await agent({ commits: 2 });
  const body = { operations: [create()] };
  const first = await call("POST", "/v1/commits", { token, key: "once", json: body });
  expect((await call("POST", "/v1/commits", { token, key: "once", json: body })).text).toBe(first.text);
  const odd = { operations: [{ ...create(), data: { title: 7 } }] };
  expect((await call("POST", "/v1/commits", { token, json: odd })).status).toBe(400);
  const [{ id } = { id: "" }] = body.operations;
  await call("PATCH", `${slides}/${id}`, { json: { data: { title: "another" } } });
  const late = { data: { title: "late" }, readAt: 0, onStale: "reject" };
  expect((await call("PATCH", `${slides}/${id}`, { token, json: late })).status).toBe(409);
  expect(await statuses([write(token)])).toEqual([200]);
  expect(await statuses([write(token)])).toEqual([429]);
});

test("[BU3] commits at once, at two servers, are together no more than the budget", async () => {
  const other = await app.another();
  const { token } = await agent({ commits: 20 });
  const at = (i: number) => (i % 2 === 0 ? call : other.call);
  const answers = await statuses(Array.from({ length: 60 }, (_, i) => write(token, 1, {}, at(i))));
  expect(answers.filter((status) => status === 200).length).toBe(20);
  expect(answers.filter((status) => status === 429).length).toBe(40);
});

test("[BU3] a bulk of more commits than the budget has the first of them", async () => {
  const { token } = await agent({ commits: 3 });
  const commits = Array.from({ length: 5 }, (_, i) => ({ clientTxId: `bulk-${i}`, operations: [create()] }));
  const { body } = await call("POST", "/v1/commits/bulk", { token, json: { commits } });
  expect((body.data as { httpStatus?: number }[]).map(({ httpStatus }) => httpStatus ?? 200)).toEqual([
    ...[200, 200, 200],
    ...[429, 429],
  ]);
});

test("[BU4] a rotated token goes on in the same budget, twice", async () => {
  const budget = { commits: 3, records: 10, per: "token" };
  const { id, token } = await agent({ commits: 3, records: 10 });
  await write(token);
  const { body: second } = await call("POST", `/v1/capabilities/${id}/rotate`, { json: { graceSeconds: 60 } });
  const { body: third } = await call("POST", `/v1/capabilities/${second.id}/rotate`, { json: { graceSeconds: 60 } });
  expect((await write(String(second.token))).status).toBe(200);
  expect((await write(String(third.token))).status).toBe(200);
  for (const one of [token, second.token, third.token]) expect((await write(String(one))).status).toBe(429);
  expect(third.budget).toEqual(budget);
  expect((await call("GET", "/v1/identity", { token: String(third.token) })).body.budget).toEqual(budget);
  expect((await call("GET", `/v1/capabilities/${third.id}`)).body.budget).toEqual(budget);
  expect((await call("GET", "/v1/identity")).body.budget).toBe(null);
});

test.each([
  ["no commits", { commits: 0 }],
  ["half a commit", { commits: 1.5 }],
  ["another period", { commits: 1, per: "day" }],
  ["a chain of the caller's own", { commits: 1, chain: "cap_other" }],
])("[BU1] refuses a budget of %s", async (_, budget) => {
  const json = { operations: ["slide.*"], wideScope: true, budget };
  expect((await call("POST", "/v1/capabilities", { json })).status).toBe(400);
});

test("[BU5] nothing is noted of a token without a budget", async () => {
  const { token, id } = await capability({ operations: ["slide.*"], wideScope: true });
  for (let i = 0; i < 3; i++) await write(token);
  expect(await sql("select 1 from holdfast.spent_budget where token = $1", [id])).toEqual([]);
});
