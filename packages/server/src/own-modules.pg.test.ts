import { request } from "node:http";
import { join } from "node:path";
import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { root } from "../../../scripts/root.mjs";
import { until } from "../../../scripts/testing/until.ts";
import { loadModules } from "./load-modules.ts";
import type { ServerModule } from "./server-module.ts";
import { ADMIN, startApp } from "./testing/app.ts";
import { startSourceService } from "./testing/source-service.ts";

process.env.COMMITS_PER_DAY = "5";
const [example] = await loadModules(["./examples/module/count-commits.mjs"], root);
if (!example) throw new Error("The example was not loaded.");

/** Refuses what is written to one record, and fails for others. */
const strict: ServerModule = {
  name: "strict",
  rounds: {
    load: (_, { commits }) =>
      commits.some(({ operations }) => operations.some(({ id }) => id === "endless"))
        ? new Promise(() => {})
        : Promise.resolve(undefined),
    judge(_, { operations }) {
      if (operations.some(({ id }) => id === "later")) return Promise.resolve(undefined) as never;
      if (operations.some(({ id }) => id === "broken")) throw new Error("The module has a defect.");
      const isWrong = operations.some(({ model, id }) => model === "slide" && id === "wrong");
      return isWrong ? { code: "rule_broken", message: "Not this one.", param: "id" } : undefined;
    },
  },
  routes: [
    { method: "GET", path: "/secret", audience: "secret_key", handle: async () => ({ body: { secret: true } }) },
    {
      method: "POST",
      path: "/echo/:name",
      handle: async ({ params, query, body }) =>
        params.name === "no"
          ? { refusal: { code: "record_not_found", message: "There is none.", param: "name" } }
          : { status: 201, body: { params, query: Object.fromEntries(query), body } },
    },
    { method: "GET", path: "/status", handle: async () => ({ status: 199, body: {} }) },
    {
      method: "GET",
      path: "/defect",
      async handle() {
        throw new Error("The module has a defect.");
      },
    },
  ],
};

const app = await startApp({ modules: [example, strict], datasourcesAllowPrivate: true });
const { call, keys } = app;
const second = await app.another();
const slides = "/v1/models/slide";
const TODAY = "/v1/x/count-commits/today";

const create = (id: string, token = keys.live, ask = call) =>
  ask("POST", slides, { token, key: `k-${id}`, json: { id, data: {} } });
/** `call` accepts no 500. */
async function defect(method: string, path: string, token: string, json?: object) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(app.url + path, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  return [answer.status, ((await answer.json()) as { code: string }).code];
}
const counted = async (token = keys.live) => (await call("GET", TODAY, { token })).body.commits;

test("[OM1] the example counts the commits of each participant and tenant, in two processes, and refuses above its limit", async () => {
  const ann = await app.agent("ann");
  expect(await counted(ann)).toBe(0);
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, i) => create(`ann-${i}`, ann, i % 2 === 0 ? call : second.call)),
  );
  const refused = made.filter(({ body }) => body.success !== true);
  expect(refused.map(({ status, body }) => [status, body.code, body.message])).toEqual(
    Array.from({ length: 3 }, () => [400, "rule_broken", "agent:ann has made its 5 commits of today."]),
  );
  expect(await counted(ann)).toBe(5);
  // Nothing of a refused commit is there, and others have counts of their own.
  const { body } = await call("GET", slides);
  expect((body.data as unknown[]).length).toBe(5);
  expect(await counted()).toBe(0);
  expect(await counted(keys.other)).toBe(0);
});

test("[OM1] a commit that is sent again is not counted again, and of a bulk each commit is", async () => {
  for (let i = 0; i < 2; i++) expect((await create("once", keys.test)).body.success).toBe(true);
  expect(await counted(keys.test)).toBe(1);
  const commits = ["a", "b", "c", "d", "e", "f"].map((id) => ({
    clientTxId: `bulk-${id}`,
    operations: [{ action: "create", model: "slide", id: `bulk-${id}`, data: {}, onStale: "notify" }],
  }));
  const { body } = await call("POST", "/v1/commits/bulk", { token: keys.test, json: { commits } });
  const statuses = (body.data as { httpStatus: number }[]).map(({ httpStatus }) => httpStatus);
  expect(statuses).toEqual([200, 200, 200, 200, 400, 400]);
  expect(await counted(keys.test)).toBe(5);
});

test("[OM2] what a module refuses is an error of the API, and a defect of it fails its commit alone", async () => {
  const token = keys.other;
  const wrong = await create("wrong", token);
  expect([wrong.status, wrong.body.code, wrong.body.param]).toEqual([400, "rule_broken", "id"]);
  const ids = ["broken", "later", "endless"];
  const broken = await Promise.all(ids.map((id) => defect("POST", slides, token, { id, data: {} })));
  expect(broken).toEqual(ids.map(() => [500, "internal_error"]));
  const [again, ...fine] = await Promise.all([
    defect("POST", slides, token, { id: "broken", data: {} }),
    ...["f1", "f2", "f3"].map((id) => create(id, token)),
  ]);
  expect(again).toEqual([500, "internal_error"]);
  expect(fine.map(({ body }) => body.success)).toEqual([true, true, true]);
});

test("[OM3] routes of modules have tokens, parameters, bodies and errors like all others", async () => {
  const echo = "/v1/x/strict/echo";
  const sent = await call("POST", `${echo}/a?b=c`, { json: { d: [1] } });
  expect([sent.status, sent.body]).toEqual([201, { params: { name: "a" }, query: { b: "c" }, body: { d: [1] } }]);
  const none = await call("POST", `${echo}/no`, { json: {} });
  expect([none.status, none.body.code, none.body.param]).toEqual([404, "record_not_found", "name"]);
  expect((await call("POST", `${echo}/a`, { token: null, json: {} })).body.code).toBe("auth_no_credentials");
  expect((await call("POST", `${echo}/a`, { bytes: "{" })).body.code).toBe("invalid_json");
  const agent = await app.agent("bot");
  expect((await call("GET", "/v1/x/strict/secret", { token: agent })).body.code).toBe("secret_key_required");
  expect((await call("GET", "/v1/x/strict/secret")).body).toEqual({ secret: true });
  expect(await defect("GET", "/v1/x/strict/defect", keys.live)).toEqual([500, "internal_error"]);
  expect(await defect("GET", "/v1/x/strict/status", keys.live)).toEqual([500, "internal_error"]);
  expect((await call("GET", "/v1/x/strict/other")).body.code).toBe("route_not_found");
  expect((await call("POST", `${echo}/a`, { json: { d: "x".repeat(limits.bodyBytes) } })).body.code).toBe(
    "request_too_large",
  );
});

test("[OM3] a token that was revoked while its body was on its way is refused", async () => {
  const { id, token } = await app.newKey();
  const body = JSON.stringify({ a: 1 });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const sent = request(`${app.url}/v1/x/strict/echo/a`, { method: "POST", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on("error", reject);
    sent.write(body.slice(0, 3));
    setTimeout(async () => {
      await call("DELETE", `/v1/secret_keys/${id}`, { token: ADMIN });
      sent.end(body.slice(3));
    }, 1_200);
  });
  expect(await answered).toBe(401);
});

test("[OM1] commits are counted too in a tenant with an endpoint datasource, wherever their records are", async () => {
  const service = await startSourceService();
  const { token } = await app.newOrganization();
  const { body } = await call("POST", "/v1/datasources", {
    token,
    json: { connection: "endpoint", endpoint: service.url, signingKey: service.signingKey },
  });
  const text = { fields: { title: { type: "string" } } };
  const models = { plain: text, thing: { ...text, source: body.id } };
  expect((await call("POST", "/v1/schema", { token, json: { models } })).status).toBe(201);
  for (const [model, id] of [
    ["plain", "a"],
    ["thing", "b"],
  ])
    expect((await call("POST", `/v1/models/${model}`, { token, json: { id, data: {} } })).body.success).toBe(true);
  expect((await call("GET", TODAY, { token })).body.commits).toBe(2);
  await service.close();
});

test("[OM4] a server that does not start because of a module leaves no connection open", async () => {
  const connections = async () =>
    (await app.sql("select from pg_stat_activity where datname = current_database() and application_name <> 'test'"))
      .length;
  const before = await connections();
  const wrong = [{ name: "a", open: () => Promise.reject(new Error("no tables")) }];
  for (let i = 0; i < 3; i++) await expect(app.another({ modules: wrong })).rejects.toThrow("no tables");
  await until(async () => expect(await connections()).toBeLessThanOrEqual(before));
});

const route = { method: "GET", path: "/a", handle: async () => ({ body: {} }) };

test.each([
  [[{ name: "Strict" }], /lower-case letters/],
  [[{ name: "../x" }], /lower-case letters/],
  [[strict, strict], /The module "strict" is there twice/],
  [[{ name: "a", open: () => Promise.reject(new Error("no tables")) }], /The module "a" cannot be opened: no tables/],
  [[{ name: "a", round: {} }], /a member "round"/],
  [[{ name: "a", rounds: {} }], /without a function `load`/],
  [[{ name: "a", routes: [{ ...route, method: "get" }] }], /its method is none of/],
  [[{ name: "a", routes: [{ ...route, path: "a" }] }], /paths begin with "\/"/],
  [[{ name: "a", routes: [{ ...route, audience: "secretkey" }] }], /its audience/],
  [[{ name: "a", routes: [route, route] }], /\/a twice/],
] as unknown as [ServerModule[], RegExp][])(
  "[OM4] a server with modules %j does not start, and says why",
  async (modules, why) => {
    await expect(app.another({ modules })).rejects.toThrow(why);
  },
);

test("[OM4] a module that cannot be loaded is named with the reason", async () => {
  await expect(loadModules(["./none.mjs"], root)).rejects.toThrow(/HOLDFAST_MODULES: "\.\/none\.mjs" cannot be loaded/);
  await expect(loadModules(["none-such"], root)).rejects.toThrow(/"none-such" cannot be loaded/);
  await expect(loadModules([join(root, "scripts/root.mjs")], root)).rejects.toThrow(/no module as its default export/);
});
