import { expect, test } from "vitest";
import type { Claim } from "../protocol/claims/claim.ts";
import { createTestServer } from "../testing/test-server.ts";
// Loaded lazily by the client; import it here so that no test has to wait for it.
import "./claims/collab.ts";

const schema = {
  models: {
    slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 }, notes: { type: "string" } } },
  },
} as const;

/** Ann claimed, went offline, and wrote under a claim that ended meanwhile. */
async function away({ follow = {}, ...options }: { ben?: boolean; write?: boolean; follow?: object } = {}) {
  const own = createTestServer(schema);
  const ann = own.client({ actor: "ann", follow });
  const ben = own.client({ actor: "ben" });
  await ann.client.ready();
  await ben.client.ready();
  ann.client.models.slide.create({ title: "Base", notes: "n" }, { id: "s1" });
  await own.settle();
  const lease = await ann.client.models.slide.claim("s1", { ttl: "30s" });
  ann.client.pause();
  await own.settle();
  const write = lease.update({ title: "Ann's", order: 7 });
  await own.settle();
  own.clock.advance(31_000);
  own.server.claims.sweep();
  await own.settle();
  const held = options.ben ? await ben.client.models.slide.claim("s1") : undefined;
  if (options.write) await ben.client.models.slide.update("s1", { title: "Ben's" }).receipt;
  await own.settle();
  return { ...own, ann, ben, lease, held, write, slides: ann.client.models.slide };
}
type Away = Awaited<ReturnType<typeof away>>;

async function back({ ann, settle }: Away) {
  ann.client.resume();
  await settle();
  const [conflict] = ann.client.conflicts();
  if (!conflict) throw new Error("There is no conflict.");
  return conflict;
}

test("[U10] a write under a claim that lapsed becomes a conflict with who holds it now and what is there now", async () => {
  const setup = await away({ ben: true, write: true });
  const conflict = await back(setup);
  expect(setup.lease.signal.reason).toMatchObject({ reason: "deadline" });
  expect(conflict).toMatchObject({
    reason: "claim_lost",
    holders: [{ actor: "ben", participantKind: "user" } satisfies Partial<Claim>],
    writtenBy: "user:ben",
    fields: ["title", "order"],
    mine: { title: "Ann's", order: 7 },
    base: { title: "Base", order: 0 },
    theirs: { title: "Ben's", order: 0 },
  });
  await expect(setup.write.receipt).rejects.toMatchObject({ code: "claim_lost", claims: [{ actor: "ben" }] });
  expect(setup.slides.get("s1")).toMatchObject({ title: "Ben's" });
  expect(setup.ann.client.attention()).toEqual([]);
  expect(setup.ann.client.conflicts()).toBe(setup.ann.client.conflicts());
});

test("[U10] keepMine on a held record returns as the same conflict, and succeeds once the record is free", async () => {
  const setup = await away({ ben: true, write: true });
  const { ann, held, settle, server, slides } = setup;
  (await back(setup)).keepMine();
  await settle();
  expect(ann.client.conflicts()).toMatchObject([{ reason: "claim_conflict", holders: [{ actor: "ben" }] }]);
  const sent = ann.connection.sent.length;
  await settle();
  expect(ann.connection.sent).toHaveLength(sent);
  await held?.release();
  const write = ann.client.conflicts()[0]?.keepMine();
  await expect(write?.receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(slides.get("s1")).toMatchObject({ title: "Ann's", order: 7 });
  expect(ann.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  const { operations } = JSON.parse(ann.connection.sent.at(-1) ?? "").commits[0];
  expect(operations).toMatchObject([{ onStale: "notify", readAt: server.head - 1 }]);
  expect(operations[0].claim).toBeUndefined();
});

test("[U10] a write of another client after the person looked conflicts again, and is not overwritten", async () => {
  const setup = await away();
  const conflict = await back(setup);
  expect(conflict).toMatchObject({ reason: "claim_lost", holders: [], writtenBy: "", theirs: { title: "Base" } });
  await setup.ben.client.models.slide.update("s1", { title: "Later" }).receipt;
  await setup.settle();
  conflict.keepMine();
  await setup.settle();
  expect(setup.ann.client.conflicts()).toMatchObject([
    { reason: "stale", mine: { title: "Ann's" }, theirs: { title: "Later" }, writtenBy: "user:ben" },
  ]);
  expect(setup.slides.get("s1")).toMatchObject({ title: "Later" });
});

test("[U10] takeTheirs gives mine up, merge sends what was agreed, and neither names the dead claim", async () => {
  const first = await away({ write: true });
  (await back(first)).takeTheirs();
  await first.settle();
  expect(first.slides.get("s1")).toMatchObject({ title: "Ben's", order: 0 });
  expect(first.ann.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  const second = await away({ write: true });
  const write = (await back(second)).merge({ title: "Both" });
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  await second.settle();
  expect(second.slides.get("s1")).toMatchObject({ title: "Both" });
});

test("[U10] later writes under the same claim are part of the conflict, and go after it", async () => {
  const setup = await away({ write: true });
  setup.slides.update("s1", { notes: "later" }, { claim: setup.lease });
  await setup.settle();
  const conflict = await back(setup);
  expect(conflict.mine).toEqual({ title: "Ann's", order: 7, notes: "later" });
  conflict.keepMine();
  await setup.settle();
  expect(setup.ann.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(setup.server.rows.get("slide/s1")?.data).toMatchObject({ title: "Ann's", order: 7, notes: "later" });
});

test("[U10] a write without a claim on a held record becomes a claim conflict, and survives a reload", async () => {
  const setup = await away();
  const { ben, settle, server } = setup;
  (await back(setup)).takeTheirs();
  await settle();
  const held = await ben.client.models.slide.claim("s1");
  setup.slides.update("s1", { title: "Mine" });
  setup.slides.update("s2", { title: "Elsewhere" });
  await settle();
  expect(setup.ann.client.conflicts()).toMatchObject([{ reason: "claim_conflict", holders: [{ actor: "ben" }] }]);
  await setup.ann.client.close();
  const again = setup.client({ actor: "ann", disk: setup.ann.disk });
  await again.client.ready();
  await settle();
  expect(again.client.conflicts()).toMatchObject([
    { reason: "claim_conflict", holders: [{ actor: "ben" }], mine: { title: "Mine" } },
  ]);
  await held.release();
  again.client.conflicts()[0]?.keepMine();
  await settle();
  expect(server.rows.get("slide/s1")?.data).toMatchObject({ title: "Mine" });
});

test("[U10] a delete that a claim stood against is decided whole; a create is rejected", async () => {
  const setup = await away({ ben: true });
  (await back(setup)).takeTheirs();
  setup.slides.delete("s1");
  await setup.settle();
  const [conflict] = setup.ann.client.conflicts();
  expect(conflict).toMatchObject({ reason: "claim_conflict", action: "delete", fields: [] });
  expect(setup.slides.get("s1")).toMatchObject({ title: "Base" });
  await setup.held?.release();
  conflict?.keepMine();
  await setup.settle();
  expect(setup.slides.get("s1")).toBeUndefined();
  setup.server.claims.acquire("ben", "slide", "s9");
  setup.slides.create({ title: "New" }, { id: "s9" });
  await setup.settle();
  expect(setup.ann.client.attention()).toMatchObject([{ code: "claim_conflict" }]);
});

test("[U10] [U23] a delete that a hidden claim on another record prevents is rejected: there is nothing to compare", async () => {
  const own = createTestServer(schema);
  const { client } = own.client();
  await client.ready();
  client.models.slide.create({ title: "Base" }, { id: "s1" });
  await own.settle();
  own.server.refuse(({ action }) => (action === "delete" ? "claim_conflict" : undefined));
  client.models.slide.delete("s1").receipt.catch(() => {});
  await own.settle();
  expect(client.conflicts()).toEqual([]);
  expect(client.attention()).toMatchObject([{ code: "claim_conflict" }]);
  expect(client.models.slide.get("s1")).toMatchObject({ title: "Base" });
});

test.each([
  ["the whole model", {}],
  ["a list of conditions", { where: { slide: [{ title: "Base" }] } }],
])(
  "[ER9] [Q12] once the record has been erased, theirs is null, and all of mine is in conflict, following %s",
  async (_, follow) => {
    const own = await away({ follow });
    await back(own);
    own.slides.update("s1", { notes: "behind" });
    await own.settle();
    own.server.erase("slide", "s1");
    await own.settle();
    expect(own.ann.client.conflicts()).toMatchObject([{ theirs: null, fields: ["title", "order", "notes"] }]);
  },
);
