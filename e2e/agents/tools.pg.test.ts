import { type Answer, createTools, type ToolKit } from "@holdfast/agent";
import { beforeAll, expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { schema, startPeople } from "../clients/people.ts";

const people = await startPeople();
let ann: Awaited<ReturnType<typeof people.person>>;
let robot: Awaited<ReturnType<typeof people.agent>>;
let kit: ToolKit;
beforeAll(async () => {
  ann = await people.person("ann");
  robot = await people.agent("robot");
  kit = createTools({ client: robot.client, schema });
});

let made = 0;
/** Creates a separate record for a test, and waits until the agent's client has it. */
async function slide(data: Record<string, unknown> = {}): Promise<string> {
  const id = `s${++made}`;
  await people.request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base", ...data } });
  await until(() => expect(robot.client.models.slide.get(id)).toBeDefined());
  await until(() => expect(ann.client.models.slide.get(id)).toBeDefined());
  return id;
}
const stored = async (id: string) => (await people.request("GET", `/v1/models/slide/${id}`)).data;
const claimsOn = async (id: string) =>
  (await people.request("GET", `/v1/claims?model=slide&id=${id}`)).claims as { actor: string }[];
const model = "slide";

test("[AG1] a record is read with its position; a missing record is refused with a code", async () => {
  const id = await slide({ title: "Hello" });
  const read = await kit.tools.read_record.execute({ model, id });
  expect(read).toMatchObject({ ok: true, record: { id, title: "Hello", order: 0 }, readAt: expect.any(Number) });
  expect(await kit.tools.read_record.execute({ model, id: "nowhere" })).toMatchObject({
    ok: false,
    code: "record_not_found",
    next: expect.stringContaining("List"),
  });
});

test("[AG1] records are listed by value and range, in order and in pages; an unknown field is refused", async () => {
  for (const order of [3, 1, 2]) await slide({ title: `Page ${order}`, deckId: "d1", order: 100 + order });
  const where = { order: { gt: 100 } };
  const list = (more: object) => kit.tools.list_records.execute({ model, where, orderBy: "order", ...more });
  const titles = (answer: Answer) => (answer.records as { title: string }[]).map(({ title }) => title);
  expect(titles(await list({}))).toEqual(["Page 1", "Page 2", "Page 3"]);
  const page = await list({ limit: 2, order: "desc" });
  expect(titles(page)).toEqual(["Page 3", "Page 2"]);
  expect(page).toMatchObject({ total: 3, more: true, readAt: expect.any(Number) });
  expect(await list({ limit: 2, order: "desc", offset: 2 })).toMatchObject({ more: false, records: [{ order: 101 }] });
  for (const wrong of [{ where: { colour: "red" } }, { orderBy: "colour" }])
    expect(await list(wrong)).toMatchObject({ ok: false, code: "unknown_field", param: "colour" });
});

test("[AG13] a list has the requested fields and at most about 20 KB, and says what it left out", async () => {
  for (let i = 0; i < 12; i++) await slide({ title: "x".repeat(3_000), order: 1_300 + i });
  const list = (more: object) =>
    kit.tools.list_records.execute({ model, where: { order: { gte: 1_300 } }, orderBy: "order", ...more });
  const whole = await list({});
  const records = whole.records as { id: string; order: number }[];
  expect(Buffer.byteLength(JSON.stringify(whole))).toBeLessThan(22_000);
  expect(whole).toMatchObject({
    total: 12,
    more: true,
    cut: 12 - records.length,
    next: expect.stringContaining("offset 6"),
  });
  expect((await list({ offset: records.length })).records).toMatchObject([
    { order: 1_300 + records.length },
    {},
    {},
    {},
    {},
    {},
  ]);
  const narrow = await list({ fields: ["order"] });
  expect(narrow).toMatchObject({ total: 12, more: false });
  expect(narrow).not.toHaveProperty("cut");
  expect((narrow.records as object[]).map((record) => Object.keys(record).sort())[0]).toEqual(["id", "order"]);
  expect(await list({ fields: ["colour"] })).toMatchObject({ ok: false, code: "unknown_field" });
});

test("[AG13] a filter that no record can match is refused", async () => {
  const list = (where: Record<string, unknown>) => kit.tools.list_records.execute({ model, where });
  for (const [where, param] of [
    [{ order: "1" }, "where.order"],
    [{ order: { gte: "1" } }, "where.order.gte"],
    [{ order: { gte: null } }, "where.order.gte"],
    [{ order: { in: [1, "x"] } }, "where.order.in[1]"],
    [{ order: {} }, "where.order"],
    [{ title: 3 }, "where.title"],
    [{ id: 3 }, "where.id"],
  ] as const)
    expect(await list(where)).toMatchObject({ ok: false, code: "invalid_value", param });
  expect(await list({ title: { in: [] } })).toMatchObject({ ok: false, code: "invalid_input" });
  for (const where of [{ order: { in: [1, 2] } }, { title: null }])
    expect(await list(where)).toMatchObject({ ok: true });
});

test("[AG2] an update is based on the read record, and its result has the updated record", async () => {
  const id = await slide();
  expect(await kit.tools.update_record.execute({ model, id, data: { title: "New" } })).toMatchObject({
    ok: false,
    code: "not_read",
  });
  await kit.tools.read_record.execute({ model, id });
  const answer = await kit.tools.update_record.execute({ model, id, data: { title: "New" } });
  expect(answer).toMatchObject({ ok: true, status: "confirmed", record: { title: "New" } });
  expect(await stored(id)).toMatchObject({ title: "New" });
  // Its own write is no news to it.
  expect(await kit.tools.update_record.execute({ model, id, data: { title: "Newer" } })).toMatchObject({ ok: true });
});

test("[AG2] an update never overwrites a newer change: the model gets the changed fields and decides again", async () => {
  const id = await slide();
  await kit.tools.read_record.execute({ model, id });
  await ann.client.models.slide.update(id, { title: "Ann's" }).receipt;
  await until(() => expect(robot.client.models.slide.get(id)?.title).toBe("Ann's"));
  const data = { title: "Mine", order: 7 };
  const refused = await kit.tools.update_record.execute({ model, id, data });
  expect(refused).toMatchObject({
    ok: false,
    code: "stale_context",
    yours: data,
    record: { title: "Ann's", order: 0 },
    changed: { title: { was: "Base", is: "Ann's" } },
  });
  // Nothing was written, not even the uncontested field, and nothing is pending.
  expect(await stored(id)).toMatchObject({ title: "Ann's", order: 0 });
  expect(robot.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(await kit.tools.update_record.execute({ model, id, data })).toMatchObject({ ok: true });
  expect(await stored(id)).toMatchObject(data);
});

test("[AG2] a deleted record and an invisible record are distinguished from a changed one", async () => {
  const id = await slide();
  await kit.tools.read_record.execute({ model, id });
  await ann.client.models.slide.delete(id).receipt;
  await until(() => expect(robot.client.models.slide.get(id)).toBeUndefined());
  expect(await kit.tools.update_record.execute({ model, id, data: { title: "x" } })).toMatchObject({
    ok: false,
    code: "record_not_found",
  });
});

test("[AG3] a record that a person holds is not written: the model learns the holder, and a claim waits in the queue", async () => {
  const id = await slide();
  const lease = await ann.client.models.slide.claim(id, { description: "Rewriting" });
  await kit.tools.read_record.execute({ model, id });
  const holders = [{ actor: "ann", kind: "user", action: "edit", description: "Rewriting" }];
  const update = () => kit.tools.update_record.execute({ model, id, data: { title: "Mine" } });
  expect(await update()).toMatchObject({ ok: false, code: "claim_conflict", holders });
  expect(robot.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(await kit.tools.claim_record.execute({ model, id })).toMatchObject({
    ok: false,
    code: "claim_conflict",
    holders,
  });
  // Its time may be over before it has heard its place in the queue.
  await until(async () =>
    expect(await kit.tools.claim_record.execute({ model, id, waitSeconds: 1, reason: "My turn" })).toMatchObject({
      ok: false,
      code: "claim_conflict",
      before: 0,
    }),
  );
  const waiting = kit.tools.claim_record.execute({ model, id, waitSeconds: 20, reason: "My turn" });
  await lease.update({ title: "Ann's" }).receipt;
  await lease.release();
  expect(await waiting).toMatchObject({ ok: true, fence: expect.any(Number) });
  expect(await claimsOn(id)).toMatchObject([{ actor: "robot", description: "My turn" }]);
  await kit.tools.read_record.execute({ model, id });
  expect(await update()).toMatchObject({ ok: true });
  expect(await kit.tools.release_record.execute({ model, id })).toEqual({ ok: true, released: true });
  expect(await claimsOn(id)).toEqual([]);
  expect(await kit.tools.release_record.execute({ model, id })).toEqual({ ok: true, released: false });
});

test("[AG3] [U18] after a claim is lost, the next update writes nothing and names the new holder", async () => {
  const boss = await people.person("boss", { operations: ["slide.*", "claim.preempt"] });
  const id = await slide();
  expect(await kit.tools.claim_record.execute({ model, id })).toMatchObject({ ok: true, record: { title: "Base" } });
  await using _taken = await boss.client.models.slide.claim(id, { preempt: true });
  const update = () => kit.tools.update_record.execute({ model, id, data: { title: "Mine" } });
  const lost = { ok: false, code: "claim_lost", holders: [{ actor: "boss", kind: "user" }] };
  await until(async () => expect(await update()).toMatchObject(lost));
  expect(await stored(id)).toMatchObject({ title: "Base" });
});

test("[AG3] an unused claim is released after a while, and all claims when the tools are closed", async () => {
  const short = createTools({ client: robot.client, schema, claimIdleMs: 600 });
  const [first, second] = [await slide(), await slide()];
  expect(await short.tools.claim_record.execute({ model, id: first })).toMatchObject({ ok: true });
  await until(async () => expect(await claimsOn(first)).toEqual([]));
  await short.close();
  const long = createTools({ client: robot.client, schema });
  // Two concurrent calls, as models make them, share one claim, which is released once.
  await Promise.all([1, 2].map(() => long.tools.claim_record.execute({ model, id: second })));
  expect(await long.tools.release_record.execute({ model, id: second })).toEqual({ ok: true, released: true });
  expect(await claimsOn(second)).toEqual([]);
  await long.tools.claim_record.execute({ model, id: second });
  await long.tools.claim_record.execute({ model, id: first, field: "title" });
  await long.close();
  for (const id of [first, second]) expect(await claimsOn(id)).toEqual([]);
});

test("[AG4] any input of a model gets a result with a code; nothing is thrown", async () => {
  const id = await slide();
  await kit.tools.read_record.execute({ model, id });
  const { update_record, claim_record, read_record, list_records } = kit.tools;
  const odd = (input: unknown) => input as never;
  const cases: readonly [Promise<Answer>, string][] = [
    [read_record.execute(odd({ model: "nothing", id })), "invalid_input"],
    [read_record.execute(odd(undefined)), "invalid_input"],
    [list_records.execute({ model, where: { order: { in: 5 } } }), "invalid_input"],
    [list_records.execute({ model, where: { order: { above: 5 } } }), "invalid_input"],
    [list_records.execute({ model, limit: 1_000 }), "invalid_input"],
    [update_record.execute(odd({ model, id })), "invalid_input"],
    [update_record.execute({ model, id, data: {} }), "empty_update"],
    [update_record.execute({ model, id, data: { colour: "red" } }), "unknown_field"],
    [update_record.execute({ model, id, data: { title: 7 } }), "invalid_type"],
    [update_record.execute({ model, id, data: { title: undefined } }), "invalid_value"],
    [claim_record.execute({ model, id: "nowhere" }), "record_not_found"],
    [claim_record.execute({ model, id, field: "colour" }), "unknown_column"],
  ];
  for (const [answer, code] of cases)
    expect(await answer).toMatchObject({
      ok: false,
      code,
      message: expect.stringMatching(/./),
      next: expect.any(String),
    });
  expect(robot.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(await stored(id)).toMatchObject({ title: "Base" });
});

test("[AG4] a missing scope is named, and nothing of the write remains", async () => {
  const reader = await people.agent("reader", { operations: ["slide.read"] });
  const id = await slide();
  await until(() => expect(reader.client.models.slide.get(id)).toBeDefined());
  const { tools } = createTools({ client: reader.client, schema });
  await tools.read_record.execute({ model, id });
  expect(await tools.update_record.execute({ model, id, data: { title: "x" } })).toMatchObject({
    ok: false,
    code: "capability_scope_denied",
    requiredCapability: { can: expect.stringContaining("update") },
  });
  expect(reader.client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[AG5] without a connection an update is queued, the result says so, and a later result has its outcome", async () => {
  const away = await people.agent("away");
  const { tools } = createTools({ client: away.client, schema, answerMs: 300 });
  const [kept, contested] = [await slide(), await slide()];
  await until(() => expect(away.client.models.slide.get(contested)).toBeDefined());
  for (const id of [kept, contested]) await tools.read_record.execute({ model, id });
  away.client.pause();
  for (const id of [kept, contested])
    expect(await tools.update_record.execute({ model, id, data: { title: "Later" } })).toMatchObject({
      ok: true,
      status: "queued",
      record: { title: "Later" },
    });
  expect(await tools.read_record.execute({ model, id: kept })).toMatchObject({ ok: true, connection: "paused" });
  await ann.client.models.slide.update(contested, { title: "Ann's" }).receipt;
  away.client.resume();
  await until(async () => expect(await stored(kept)).toMatchObject({ title: "Later" }));
  await until(() => expect(away.client.models.slide.get(contested)?.title).toBe("Ann's"));
  await until(() => expect(away.client.status()).toMatchObject({ pending: 0, attention: 0 }));
  // Changes that the model has not been shown do not count as read, so it cannot overwrite them.
  expect(await tools.update_record.execute({ model, id: contested, data: { title: "Still mine" } })).toMatchObject({
    ok: false,
    code: "stale_context",
    earlier: [{ ok: false, code: "stale_context", id: contested, yours: { title: "Later" } }],
  });
  expect(await stored(contested)).toMatchObject({ title: "Ann's" });
  expect(away.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
});

test("[AG6] the tools of two agents share the work: each claims records that the other has not claimed", async () => {
  const ids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => slide({ title: "todo" })));
  const other = await people.agent("other");
  await until(() => expect(ids.every((id) => other.client.models.slide.get(id))).toBe(true));
  const kits = [robot.client, other.client].map((client) => createTools({ client, schema }));
  const done: string[] = [];
  await Promise.all(
    kits.map(async ({ tools }) => {
      for (const id of ids) {
        const claimed = await tools.claim_record.execute({ model, id });
        if (!claimed.ok) continue;
        // Claimed after the other agent was done: the record shows its work.
        if ((claimed.record as { title: string } | null)?.title === "todo") {
          const answer = await tools.update_record.execute({ model, id, data: { title: "done" } });
          if (answer.ok) done.push(id);
        }
        await tools.release_record.execute({ model, id });
      }
    }),
  );
  expect(done.sort()).toEqual([...ids].sort());
});

test("[AG16] what the tools write and claim says the run, for whom, and the model's reason", async () => {
  const writer = await people.agent("writer", { onBehalfOf: ["user:ann"] });
  const worksFor = { run: "run-1", onBehalfOf: "user:ann" };
  const { tools, close } = createTools({ client: writer.client, schema, ...worksFor });
  const id = await slide();
  await until(() => expect(writer.client.models.slide.get(id)).toBeDefined());
  await tools.claim_record.execute({ model, id, reason: "Shortens the title" });
  expect(await claimsOn(id)).toMatchObject([{ actor: "writer", description: "Shortens the title", ...worksFor }]);
  const answer = await tools.update_record.execute({ model, id, data: { title: "T" }, reason: "It was too long" });
  expect(answer).toMatchObject({ ok: true, status: "confirmed" });
  await close();
  const { data } = await people.request("GET", "/v1/log?limit=1000&run=run-1");
  expect(data).toMatchObject([{ id, actor: "writer", reason: "It was too long", ...worksFor }]);
});

test("[AG17] an update by tools that propose changes nothing, and read_proposal tells how it was decided", async () => {
  const writer = await people.agent("asker", { operations: ["slide.propose"] });
  const other = await people.agent("branching");
  const id = await slide();
  for (const { client } of [writer, other]) await until(() => expect(client.models.slide.get(id)).toBeDefined());
  const kits = [
    createTools({ client: writer.client, schema }),
    createTools({ client: other.client, schema, propose: { branch: "plan" } }),
  ];
  for (const { tools, close } of kits) {
    await tools.read_record.execute({ model, id });
    const asked = await tools.update_record.execute({ model, id, data: { title: "Asked" }, reason: "Shorter" });
    expect(asked).toMatchObject({ ok: true, status: "proposed", proposal: expect.stringMatching(/^prop_/) });
    const { proposal } = asked as unknown as { proposal: string };
    expect(await tools.read_proposal.execute({ proposal })).toMatchObject({ ok: true, status: "open" });
    const waiting = tools.read_proposal.execute({ proposal, wait: true });
    await people.request("POST", `/v1/proposals/${proposal}/reject`, { reason: "Too short" });
    expect(await waiting).toMatchObject({
      status: "rejected",
      by: expect.stringMatching(/^system:/),
      reason: "Too short",
    });
    expect(await tools.read_proposal.execute({ proposal: "prop_none" })).toMatchObject({ code: "proposal_not_found" });
    await close();
  }
  const { data } = await people.request("GET", "/v1/proposals?status=all&branch=plan");
  expect(data).toMatchObject([{ author: "agent:branching", reason: "Shorter" }]);
  expect((await people.request("GET", `/v1/models/slide/${id}`)).data).not.toMatchObject({ title: "Asked" });
});
