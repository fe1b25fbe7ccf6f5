import { expect, test } from "vitest";
import { createTestServer } from "../testing/test-server.ts";

const schema = {
  models: {
    deck: { fields: { title: { type: "string" } } },
    slide: {
      fields: {
        title: { type: "string" },
        deckId: { type: "string", references: "Deck" },
        order: { type: "number", default: 0 },
        tags: { type: "array", references: "deck" },
        twin: { type: "string", references: "slide" },
      },
    },
  },
} as const;

async function start() {
  const own = createTestServer(schema);
  const made = own.client();
  await made.client.ready();
  await own.settle();
  return { ...own, ...made, ...made.client.models };
}

const commitsOf = (bodies: readonly string[]) =>
  bodies.map((body) =>
    (JSON.parse(body) as { commits: { operations: { id: string }[] }[] }).commits.map((c) => c.operations[0]?.id),
  );

test("[Q28] a write that refers to an unconfirmed create is sent after it, and waits with it; other writes pass", async () => {
  const { client, server, connection, settle, deck, slide } = await start();
  const no = server.refuse(({ model }) => (model === "deck" ? "capability_scope_denied" : undefined));
  deck.create({ title: "A deck" }, { id: "deck-1" });
  slide.create({ title: "Of it", deckId: "deck-1" }, { id: "child" });
  slide.update("child", { order: 1 });
  slide.create({ title: "Alone" }, { id: "other" });
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["deck-1", "other"]]);
  expect(client.attention().map((item) => item.code)).toEqual(["capability_scope_denied"]);
  expect(client.pending().map((p) => [p.operations[0]?.id, p.phase])).toEqual([
    ["child", "blocked"],
    ["child", "blocked"],
  ]);
  no();
  await client.attention()[0]?.retry().receipt;
  await settle();
  expect(commitsOf(connection.sent).slice(1)).toEqual([["deck-1"], ["child", "child"]]);
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[Q28] a list of ids counts too; what one commit creates and names itself is one matter", async () => {
  const { client, connection, settle, deck, slide } = await start();
  client.pause();
  deck.create({ title: "one" }, { id: "deck-1" });
  client.commit([
    { action: "create", model: "deck", id: "deck-2", data: { title: "two" } },
    { action: "create", model: "slide", id: "s2", data: { deckId: "deck-2" } },
  ]);
  slide.create({ tags: ["x", "deck-1"] }, { id: "s1" });
  client.resume();
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["deck-1", "deck-2"], ["s1"]]);
});

test("[Q28] a text that equals the id of a refused create, in a field that is no reference or one of another model, holds nothing up", async () => {
  const { client, server, connection, settle, deck, slide } = await start();
  server.refuse(({ model }) => (model === "deck" ? "capability_scope_denied" : undefined));
  deck.create({ title: "A deck" }, { id: "deck-1" });
  slide.create({ title: "deck-1", order: 1 }, { id: "s1" });
  slide.create({ twin: "deck-1" }, { id: "s2" });
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["deck-1", "s1", "s2"]]);
  expect(client.status()).toMatchObject({ pending: 0, attention: 1 });
});

test("[Q29] a write older than the server's receipts is not sent automatically: it waits for a person, who may send it", async () => {
  const { client, connection, settle, clock, slide, server } = await start();
  client.pause();
  slide.create({ title: "Long ago" }, { id: "a" });
  await settle();
  clock.advance(30 * 86_400_000);
  slide.create({ title: "Now" }, { id: "b" });
  client.resume();
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["b"]]);
  const [item] = client.attention();
  expect(item).toMatchObject({ code: "too_old", createdAt: Date.UTC(2030, 0, 1) });
  await item?.retry().receipt;
  expect(server.rows.get("slide/a")?.data.title).toBe("Long ago");
});

test("[Q30] an edited write is sent in its old place, under a new clientTxId, based on the current rows", async () => {
  const { client, server, settle, slide } = await start();
  server.refuse(({ data }) => ((data as { title?: string })?.title === "bad" ? "capability_scope_denied" : undefined));
  const write = slide.create({ title: "bad" }, { id: "a" });
  await expect(write.receipt).rejects.toMatchObject({ code: "capability_scope_denied" });
  slide.update("a", { order: 3 });
  await settle();
  const [item] = client.attention();
  if (!item) throw new Error("Nothing needs attention.");
  expect(() => item.edit([{ action: "create", model: "slide", id: "a", data: { nope: 1 } }])).toThrow(/no field/);
  const again = item.edit(item.operations.map((o) => ({ ...o, data: { ...o.data, title: "good" } })));
  expect(again.clientTxId).not.toBe(write.clientTxId);
  await expect(again.receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(server.log.map((e) => [e.verb, e.data])).toEqual([
    ["created", { id: "a", title: "good", order: 0 }],
    ["updated", { id: "a", title: "good", order: 3 }],
  ]);
  // It was answered: a second answer to the same item says so.
  await expect(item.edit(item.operations as never).receipt).rejects.toMatchObject({ code: "discarded" });
});
