import { expect, test, vi } from "vitest";
import { MOST_BYTES } from "../core/conflicts/plan-merge.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = {
  models: {
    note: {
      fields: {
        body: { type: "string", merge: "text", maxLength: 2_000_000 },
        short: { type: "string", merge: "text", maxLength: 12 },
        title: { type: "string" },
        order: { type: "number" },
      },
    },
  },
} as const;

/** Ann and Ben have the note, and Ann is offline. */
async function apart(data = { body: "one two three", short: "a b c", title: "T", order: 1 }, recordBytes?: number) {
  const own = createTestServer(schema);
  const [ann, ben] = [own.client({ actor: "ann" }), own.client({ actor: "ben" })];
  ann.connection.recordBytes = recordBytes;
  await Promise.all([ann.client.ready(), ben.client.ready()]);
  ann.client.models.note.create(data, { id: "n" });
  await own.settle();
  ann.client.pause();
  const [mine, theirs] = [ann.client.models.note, ben.client.models.note];
  return {
    ...own,
    ann,
    ben,
    mine,
    theirs,
    async together() {
      await own.settle();
      ann.client.resume();
      for (let i = 0; i < 4; i++) await own.settle();
    },
    row: () => own.server.rows.get("note/n")?.data,
    /** How often a commit of Ann's is in the log, the create left out. */
    committed: () => new Set(own.server.log.filter(({ actor }) => actor === "ann").map((e) => e.clientTxId)).size - 1,
  };
}

test("[MT4] a write that meets a change of the same text is merged and sent again, and its promise follows it", async () => {
  const { mine, theirs, together, ann, row, committed } = await apart();
  theirs.update("n", { body: "one two drei" });
  const write = mine.update("n", { body: "uno two three" }, { clientTxId: "t" });
  const seen: number[] = [];
  ann.client.subscribe(() => seen.push(ann.client.conflicts().length));
  await together();
  expect(row()?.body).toBe("uno two drei");
  expect(mine.get("n")?.body).toBe("uno two drei");
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed", clientTxId: "t~1" });
  expect(ann.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(seen).not.toContain(1);
  expect(committed()).toBe(1);
});

test("[MT4] [MT15] different changes of one place are a conflict as without merge", async () => {
  const { mine, theirs, together, ann, row } = await apart();
  theirs.update("n", { body: "one zwei three" });
  const write = mine.update("n", { body: "one dos three" });
  await together();
  await expect(write.receipt).rejects.toMatchObject({ code: "stale_context" });
  expect(ann.client.conflicts()).toMatchObject([
    { base: { body: "one two three" }, mine: { body: "one dos three" }, theirs: { body: "one zwei three" } },
  ]);
  expect(row()?.body).toBe("one zwei three");
});

test.each([
  ["the title is contested too", { title: "Ben's" }, { title: "Ann's" }],
  ["only the title is contested", { title: "Ben's", body: undefined }, { title: "Ann's" }],
])("[MT4] [MT15] a person decides if another field is contested: %s", async (_, others, own) => {
  const { mine, theirs, together, ann } = await apart();
  theirs.update("n", JSON.parse(JSON.stringify({ body: "one two drei", ...others })));
  mine.update("n", { body: "uno two three", ...own });
  await together();
  expect(ann.client.conflicts()).toHaveLength(1);
});

test("[MT4] other fields of the write go with it, and fields that others changed stay theirs", async () => {
  const { mine, theirs, together, ann, row } = await apart();
  theirs.update("n", { body: "one two drei", order: 7 });
  mine.update("n", { body: "uno two three", title: "Ann's" });
  await together();
  expect(ann.client.conflicts()).toEqual([]);
  expect(row()).toMatchObject({ body: "uno two drei", title: "Ann's", order: 7 });
});

test("[MT5] several queued writes of one field are merged one by one, and each is committed once", async () => {
  const { mine, theirs, together, ann, row, committed } = await apart();
  theirs.update("n", { body: "one two drei" });
  const writes = ["uno two three", "uno dos three", "uno dos three!"].map((body) => mine.update("n", { body }));
  await together();
  expect(row()?.body).toBe("uno dos drei!");
  for (const { receipt } of writes) await expect(receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(committed()).toBe(3);
  expect(ann.client.status()).toMatchObject({ pending: 0, conflicts: 0 });
});

test("[MT5] a later write that cannot be merged is a conflict of its own", async () => {
  const { mine, theirs, together, ann, row } = await apart();
  theirs.update("n", { body: "one two drei" });
  mine.update("n", { body: "uno two three" });
  mine.update("n", { body: "uno two tres" });
  await together();
  expect(row()?.body).toBe("uno two drei");
  expect(ann.client.conflicts()).toMatchObject([
    { base: { body: "uno two three" }, mine: { body: "uno two tres" }, theirs: { body: "uno two drei" } },
  ]);
});

test("[MT5] a commit of several records is merged as a whole, or not at all", async () => {
  const { mine, theirs, together, ann, row, server } = await apart();
  ann.client.resume();
  mine.create({ body: "x y z" }, { id: "m" });
  const created = () => server.rows.get("note/m")?.data.body;
  await together();
  ann.client.pause();
  theirs.update("n", { body: "one two drei" });
  theirs.update("m", { body: "x y Z" });
  ann.client.commit([
    { action: "update", model: "note", id: "n", data: { body: "uno two three" } },
    { action: "update", model: "note", id: "m", data: { body: "X y z" } },
  ]);
  await together();
  expect([row()?.body, created()]).toEqual(["uno two drei", "X y Z"]);
  ann.client.pause();
  theirs.update("n", { body: "uno two vier" });
  theirs.update("m", { body: "X ypsilon Z" });
  ann.client.commit([
    { action: "update", model: "note", id: "n", data: { body: "ein two drei" } },
    { action: "update", model: "note", id: "m", data: { body: "X igrek Z" } },
  ]);
  await together();
  expect([row()?.body, created()]).toEqual(["uno two vier", "X ypsilon Z"]);
  expect(ann.client.conflicts()).toHaveLength(2);
});

test("[MT6] a record that was deleted meanwhile is a conflict", async () => {
  const { mine, theirs, together, ann } = await apart();
  theirs.delete("n");
  mine.update("n", { body: "uno two three" });
  await together();
  expect(ann.client.conflicts()).toMatchObject([{ theirs: null }]);
});

test("[MT6] a merged text that breaks a rule of the field is a conflict", async () => {
  const { mine, theirs, together, ann, row } = await apart();
  theirs.update("n", { short: "a b cccccc" });
  mine.update("n", { short: "aaaaaa b c" });
  await together();
  expect(ann.client.conflicts()).toMatchObject([{ fields: ["short"] }]);
  expect(row()?.short).toBe("a b cccccc");
});

test.each([
  [0.4, 0],
  [0.6, 1],
])("[MT6] a merged text that makes the record too large is a conflict: twice %f MiB", async (size, conflicts) => {
  const half = "x".repeat(size * MOST_BYTES);
  const { mine, theirs, together, ann, row } = await apart({
    body: "start middle end",
    short: "",
    title: "",
    order: 1,
  });
  theirs.update("n", { body: `start middle ${half}` });
  mine.update("n", { body: `${half} middle end` });
  await together();
  expect(ann.client.conflicts()).toHaveLength(conflicts);
  expect(String(row()?.body).length).toBe(conflicts ? half.length + 13 : 2 * half.length + 8);
});

test.each([
  [1.2, 1],
  [1.6, 0],
])("[MT6] of a server that takes records of %f KiB, twice 0.7 KiB make %i conflicts", async (size, conflicts) => {
  const half = "x".repeat(0.7 * 1_024);
  const { mine, theirs, together, ann } = await apart(
    { body: "start middle end", short: "", title: "", order: 1 },
    Math.floor(size * 1_024),
  );
  theirs.update("n", { body: `start middle ${half}` });
  mine.update("n", { body: `${half} middle end` });
  await together();
  expect(ann.client.conflicts()).toHaveLength(conflicts);
});

test("[MT6] a write with onStale reject is refused, and one with premises is a person's", async () => {
  const { mine, theirs, together, ann } = await apart();
  theirs.update("n", { body: "one two drei" });
  const refused = mine.update("n", { body: "uno two three" }, { onStale: "reject" });
  await together();
  await expect(refused.receipt).rejects.toMatchObject({ code: "stale_context" });
  expect(ann.client.attention()).toHaveLength(1);
  ann.client.attention()[0]?.discard();
  ann.client.pause();
  theirs.update("n", { body: "one two vier" });
  ann.client.commit([{ action: "update", model: "note", id: "n", data: { body: "uno two drei" } }], {
    reads: [{ model: "note", id: "n", fields: ["title"] }],
  });
  await together();
  expect(ann.client.conflicts()).toHaveLength(1);
});

test("[MT7] a text is merged from the base that the caller names, and never from what is shown later", async () => {
  const { mine, theirs, ann, settle, row } = await apart();
  ann.client.resume();
  await settle();
  const readAt = ann.client.status().syncId;
  theirs.update("n", { body: "one two drei" });
  await settle();
  expect(mine.get("n")?.body).toBe("one two drei");
  mine.update("n", { body: "uno two three" }, { readAt, base: { body: "one two three" } });
  for (let i = 0; i < 4; i++) await settle();
  expect(row()?.body).toBe("uno two drei");
  // Without a base, what others wrote since would be lost.
  mine.update("n", { body: "one two three four" }, { readAt });
  for (let i = 0; i < 4; i++) await settle();
  expect(row()?.body).toBe("uno two drei");
  expect(ann.client.conflicts()).toMatchObject([{ fields: ["body"], mine: { body: "one two three four" } }]);
});

test("[MT8] if others write again each time, the write is merged five times, then a person decides", async () => {
  const { mine, together, ann, server, row } = await apart();
  const push = vi.spyOn(ann.connection.sent, "push");
  let others = 0;
  // Each time before Ann's request arrives.
  push.mockImplementation(() => {
    others += 1;
    const data = { body: `one two n${others}` };
    const operation = {
      action: "update",
      model: "note",
      id: "n",
      data,
      readAt: server.head,
      onStale: "notify",
    } as const;
    server.commit({ operations: [operation], clientTxId: `ben${others}`, clientId: "b" }, "ben");
    return others;
  });
  const write = mine.update("n", { body: "uno two three" }, { clientTxId: "t" });
  await together();
  for (let i = 0; i < 20; i++) await together();
  await expect(write.receipt).rejects.toMatchObject({ code: "stale_context" });
  expect(others).toBe(6);
  expect(row()?.body).toBe("one two n6");
  expect(ann.client.conflicts()).toMatchObject([
    { clientTxId: "t~5", base: { body: "one two n5" }, mine: { body: "uno two n5" }, theirs: { body: "one two n6" } },
  ]);
  push.mockRestore();
  // After a person has decided, the count begins again.
  ann.client.conflicts()[0]?.keepMine();
  await together();
  expect(row()?.body).toBe("uno two n5");
});

test("[MT8] the other side is merged too, until both have the same", async () => {
  const { mine, theirs, together, ann, ben, row } = await apart();
  ben.client.pause();
  theirs.update("n", { body: "one two drei" });
  mine.update("n", { body: "uno two three" });
  await together();
  ben.client.resume();
  await together();
  expect(row()?.body).toBe("uno two drei");
  expect([mine.get("n")?.body, theirs.get("n")?.body]).toEqual(["uno two drei", "uno two drei"]);
  expect(ann.client.conflicts().length + ben.client.conflicts().length).toBe(0);
});

test("[MT9] a write from before a reload is merged, and its answer may be lost", async () => {
  const { mine, theirs, ann, settle, client, row, committed, server, clock } = await apart();
  theirs.update("n", { body: "one two drei" });
  await mine.update("n", { body: "uno two three" }).queued;
  await ann.client.close();
  const again = client({ actor: "ann", disk: ann.disk, paused: true });
  again.connection.answers.push("lost");
  again.client.resume();
  for (let i = 0; i < 10; i++) {
    await settle();
    clock.advance(5_000);
  }
  expect(row()?.body).toBe("uno two drei");
  expect(again.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect([committed(), server.head]).toEqual([1, 3]);
});

test("[MT9] until the code that merges is loaded, the write waits; without it, a person decides", async () => {
  for (const ends of ["loads", "fails"] as const) {
    const own = createTestServer(schema);
    const ben = own.client({ actor: "ben" });
    ben.client.models.note.create({ body: "one two three" }, { id: "n" });
    await own.settle();
    let load = () => {};
    const merging = () =>
      new Promise<typeof import("../text/merge-text.ts")>((resolve, reject) => {
        load = () => (ends === "loads" ? resolve(import("../text/merge-text.ts")) : reject(new Error("No network.")));
      });
    const ann = own.client({ actor: "ann", platform: { merging } });
    await own.settle();
    ann.client.pause();
    ben.client.models.note.update("n", { body: "one two drei" });
    await own.settle();
    ann.client.models.note.update("n", { body: "uno two three" }, { readAt: 1, base: { body: "one two three" } });
    ann.client.resume();
    await own.settle();
    expect(ann.client.status()).toMatchObject({ pending: 1, conflicts: 0 });
    load();
    for (let i = 0; i < 10; i++) {
      await own.settle();
      own.clock.advance(5_000);
    }
    expect(ann.client.status()).toMatchObject({ pending: 0, conflicts: ends === "loads" ? 0 : 1 });
    expect(own.server.rows.get("note/n")?.data.body).toBe(ends === "loads" ? "uno two drei" : "one two drei");
  }
});
