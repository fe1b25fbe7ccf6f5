import { afterEach, expect, test } from "vitest";
import type { LogEntry } from "../protocol/log/log.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { declarableNames, objectNames } from "../testing/object-names.ts";
import { passing } from "../testing/start-client.ts";
import { createTestServer } from "../testing/test-server.ts";
import { reportedErrors } from "./testing/reported-errors.ts";
import { add, increment } from "./writes/changes.ts";
// Loaded lazily by the client; import it here so that no test has to wait for it.
import "./claims/collab.ts";

/* Names that every object has: of models in any case, fields, ids, groups, presence keys and claimed fields. */

const spellings = declarableNames.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()]);
const models = [...new Set(spellings)];

const reported = reportedErrors();
afterEach(() => expect(reported).toEqual([]));

test.each(models)("[Q49] a model %s that is not declared is unknown, and one that is works", async (name) => {
  const own = createTestServer({
    models: { slide: { fields: {} }, [name]: { fields: { title: { type: "string" } } } },
  });
  const plain = createTestServer({ models: { slide: { fields: {} } } });
  const without = plain.client();
  await without.client.ready();
  expect(without.client.models[name as "slide"]).toBeUndefined();
  expect(() => without.client.commit([{ action: "create", model: name as "slide", id: "a", data: {} }])).toThrow(
    /has no model/,
  );
  expect(() => without.client.follow({ models: [name as "slide"] })).toThrow();
  expect(() => without.client.follow({ where: { [name]: { id: "a" } } as never })).toThrow();
  const { client } = own.client();
  await client.ready();
  const api = client.models[name] as (typeof client.models)["slide"];
  expect(api.list()).toEqual([]);
  expect(api.get("a")).toBeUndefined();
  for (const id of objectNames) api.create({ title: id } as never, { id });
  await own.settle();
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(
    api
      .list()
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...objectNames].sort());
  expect(client.models.slide?.list()).toEqual([]);
  for (const id of objectNames) expect(api.get(id)).toEqual({ id, title: id });
  await client.close();
  await without.client.close();
});

test.each(objectNames)("[Q49] an entry of a model %s that the client does not know ends nothing", async (name) => {
  const own = createTestServer({ models: { slide: { fields: { title: { type: "string" } } } } });
  const { client, connection } = own.client();
  await client.ready();
  await own.settle();
  const entry = {
    object: "log_entry",
    syncId: 1,
    model: name,
    id: name,
    verb: "created",
    data: { id: name, [name]: name },
    clientTxId: name,
    writtenBy: "user:ben",
    at: "2030-01-01T00:00:00.000Z",
  } as unknown as LogEntry;
  connection.say({ frame: "entries", from: 0, to: 1, entries: [entry] });
  await own.settle();
  expect(client.models.slide.list()).toEqual([]);
  await client.close();
});

test.each(declarableNames)("[Q49] a field %s is absent until it is written, and then has its value", async (name) => {
  const schema: ModelSchema = {
    models: {
      slide: { fields: { [name]: { type: "string" }, title: { type: "string" } } },
      text: { fields: { [name]: { type: "string", merge: "text", nullable: true } } },
      count: { fields: { [name]: { type: "number" } } },
      tags: { fields: { [name]: { type: "array" } } },
      link: { fields: { [name]: { type: "string", references: "slide", inverse: `of${name}` } } },
      value: { fields: { [name]: { type: "enum", values: objectNames, default: name } } },
    },
  };
  const own = createTestServer(schema);
  const { client } = own.client();
  const ben = own.client({ actor: "ben" }).client;
  await client.ready();
  const { slide, text, count, tags, link, value } = client.models as Record<string, (typeof client.models)[string]>;
  slide?.create({ title: "without" }, { id: "a" });
  slide?.create({ [name]: "there" }, { id: "b" });
  text?.create({}, { id: "t" });
  count?.create({}, { id: "c" });
  tags?.create({}, { id: "g" });
  link?.create({ [name]: "b" }, { id: "l" });
  value?.create({}, { id: "v" });
  await own.settle();
  count?.update("c", { [name]: increment(2) } as never);
  tags?.update("g", { [name]: add(name) } as never);
  const undone = text?.update("t", { [name]: "one two" });
  await own.settle();
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(slide?.get("a")).toEqual({ id: "a", title: "without" });
  expect(slide?.list({ where: { [name]: null } })).toEqual([{ id: "a", title: "without" }]);
  expect(slide?.list({ where: { [name]: { not: "x" } } })).toHaveLength(2);
  expect(slide?.list({ orderBy: name }).map(({ id }) => id)).toEqual(["b", "a"]);
  expect(slide?.countBy(name)).toEqual(
    new Map([
      [null, 1],
      ["there", 1],
    ]),
  );
  expect(count?.get("c")).toEqual({ id: "c", [name]: 2 });
  expect(tags?.get("g")).toEqual({ id: "g", [name]: [name] });
  expect(value?.get("v")).toEqual({ id: "v", [name]: name });
  expect(link?.list({ include: { [name]: true } } as never)).toMatchObject([{ id: "l", [name]: { id: "b" } }]);
  expect(slide?.list({ include: { [`of${name}`]: true }, where: { id: "b" } } as never)).toMatchObject([
    { [`of${name}`]: [{ id: "l" }] },
  ]);
  expect(() => slide?.list({ where: { [`${name}x`]: 1 } })).toThrow(/has no field/);
  undone?.undo();
  await own.settle();
  expect(text?.get("t")?.[name] ?? null).toBeNull();

  // Both write the field that neither has seen: a conflict, whose base lacks it.
  await ben.ready();
  slide?.update("a", { [name]: "mine" });
  ben.models.slide?.update("a", { [name]: "theirs" });
  await own.settle();
  const [conflict] = [...client.conflicts(), ...ben.conflicts()];
  expect(conflict).toMatchObject({ id: "a", fields: [name] });
  expect(Object.hasOwn(conflict?.base ?? {}, name)).toBe(false);
  conflict?.keepMine();
  await own.settle();
  expect(client.conflicts()).toEqual([]);
  expect(client.status().attention).toBe(0);
  expect(slide?.get("a")?.[name]).toBe(ben.models.slide?.get("a")?.[name]);
  await client.close();
  await ben.close();
});

test.each(declarableNames)("[Q49] a field %s that is not declared is refused at the call", async (name) => {
  const own = createTestServer({ models: { slide: { fields: { title: { type: "string" } } } } });
  const { client } = own.client();
  await client.ready();
  const { slide } = client.models;
  expect(() => slide.create({ [name]: "x" } as never)).toThrow(/has no field/);
  expect(() => slide.list({ where: { [name]: "x" } as never })).toThrow(/has no field/);
  expect(() => slide.list({ orderBy: name as never })).toThrow(/has no field/);
  expect(() => slide.list({ include: { [name]: true } as never })).toThrow();
  expect(() => slide.countBy(name as never)).toThrow(/has no field/);
  expect(client.pending()).toEqual([]);
  await client.close();
});

test.each(objectNames)(
  "[Q49] a room of a group %s, and a presence state with that key, are what they say",
  async (name) => {
    const own = createTestServer({ models: { slide: { fields: { title: { type: "string" } } } } });
    const ann = own.client({ actor: "ann" });
    const ben = own.client({ actor: "ben" });
    await Promise.all([ann.client.ready(), ben.client.ready()]);
    const room = ann.client.presence(`deck:${name}`);
    const other = ben.client.presence(`deck:${name}`);
    const seen = room.subscribe(() => {});
    const otherSeen = other.subscribe(() => {});
    await own.settle();
    if (name === "__proto__") expect(() => other.set(JSON.parse('{"__proto__":1}'))).toThrow(/not allowed/);
    else {
      other.set({ [name]: 1 });
      await passing(own)(4);
      expect(room.peers().map(({ state }) => state)).toContainEqual({ [name]: 1 });
    }
    seen();
    otherSeen();
    await ann.client.close();
    await ben.client.close();
  },
);

test.each(objectNames)("[Q49] a record %s, and a field of that name, can be claimed", async (name) => {
  const field = declarableNames.includes(name) ? name : "title";
  const own = createTestServer({ models: { slide: { fields: { [field]: { type: "string" } } } } } as ModelSchema);
  const { client } = own.client();
  await client.ready();
  const { slide } = client.models;
  slide?.create({}, { id: name });
  await own.settle();
  const lease = slide?.claim(name, { field });
  await own.settle();
  const claimed = await lease;
  expect(claimed).toMatchObject({ recordId: name });
  await claimed?.release();
  await client.close();
});
