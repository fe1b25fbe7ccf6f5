import { expect, test } from "vitest";
import type { ClientOptions } from "../../options.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import { MemoryDisk } from "../../storage/memory.ts";
import { Profile } from "../../testing/profile.ts";
import { passing } from "../../testing/start-client.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { scopeKey } from "./scope-key.ts";

const schema = {
  models: { deck: { fields: { title: { type: "string" } } }, slide: { fields: { title: { type: "string" } } } },
} as const;

/** A server with a deck and a slide; `open` opens the same store again. */
function start() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  for (const model of ["deck", "slide"]) {
    const commit = { operations: [{ action: "create", model, id: "a", data: { title: model }, onStale: "notify" }] };
    own.server.commit({ ...commit, clientTxId: model, clientId: "c" } as never, "ben");
  }
  const open = async (follow?: ClientOptions<ModelSchema>["follow"], tabs = new Profile().tab().tabs) => {
    const made = own.client({ disk, platform: { tabs: () => tabs }, ...(follow && { follow }) });
    await own.settle();
    const { deck, slide } = made.client.models;
    return { ...made, shown: () => [deck.list().length, slide.list().length] };
  };
  const kept = () => Object.entries(disk.rows().tables).map(([model, rows]) => `${model} ${rows.size}`);
  return { ...own, disk, open, kept };
}

test("[N14] only what is followed is read and kept; following something else reads that, and what is not wanted any more goes", async () => {
  const { open, settle, kept, server } = start();
  const { client, connection, shown } = await open({ models: ["slide"] });
  expect(shown()).toEqual([0, 1]);
  expect(kept()).toEqual(["slide 1"]);
  const seen = new Set<string>();
  client.subscribe(() => seen.add(shown().join()));
  client.follow({ models: ["deck"] });
  await settle();
  // What was there is shown until the other has come.
  expect([...seen]).toEqual(["0,1", "1,0"]);
  expect(shown()).toEqual([1, 0]);
  expect(kept()).toEqual(["deck 1"]);
  expect(connection.asked.snapshot).toBe(2);
  // A write to a record outside of the scope is sent all the same.
  await expect(client.models.slide.create({ title: "new" }, { id: "b" }).receipt).resolves.toMatchObject({
    status: "confirmed",
  });
  await settle();
  expect(server.head).toBe(3);
  expect(client.status().pending).toBe(0);
  client.follow({});
  await settle();
  expect(shown()).toEqual([1, 2]);
  expect(() => client.follow({ models: ["nope" as "deck"] })).toThrow(/no model/);
});

test.each([{ wehre: { slide: { title: "a" } } }, { slide: [{ title: "a" }] }])(
  "[N14] [N56] %j follows nothing by mistake everything",
  async (scope) => {
    const [param] = Object.keys(scope);
    const { open, settle } = start();
    const { client, shown } = await open({ models: ["slide"] });
    const wrong = scope as object;
    expect(() => client.follow(wrong)).toThrow(expect.objectContaining({ code: "unknown_field", param }));
    await settle();
    expect(shown()).toEqual([0, 1]);
    await expect(open(wrong)).rejects.toMatchObject({ code: "unknown_field", param });
  },
);

test("[N14] the same again reads nothing, also after a reload; another one after a reload is read when there is a line", async () => {
  const { open, settle, clock } = start();
  const first = await open({ models: ["slide", "deck"], groups: ["g"] });
  first.client.follow({ models: ["deck", "slide"], groups: ["g"] });
  await settle();
  expect(first.connection.asked.snapshot).toBe(1);
  await first.client.close();
  const same = await open({ models: ["deck", "slide"], groups: ["g"] });
  expect(same.connection.asked.snapshot).toBe(0);
  expect(same.shown()).toEqual([1, 1]);
  await same.client.close();

  const other = await open({ models: ["deck"] });
  expect(other.connection.asked.snapshot).toBe(1);
  expect(other.shown()).toEqual([1, 0]);
  other.connection.up = false;
  other.connection.cut?.();
  other.client.follow({ models: ["slide"] });
  await settle();
  expect(other.shown()).toEqual([1, 0]);
  other.connection.up = true;
  await passing({ clock, settle })(4, 10_000);
  expect(other.shown()).toEqual([0, 1]);
});

test("[N14] all tabs of a profile follow the same", async () => {
  const { open, settle } = start();
  const profile = new Profile();
  const first = await open({ models: ["slide"] }, profile.tab().tabs);
  const second = await open(undefined, profile.tab().tabs);
  expect(first.shown()).toEqual([0, 1]);
  expect(second.shown()).toEqual([0, 1]);
  second.client.follow({ models: ["deck"] });
  for (let i = 0; i < 3; i++) await settle();
  expect(first.shown()).toEqual([1, 0]);
  expect(second.shown()).toEqual([1, 0]);
  expect(first.connection.asked.snapshot).toBe(2);
  expect(second.connection.asked.snapshot).toBe(0);
});

test("[N14] a scope is the same in any order of its groups", () => {
  expect(scopeKey({ models: ["b", "a"], groups: ["y", "x"] })).toBe(
    scopeKey({ groups: ["x", "y"], models: ["a", "b"] }),
  );
  expect(new Set([{}, { models: ["a"] }, { groups: ["a"] }, { models: ["a"], groups: ["a"] }].map(scopeKey)).size).toBe(
    4,
  );
});

test("[N24] of a model only the records that meet the conditions are read; one that does not meet them any more goes, also from disk", async () => {
  const own = createTestServer({
    models: {
      deck: { fields: { title: { type: "string" } } },
      slide: { fields: { deckId: { type: "string" }, order: { type: "integer" }, at: { type: "datetime" } } },
    },
  });
  const { client: writer } = own.client({ actor: "ben" });
  await own.settle();
  writer.models.deck.create({ title: "a" }, { id: "d" });
  for (const [id, deckId, order] of [
    ["s1", "a", 1],
    ["s2", "a", 5],
    ["s3", "b", 1],
  ] as const)
    writer.models.slide.create({ deckId, order }, { id });
  await own.settle();
  const disk = new MemoryDisk();
  const { client, connection } = own.client({
    disk,
    follow: { where: { slide: [{ deckId: "a", order: { lt: 4 } }, { id: "s9" }] } },
  });
  const shown = () => client.models.slide.list().map(({ id }) => id);
  const kept = () => [...(disk.rows().tables.slide?.entries() ?? [])].map(([id]) => id).sort();
  await own.settle();
  expect(shown()).toEqual(["s1"]);
  expect(client.models.deck.list()).toHaveLength(1);
  writer.models.slide.update("s2", { order: 2 });
  writer.models.slide.update("s1", { deckId: "b" });
  writer.models.slide.create({ deckId: "b" }, { id: "s9" });
  writer.models.slide.update("s3", { order: 3 });
  await own.settle();
  await own.settle();
  expect(shown()).toEqual(["s2", "s9"]);
  expect(kept()).toEqual(["s2", "s9"]);
  // An own write that moves a record out is sent, confirmed, and the record goes.
  await client.models.slide.update("s2", { order: 9 }).receipt;
  await own.settle();
  await own.settle();
  expect([shown(), client.status().pending]).toEqual([["s9"], 0]);
  expect(connection.asked.snapshot).toBe(1);
  client.follow({ where: { slide: { at: { gte: "2001-01-01T00:00:00Z" } } } });
  await own.settle();
  expect(shown()).toEqual([]);
  expect(() => client.follow({ where: { slide: { $createdBy: "user:ann" } as never } })).toThrow(
    "where.$createdBy must be a value",
  );
  expect(() => client.follow({ where: { slide: { colour: "red" } as never } })).toThrow(/no field "colour"/);
  expect(() => client.follow({ where: { slyde: {} } as never })).toThrow(/no model/);
});

test("[N24] conditions are the same in any order of their models", () => {
  const [a, b] = [{ x: 1 }, [{ y: 2 }]];
  expect(scopeKey({ where: { a, b } })).toBe(scopeKey({ where: { b, a } }));
  expect(scopeKey({ where: { a } })).not.toBe(scopeKey({ where: { a: [a] } }));
  expect(scopeKey({ where: {} })).not.toBe(scopeKey({}));
});
