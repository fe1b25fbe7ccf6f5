import { expect, test } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { startApp } from "../testing/app.ts";
import { someAtATime } from "../testing/some-at-a-time.ts";
import { follow } from "../testing/stream/stream.ts";

/* Names that every object of JavaScript has, as names of models, fields, ids, groups, presence keys and claimed fields. */

const names = Object.getOwnPropertyNames(Object.prototype);
const declarable = names.filter((name) => /^[A-Za-z]/.test(name));
const app = await startApp();
const { call, keys, url } = app;
const fields = Object.fromEntries(declarable.map((name) => [name, { type: "string", nullable: true }]));
const models = Object.fromEntries(
  declarable.map((name) => [
    name,
    { fields: { ...fields, n: { type: "number" }, l: { type: "array" } }, groups: [{ kind: "deck", from: name }] },
  ]),
);
const inUpper = (name: string) => name.toUpperCase();

test("[H15] a model without a declaration is not found under any of these names, and a field is unknown", async () => {
  await someAtATime(names, async (name) => {
    const ask = async (method: string, path: string, json?: object) =>
      (await call(method, path, json && { json })).status;
    expect(await ask("GET", `/v1/models/${name}`), name).toBe(404);
    expect(await ask("GET", `/v1/models/${name}/a`)).toBe(404);
    expect(await ask("POST", `/v1/models/${name}`, { id: "a", data: {} })).toBe(404);
    expect(await ask("POST", `/v1/models/slide`, { id: "a", data: JSON.parse(`{"${name}":1}`) })).toBe(400);
    expect(await ask("GET", `/v1/models/slide?order_by=${name}`)).toBe(400);
    expect(await ask("GET", `/v1/models/slide?filter[${name}]=1`)).toBe(400);
    expect(await ask("GET", `/v1/models/slide?${name}=1`)).toBe(400);
    for (const model of [name, inUpper(name)]) {
      const operations = [{ action: "delete", model, id: "a" }];
      expect(await ask("POST", "/v1/commits", { operations })).toBe(400);
      expect(await ask("POST", "/v1/claims", { target: { model, id: "a" } })).toBe(400);
    }
    // No body may have this key.
    if (name === "__proto__") return;
    const narrowed = (where: string) => ask("GET", `/v1/snapshot?where=${encodeURIComponent(where)}`);
    expect(await narrowed(`{"slide":{"${name}":"a"}}`), name).toBe(await narrowed('{"slide":{"unknown":"a"}}'));
    expect(await narrowed(`{"${name}":{"id":"a"}}`), name).toBe(await narrowed('{"unknown":{"id":"a"}}'));
  });
});

test("[H15] models, fields, ids and groups of these names are as any other", async () => {
  const before = (await call("GET", "/v1/schema")).body as { models: object };
  const pushed = await call("POST", "/v1/schema", { json: { models: { ...before.models, ...models } } });
  expect(pushed.status, pushed.text).toBe(201);
  await someAtATime(declarable, async (model) => {
    const path = `/v1/models/${inUpper(model)}`;
    for (const id of names) {
      const data = Object.fromEntries(declarable.filter((name) => name !== id).map((name) => [name, id]));
      const made = await call("POST", path, { json: { id, data } });
      expect(made.status, made.text).toBe(200);
      const read = await call("GET", `${path}/${id}`);
      expect(read.body.data).toEqual({ id, ...data });
      const base = Number(made.body.lastSyncId);
      // Each of these fields is written by one, and then by another that has not seen it.
      const change = await call("PATCH", `${path}/${id}`, {
        json: { data: { [model]: "new" }, changes: { n: { increment: 1 }, l: { add: [id] } }, readAt: base },
      });
      expect(change.status, change.text).toBe(200);
      const stale = await call("PATCH", `${path}/${id}`, { json: { data: { [model]: "other" }, readAt: base } });
      expect(stale.status).toBe(409);
      const history = await call("GET", `${path}/${id}/history`);
      expect(history.body.data as unknown[]).toHaveLength(2);
    }
    const all = await call("GET", `${path}?order_by=${model}&order=desc&filter[${model}]=new`);
    expect((all.body.data as { id: string }[]).map(({ id }) => id).sort()).toEqual([...names].sort());
    const none = await call("GET", `${path}?filter[${model}][null]=true`);
    expect(none.body.data).toEqual([]);
    const [id] = names;
    const claimed = await call("POST", `${path}/${id}/claim`, { json: { field: model } });
    expect(claimed.status, claimed.text).toBe(201);
    for (const archived of names) expect((await call("POST", `${path}/${archived}/archive`)).status).toBeLessThan(410);
    const listed = await call("GET", `${path}?state=archived`);
    const ids = (listed.body.data as { id: string }[]).map((row) => row.id);
    const times = Object.keys(listed.body.archived as object);
    expect(times.sort()).toEqual(ids.sort());
  });
  const snapshot = await call("GET", `/v1/snapshot?${declarable.map((name) => `model=${name}`).join("&")}`);
  expect(snapshot.text.trimEnd().split("\n")).toHaveLength(declarable.length * names.length + 2);
});

test("[H15] a room and a state of these names reach the others", async () => {
  const ann = await follow(url, keys.live);
  for (const name of names.filter((one) => one !== "__proto__")) {
    const room = `deck:${name}`;
    ann.send({ frame: "presence", room, state: { [name]: name } });
    await until(() =>
      expect(JSON.stringify(ann.frames.filter((told) => told.frame === "presence" && told.room === room))).toContain(
        `{"${name}":"${name}"}`,
      ),
    );
  }
  ann.socket.close();
});
