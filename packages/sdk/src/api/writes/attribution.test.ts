import { expect, test } from "vitest";
import { attributionOf } from "../../protocol/commits/attribution-of.ts";
import { createTestServer } from "../../testing/test-server.ts";
// Loaded lazily by the client; import it here so that no test has to wait for it.
import "../claims/collab.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string", merge: "text" }, notes: { type: "string" } } } },
} as const;
const why = { reason: "The title was too long", run: "run-1", onBehalfOf: "user:ann", meta: { steps: 2 } };

async function open() {
  const own = createTestServer(schema);
  const ann = own.client({ actor: "ann" });
  const ben = own.client({ actor: "ben" });
  await ann.client.ready();
  await ben.client.ready();
  ann.client.models.slide.create({ title: "one two three", notes: "n" }, { id: "s1" });
  await own.settle();
  const said = () => own.server.log.map(attributionOf);
  return { ...own, ann, ben, said };
}

test("[Q74] what a write says of itself is stored with it, and sent after a reload", async () => {
  const { ann, settle, client, said } = await open();
  ann.offline();
  const { queued } = ann.client.models.slide.update("s1", { title: "T" }, why);
  await queued;
  expect(ann.client.pending()).toMatchObject([{ attribution: why }]);
  await ann.client.close();
  const again = client({ actor: "ann", disk: ann.disk });
  await again.client.ready();
  await settle();
  expect(said()).toEqual([undefined, why]);
});

test("[Q74] every kind of write says it, and each of their entries has it", async () => {
  const { ann, settle, said } = await open();
  const { slide } = ann.client.models;
  slide.create({ title: "2" }, { id: "s2", ...why });
  ann.client.commit([{ action: "update", model: "slide", id: "s2", data: { notes: "m" } }], why);
  ann.client.transact((tx) => {
    tx.slide.create({ title: "3" }, { id: "s3" });
    tx.slide.archive("s2");
  }, why);
  slide.unarchive("s2", why);
  slide.delete("s2", why);
  const lease = await slide.claim("s1", { run: why.run, onBehalfOf: why.onBehalfOf });
  lease.update({ notes: "under a claim" }, why);
  await settle();
  expect(said().slice(1)).toEqual(Array.from({ length: 7 }, () => why));
});

test.each([
  ["merge", { title: "uno two three" }, { title: "one two drei" }, { title: "uno two drei" }],
  ["decision", { notes: "Ann's" }, { notes: "Ben's" }, { notes: "Ann's" }],
])("[Q74] it stays through a %s", async (_, mine, theirs, after) => {
  const { ann, ben, settle, server, said } = await open();
  ann.client.pause();
  ann.client.models.slide.update("s1", mine, why).receipt.catch(() => {});
  ben.client.models.slide.update("s1", theirs);
  await settle();
  ann.client.resume();
  for (let i = 0; i < 4; i++) await settle();
  ann.client.conflicts()[0]?.keepMine();
  await settle();
  expect(server.rows.get("slide/s1")?.data).toMatchObject(after);
  expect(said().at(-1)).toEqual(why);
});

test("[Q74] an import sends what the export says", async () => {
  const { ann, client, settle, said } = await open();
  ann.offline();
  await ann.client.models.slide.update("s1", { title: "T" }, why).queued;
  const exported = await ann.client.exportPending();
  const other = client({ actor: "ann" });
  await other.client.ready();
  await other.client.importPending(exported, { adopt: true });
  await settle();
  expect(said().at(-1)).toEqual(why);
});

test.each([
  ["reason", "", /1 to 1000 characters/],
  ["reason", "x".repeat(1_001), /1 to 1000 characters/],
  ["run", 7 as never, /must be a string/],
  ["run", "\ud800", /run /],
  ["onBehalfOf", "ann", /user:ann/],
  ["meta", [] as never, /must be an object/],
  ["meta", { note: "ü".repeat(2_100) }, /4096 bytes/],
])("[Q74] [AT4] refuses at the call what cannot be its %s", async (param, value, message) => {
  const { ann } = await open();
  const write = () => ann.client.models.slide.update("s1", { title: "T" }, { [param]: value });
  expect(write).toThrow(expect.objectContaining({ param, message: expect.stringMatching(message) }));
  expect(ann.client.pending()).toEqual([]);
});

test("[Q75] an undo says only what its own caller says", async () => {
  const { ann, settle, said } = await open();
  const write = ann.client.models.slide.update("s1", { notes: "T" }, why);
  await settle();
  write.undo();
  await settle();
  write.undo({ run: "undo" });
  expect(said()).toEqual([undefined, why, undefined]);
});
