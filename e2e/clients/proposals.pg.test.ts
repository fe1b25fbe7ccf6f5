import type { Proposal } from "@holdfast/sdk/node";
import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "./people.ts";

const people = await startPeople();
const { request } = people;
const ann = await people.person("ann");
const robot = await people.agent("robot", { operations: ["slide.propose"] });
const slides = ann.client.models.slide;

/** A record that both have. */
async function slide(): Promise<string> {
  const id = await people.slide();
  for (const { client } of [robot, ann]) await until(() => expect(client.models.slide.get(id)).toBeDefined());
  return id;
}
const rowOn = async (id: string) =>
  (await request("GET", `/v1/models/slide/${id}`)).data as { title: string; order: number };
/** What a client is told of the proposals on a record, as it is now. */
function followed(of: typeof ann, query: object) {
  let now: readonly Proposal[] | undefined;
  const off = of.client.proposals.subscribe(query, (found) => {
    now = found;
  });
  return { now: () => now, off };
}

test("[Q76] a write with propose is not shown; it settles with the id of its proposal", async () => {
  const id = await slide();
  const before = slides.get(id)?.title;
  const write = slides.update(id, { title: "Asked" }, { propose: { branch: "plan" }, reason: "Shorter" });
  expect(slides.get(id)?.title).toBe(before);
  expect(ann.client.pending()).toMatchObject([{ asks: { propose: { branch: "plan" } } }]);
  const receipt = await write.receipt;
  expect(receipt).toMatchObject({ status: "proposed", success: false });
  await ann.client.drain();
  expect(ann.client.pending()).toEqual([]);
  expect(await ann.client.proposals.get(String(receipt.proposal))).toMatchObject({
    ...{ author: "user:ann", branch: "plan", reason: "Shorter" },
    operations: [{ data: { title: "Asked" } }],
  });
  expect(write.undo()).toBe(undefined);
  expect(await rowOn(id)).toMatchObject({ title: before });
});

test("[Q76] what a token writes that may only propose is shown until the server has made it a proposal", async () => {
  const id = await slide();
  const before = robot.client.models.slide.get(id)?.title;
  const write = robot.client.models.slide.update(id, { title: "Robot's" });
  expect(robot.client.models.slide.get(id)?.title).toBe("Robot's");
  expect(await write.receipt).toMatchObject({ status: "proposed" });
  await robot.client.drain();
  expect(robot.client.models.slide.get(id)?.title).toBe(before);
});

test("[Q77] a subscription has the open proposals, is told of new ones, and of decisions by others", async () => {
  const id = await slide();
  const { now, off } = followed(ann, { model: "slide", id });
  await until(() => expect(now()).toEqual([]));
  const { proposal } = await robot.client.models.slide.update(id, { title: "T" }).receipt;
  await until(() => expect(now()).toMatchObject([{ id: proposal, status: "open" }]));
  await request("POST", `/v1/proposals/${proposal}/reject`, {});
  await until(() => expect(now()).toEqual([]));
  off();
  await robot.client.models.slide.update(id, { title: "U" }).receipt;
  expect(await ann.client.proposals.list({ model: "slide", id })).toHaveLength(1);
  expect(now()).toEqual([]);
});

test("[Q77] the author's own subscription says how it was decided", async () => {
  const id = await slide();
  const { now, off } = followed(robot, { model: "slide", id, status: "all" });
  const { proposal } = await robot.client.models.slide.update(id, { title: "T" }).receipt;
  await until(() => expect(now()).toMatchObject([{ status: "open" }]));
  await request("POST", `/v1/proposals/${proposal}/reject`, { reason: "Not now" });
  await until(() => expect(now()).toMatchObject([{ status: "rejected", decision: { reason: "Not now" } }]));
  off();
});

test("[Q78] an acceptance is shown at once, queued without a connection, and sent once", async () => {
  const id = await slide();
  const { now, off } = followed(ann, { model: "slide", id });
  await robot.client.models.slide.update(id, { title: "Two", order: 7 }, { run: "r1" }).receipt;
  await until(() => expect(now()).toHaveLength(1));
  const [proposal] = now() as [Proposal];
  ann.client.pause();
  const write = ann.client.proposals.accept(proposal, { take: [{ operation: 0, fields: ["title"] }], reason: "Yes" });
  await write.queued;
  expect(slides.get(id)).toMatchObject({ title: "Two", order: 0 });
  expect(now()).toEqual([]);
  expect(await rowOn(id)).toMatchObject({ order: 0 });
  ann.client.resume();
  expect(await write.receipt).toMatchObject({ status: "confirmed" });
  expect(await rowOn(id)).toMatchObject({ title: "Two", order: 0 });
  expect(await ann.client.proposals.get(proposal.id)).toMatchObject({
    status: "accepted",
    decision: { by: "user:ann", reason: "Yes", take: [{ operation: 0, fields: ["title"] }] },
  });
  expect(await slides.blame(id)).toMatchObject({ title: { by: "user:ann", proposedBy: "agent:robot", run: "r1" } });
  off();
});

test("[Q78] values can be corrected, and a rejection is queued too", async () => {
  const id = await slide();
  await robot.client.models.slide.update(id, { title: "Teh" }).receipt;
  await robot.client.models.slide.update(id, { order: 9 }).receipt;
  const [first, second] = (await ann.client.proposals.list({ model: "slide", id })) as [Proposal, Proposal];
  ann.client.pause();
  const accepted = ann.client.proposals.accept(first, { values: { 0: { title: "The" } } });
  const rejected = ann.client.proposals.reject(second, { reason: "Why?" });
  await rejected.queued;
  expect(slides.get(id)).toMatchObject({ title: "The", order: 0 });
  ann.client.resume();
  await Promise.all([accepted.receipt, rejected.receipt]);
  expect(await rowOn(id)).toMatchObject({ title: "The", order: 0 });
  expect(await ann.client.proposals.get(second.id)).toMatchObject({
    status: "rejected",
    decision: { reason: "Why?" },
  });
});

test("[Q78] a field that others changed since becomes a conflict, and keepMine accepts it on top", async () => {
  const id = await slide();
  const { proposal } = await robot.client.models.slide.update(id, { title: "Robot's", order: 3 }).receipt;
  await slides.update(id, { title: "Ann's" }).receipt;
  const read = await ann.client.proposals.get(String(proposal));
  const write = ann.client.proposals.accept(read);
  await expect(write.receipt).rejects.toMatchObject({ code: "stale_context" });
  const [conflict] = ann.client.conflicts();
  expect(conflict).toMatchObject({ id, fields: ["title"], mine: { title: "Robot's" }, theirs: { title: "Ann's" } });
  expect(await ann.client.proposals.get(read.id)).toMatchObject({ status: "open" });
  await conflict?.keepMine().receipt;
  expect(await rowOn(id)).toMatchObject({ title: "Robot's", order: 3 });
  expect(await ann.client.proposals.get(read.id)).toMatchObject({ status: "accepted" });
});

test("[Q79] withdraw takes back a proposal; what cannot be decided rejects, and bad options throw", async () => {
  const id = await slide();
  const { proposal = "" } = await robot.client.models.slide.update(id, { title: "T" }).receipt;
  const read = await ann.client.proposals.get(proposal);
  await expect(ann.client.proposals.withdraw(read)).rejects.toMatchObject({ code: "not_proposal_author" });
  expect(await robot.client.proposals.withdraw(read, { reason: "No" })).toMatchObject({ status: "withdrawn" });
  const late = ann.client.proposals.accept(read);
  await expect(late.receipt).rejects.toMatchObject({ code: "proposal_ended" });
  ann.client.attention()[0]?.discard();
  await expect(ann.client.proposals.get("prop_none")).rejects.toMatchObject({ code: "proposal_not_found" });
  await expect(ann.client.proposals.list({ status: "x" as "open" })).rejects.toMatchObject({ param: "status" });
  expect(() => ann.client.proposals.accept(read, { take: [] })).toThrow("at least one");
  expect(() => ann.client.proposals.accept(read, { take: [{ operation: 4 }] })).toThrow("no operation 4");
  for (const propose of [{ branch: "a b" }, { ttlSeconds: 5 }, { other: 1 }, 7] as never[])
    expect(() => slides.update(id, { title: "x" }, { propose })).toThrow(/branch|ttlSeconds|propose/);
  expect(() =>
    slides.update(id, { title: "x" }, { propose: { branch: "x".repeat(255), ttlSeconds: 60 } }),
  ).not.toThrow();
});
