import { attributionOf, changeAttributionOf, type LogEntry, type Proposal } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp();
const { call, capability, sql } = app;
const slides = "/v1/models/slide";
const agent = await capability({
  ...{ operations: ["slide.propose", "document.read"], syncGroups: ["deck:a"], participantId: "writer" },
  onBehalfOf: ["user:ann"],
});
const reader = await capability({ operations: ["slide.read"], syncGroups: ["deck:a"], participantId: "reader" });
const reviewer = await capability({ operations: ["slide.*"], syncGroups: ["deck:a"], participantId: "reviewer" });
const other = await capability({ operations: ["slide.*"], syncGroups: ["deck:b"], participantId: "other" });

let made = 0;
/** A record in deck a, unless told otherwise. */
async function slide(data: object = {}): Promise<string> {
  const id = `s${++made}`;
  await call("POST", slides, { json: { id, data: { deckId: "a", title: "One", notes: "-", ...data } } });
  return id;
}
const rowOf = async (id: string) => (await call("GET", `${slides}/${id}`)).body.data as Record<string, unknown>;
const patch = (token: string, id: string, data: object, more: object = {}) =>
  call("PATCH", `${slides}/${id}`, { token, json: { data, ...more } });
/** Proposes a change as the agent. Returns the id of the proposal. */
async function propose(id: string, data: object, more: object = {}): Promise<string> {
  const { status, body } = await patch(agent.token, id, data, more);
  expect([status, body.status]).toEqual([200, "proposed"]);
  return String(body.proposal);
}
const read = (id: string, token: string | undefined = reviewer.token) =>
  call("GET", `/v1/proposals/${id}`, token === undefined ? {} : { token });
const decide = (id: string, how: "accept" | "reject" | "withdraw", json: object = {}, token = reviewer.token) =>
  call("POST", `/v1/proposals/${id}/${how}`, { token, json });
const listed = async (query = "", token = reviewer.token) =>
  (await call("GET", `/v1/proposals?limit=100${query}`, { token })).body.data as Proposal[];
const entriesOf = async (id: string) => (await call("GET", `${slides}/${id}/history`)).body.data as LogEntry[];

test("[PR1] [PR15] a token that may only propose changes nothing: its write is a proposal, with what it would change", async () => {
  const id = await slide();
  const why = { reason: "A shorter title", run: "run-1", onBehalfOf: "user:ann" };
  const answer = await patch(agent.token, id, { title: "Two", order: 4 }, why);
  expect(answer.body).toMatchObject({ success: false, status: "proposed", ops: 1 });
  expect(await rowOf(id)).toMatchObject({ title: "One" });
  const { body } = await read(String(answer.body.proposal));
  const { syncId } = (await entriesOf(id)).at(-1) as LogEntry;
  expect(body).toMatchObject({
    ...{
      object: "proposal",
      status: "open",
      author: "agent:writer",
      branch: null,
      readAt: syncId,
      decision: null,
      ...why,
    },
    operations: [{ action: "update", model: "slide", id, data: { title: "Two", order: 4 }, base: { title: "One" } }],
  });
  const days = (Date.parse(String(body.expiresAt)) - Date.parse(String(body.createdAt))) / 86_400_000;
  expect(days).toBe(30);
});

test("[PR1] those who may write propose with propose, also by a secret key, in a batch and in a bulk", async () => {
  const id = await slide();
  const asked = { propose: { branch: "plan", ttlSeconds: 60 } };
  const single = await patch(reviewer.token, id, { title: "Two" }, { propose: true });
  const operations = [
    { action: "create", model: "slide", id: `${id}-new`, data: { deckId: "a" } },
    { action: "archive", model: "slide", id },
  ];
  const batch = await call("POST", "/v1/commits", { json: { operations, ...asked } });
  const bulk = await call("POST", "/v1/commits/bulk", {
    json: { commits: [{ clientTxId: "pr1", operations: [{ action: "delete", model: "slide", id }], propose: true }] },
  });
  const [item] = bulk.body.data as Record<string, unknown>[];
  expect([single.body, batch.body, item].map((one) => one?.status)).toEqual(["proposed", "proposed", "proposed"]);
  expect(await rowOf(id)).toMatchObject({ title: "One" });
  const { body } = await read(String(batch.body.proposal));
  expect(body).toMatchObject({ branch: "plan", operations: [{ action: "create" }, { action: "archive" }] });
  expect((Date.parse(String(body.expiresAt)) - Date.parse(String(body.createdAt))) / 1_000).toBe(60);
  expect((await call("GET", `${slides}/${id}-new`)).status).toBe(404);
});

test("[PR2] what could not land is refused as a commit is: scope, shape, staleness, claims apart", async () => {
  const id = await slide();
  const { token } = agent;
  expect((await patch(token, id, { title: 7 })).body).toMatchObject({ code: "invalid_type" });
  expect((await patch(token, id, { deckId: "b" })).body).toMatchObject({ code: "capability_scope_denied" });
  const foreign = await slide({ deckId: "b" });
  expect((await patch(token, foreign, { title: "x" })).body).toMatchObject({ code: "capability_scope_denied" });
  expect((await patch(reader.token, id, { title: "x" }, { propose: true })).body).toMatchObject({
    ...{ code: "capability_scope_denied", requiredCapability: { can: "update" } },
  });
  expect((await patch(token, id, { title: "x" }, { onBehalfOf: "user:ben" })).body.code).toBe("on_behalf_of_denied");
  expect((await call("DELETE", `${slides}/${id}?erase=true`, { token })).body.code).toBe("capability_scope_denied");
  const erased = await call("DELETE", `${slides}/${id}?erase=true`, { json: { propose: true } });
  expect(erased.body).toMatchObject({ code: "invalid_value", param: "propose" });
  await patch(app.keys.live, id, { title: "Three" });
  expect((await patch(token, id, { title: "Two" }, { readAt: 0 })).body.code).toBe("stale_context");
  await call("POST", `${slides}/${id}/claim`, { token: reviewer.token, json: {} });
  await propose(id, { title: "Four" });
});

test("[PR3] to accept is a commit by the reviewer that says who proposed it, and why", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Two" }, { reason: "Shorter", run: "run-3", meta: { n: 1 } });
  const answer = await decide(proposal, "accept", { reason: "Good" });
  expect(answer).toMatchObject({ status: 200, body: { status: "confirmed", success: true } });
  expect(await rowOf(id)).toMatchObject({ title: "Two" });
  const entry = (await entriesOf(id)).at(-1) as LogEntry;
  expect(entry).toMatchObject({ actor: "reviewer", syncId: answer.body.lastSyncId });
  expect(changeAttributionOf(entry)).toEqual({
    ...{ reason: "Shorter", run: "run-3", meta: { n: 1 } },
    ...{ proposal, proposedBy: "agent:writer" },
  });
  expect((await read(proposal)).body).toMatchObject({
    status: "accepted",
    decision: { by: "agent:reviewer", reason: "Good", syncId: entry.syncId },
  });
  expect(attributionOf(entry)).toMatchObject({ run: "run-3" });
});

test("[PR4] by operation and by field: what is not taken is dropped", async () => {
  const id = await slide();
  const operations = [
    { action: "update", model: "slide", id, data: { title: "Two", notes: "New" } },
    { action: "create", model: "slide", id: `${id}-x`, data: { deckId: "a" } },
  ];
  const { body } = await call("POST", "/v1/commits", { token: agent.token, json: { operations } });
  const proposal = String(body.proposal);
  const bad = [
    [{ take: [{ operation: 2 }] }, "take[0].operation"],
    [{ take: [{ operation: 0 }, { operation: 0 }] }, "take[1].operation"],
    [{ take: [{ operation: 0, fields: ["order"] }] }, "take[0].fields"],
    [{ take: [] }, "take"],
    [{ onStale: "never" }, "onStale"],
  ] as const;
  for (const [json, param] of bad) expect((await decide(proposal, "accept", json)).body).toMatchObject({ param });
  const take = [{ operation: 0, fields: ["title"] }];
  expect((await decide(proposal, "accept", { take })).status).toBe(200);
  expect(await rowOf(id)).toMatchObject({ title: "Two", notes: "-" });
  expect((await call("GET", `${slides}/${id}-x`)).status).toBe(404);
  expect((await read(proposal)).body).toMatchObject({ status: "accepted", decision: { take } });
});

test("[PR5] a field that others changed since is asked, also if the reviewer did, and the proposal stays open", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Two", notes: "New" });
  await patch(reviewer.token, id, { title: "Mine" });
  const asked = await decide(proposal, "accept");
  expect(asked.body).toMatchObject({
    status: "rejected",
    notifications: [{ id, conflictingFields: ["title"], currentValues: { title: "Mine" } }],
  });
  expect((await read(proposal)).body.status).toBe("open");
  expect((await decide(proposal, "accept", { onStale: "reject" })).body.code).toBe("stale_context");
  const readAt = Number(asked.body.lastSyncId);
  expect((await decide(proposal, "accept", { readAt })).body.status).toBe("confirmed");
  expect(await rowOf(id)).toMatchObject({ title: "Two", notes: "New" });
});

test("[PR6] reviewers at once, at two servers: one decides, and the others are told how it ended", async () => {
  const server = await app.another();
  const id = await slide();
  const ways = ["accept", "reject", "accept", "reject", "accept", "withdraw"] as const;
  for (let round = 0; round < 10; round++) {
    const proposal = await propose(id, { title: `Round ${round}` });
    const answers = await Promise.all(
      ways.map((how, i) => {
        const token = how === "withdraw" ? agent.token : reviewer.token;
        const to = i % 2 === 0 ? call : server.call;
        return to("POST", `/v1/proposals/${proposal}/${how}`, { token, json: {} });
      }),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBe(1);
    for (const { status, body } of answers.filter((one) => !won.includes(one)))
      expect([status, body.code]).toEqual([409, "proposal_ended"]);
    const ended = (await read(proposal)).body.status;
    expect((await rowOf(id)).title === `Round ${round}`).toBe(ended === "accepted");
  }
});

test("[PR6] an acceptance that is repeated with its key is answered again, and written once", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Two" });
  const accept = () => call("POST", `/v1/proposals/${proposal}/accept`, { token: reviewer.token, key: "pr6" });
  const first = await accept();
  expect((await accept()).text).toBe(first.text);
  expect((await entriesOf(id)).length).toBe(2);
  const again = await call("PATCH", `${slides}/${id}`, {
    token: agent.token,
    key: "p6",
    json: { data: { title: "3" } },
  });
  const repeated = await call("PATCH", `${slides}/${id}`, {
    ...{ token: agent.token, key: "p6", json: { data: { title: "3" } } },
  });
  expect(repeated.text).toBe(again.text);
  expect((await listed(`&model=slide&id=${id}`)).length).toBe(1);
});

test("[PR7] a proposal is decided by those who may write all of it, never by its author, nor by who may only propose", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Two" });
  const another = await capability({ operations: ["slide.propose"], syncGroups: ["deck:a"], participantId: "two" });
  for (const how of ["accept", "reject"] as const) {
    expect((await decide(proposal, how, {}, agent.token)).body.code).toBe("own_proposal");
    for (const { token } of [another, reader])
      expect((await decide(proposal, how, {}, token)).body).toMatchObject({ code: "capability_scope_denied" });
    expect((await decide(proposal, how, {}, other.token)).body.code).toBe("proposal_not_found");
  }
  expect((await decide(proposal, "withdraw")).body.code).toBe("not_proposal_author");
  expect((await read(proposal)).body.status).toBe("open");
  expect(await rowOf(id)).toMatchObject({ title: "One" });
  expect((await decide(proposal, "withdraw", { reason: "Not yet" }, agent.token)).body).toMatchObject({
    status: "withdrawn",
    decision: { by: "agent:writer", reason: "Not yet" },
  });
  expect((await decide(proposal, "accept")).body).toMatchObject({ code: "proposal_ended" });
});

test("[PR8] it is read only where all its records are, now and as it was, and by those who may read all their models", async () => {
  const [a, b] = [await slide(), await slide({ deckId: "b" })];
  const both = await call("POST", "/v1/commits", {
    json: {
      operations: [a, b].map((id) => ({ action: "update", model: "slide", id, data: { title: "Secret of b" } })),
      propose: true,
    },
  });
  const moves = await patch(app.keys.live, a, { deckId: "b" }, { propose: true });
  const [ofBoth, move] = [String(both.body.proposal), String(moves.body.proposal)];
  const wide = await capability({ operations: ["slide.read"], syncGroups: ["deck:a", "deck:b"] });
  for (const id of [ofBoth, move]) {
    for (const { token } of [reviewer, other]) expect((await read(id, token)).status).toBe(404);
    expect((await read(id, wide.token)).status).toBe(200);
    expect((await read(id, app.keys.other)).status).toBe(404);
    expect((await read(id, app.keys.test)).status).toBe(404);
  }
  const own = await propose(a, { title: "Of a" });
  expect((await listed(`&model=slide&id=${a}`)).map(({ id }) => id)).toEqual([own]);
  await patch(app.keys.live, a, { deckId: "b" });
  expect((await read(own)).status).toBe(404);
  expect((await read(own, agent.token)).status).toBe(404);
  const documents = await capability({ operations: ["document.*"], wideScope: true });
  expect((await read(own, documents.token)).status).toBe(404);
  expect((await call("GET", "/v1/proposals?model=slide", { token: documents.token })).status).toBe(403);
});

test("[PR9] lists go by status, record, author, run and branch, page by page, oldest first", async () => {
  const id = await slide();
  const run = "listed";
  const names: string[] = [];
  for (let i = 0; i < 7; i++)
    names.push(await propose(id, { title: `t${i}` }, { run, ...(i > 4 && { propose: { branch: "b" } }) }));
  await decide(names[0] as string, "reject");
  const ids = async (query: string) => (await listed(query)).map((one) => one.id);
  expect(await ids(`&run=${run}`)).toEqual(names.slice(1));
  expect(await ids(`&run=${run}&status=all`)).toEqual(names);
  expect(await ids(`&run=${run}&status=rejected`)).toEqual(names.slice(0, 1));
  expect(await ids(`&branch=b&run=${run}`)).toEqual(names.slice(5));
  expect(await ids(`&model=Slide&id=${id}&author=agent:writer`)).toEqual(names.slice(1));
  expect(await ids(`&author=agent:other&run=${run}`)).toEqual([]);
  const paged: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await call("GET", `/v1/proposals?run=${run}&limit=2${cursor}`, { token: reader.token });
    paged.push(...(body.data as Proposal[]).map((one) => one.id));
    if (!body.has_more) break;
    cursor = `&starting_after=${body.next_cursor}`;
  }
  expect(paged).toEqual(names.slice(1));
  const odd = ["status=new", "author=ann", "id=s1", "limit=0", "starting_after=x", `run=${"x".repeat(256)}`];
  for (const query of odd) expect((await call("GET", `/v1/proposals?${query}`)).status).toBe(400);
});

test("[PR10] it expires, and then it can be neither accepted nor rejected", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Late" }, { propose: { ttlSeconds: 60 } });
  await sql("update holdfast.proposal set ends_at = clock_timestamp() where id = $1", [proposal]);
  expect((await read(proposal)).body).toMatchObject({ status: "expired", decision: null });
  for (const how of ["accept", "reject"] as const)
    expect((await decide(proposal, how)).body).toMatchObject({ code: "proposal_ended" });
  expect((await listed(`&model=slide&id=${id}`)).length).toBe(0);
  expect((await listed(`&model=slide&id=${id}&status=expired`)).length).toBe(1);
  for (const propose of [false, { ttlSeconds: 59 }, { branch: "a b" }, { branch: "x".repeat(256) }, { other: 1 }])
    expect((await patch(agent.token, id, { title: "x" }, { propose })).body.param).toMatch(/^propose/);
});

test("[PR11] an erasure takes the proposals on the record with it; other changes leave them", async () => {
  const id = await slide();
  const mark = "Kx3-words-of-a-person";
  const proposal = await propose(id, { title: mark }, { reason: mark });
  const gone = await propose(await slide(), { title: "x" });
  await call("DELETE", `${slides}/${id}?erase=true`);
  expect((await read(proposal)).status).toBe(404);
  expect(await sql("select 1 from holdfast.proposal p where p::text like $1", [`%${mark}%`])).toEqual([]);
  const { operations } = (await read(gone)).body as unknown as Proposal;
  await call("DELETE", `${slides}/${operations[0]?.id}`);
  expect((await decide(gone, "accept")).body).toMatchObject({ status: "rejected" });
});

test("[PR12] after a push that renames a field, an open proposal has its name", async () => {
  const { token } = await app.newOrganization();
  const models = (field: string) => ({ note: { fields: { [field]: { type: "string" } } } });
  await call("POST", "/v1/schema", { token, json: { models: models("text") } });
  await call("POST", "/v1/models/note", { token, json: { id: "n1", data: { text: "One" } } });
  const { body } = await call("PATCH", "/v1/models/note/n1", { token, json: { data: { text: "Two" }, propose: true } });
  const renames = [{ model: "note", from: "text", to: "body" }];
  const pushed = await call("POST", "/v1/schema", { token, json: { models: models("body"), renames } });
  expect(pushed.status).toBe(201);
  const shown = await call("GET", `/v1/proposals/${body.proposal}`, { token });
  expect(shown.body.operations).toMatchObject([{ data: { body: "Two" }, base: { body: "One" } }]);
});

test("[PR13] a participant has up to 10 000 open proposals", async () => {
  const id = await slide();
  const { token } = await capability({ operations: ["slide.propose"], wideScope: true, participantId: "many" });
  expect((await patch(token, id, { title: "x" })).status).toBe(200);
  await sql(
    `insert into holdfast.proposal (tenant, id, author, client_tx_id, operations, read_at, created_at, ends_at)
     select $1, 'prop_many_' || i, 'agent:many', 't', '[]', 0, now(), now() + interval '1 day' from generate_series(1, 9998) i`,
    [app.tenants.live],
  );
  expect((await patch(token, id, { title: "y" })).status).toBe(200);
  expect(await patch(token, id, { title: "z" })).toMatchObject({ status: 429, body: { code: "too_many_proposals" } });
});

test("[PR14] proposals are no commits: none is counted, and the log and its position stay", async () => {
  const id = await slide();
  const before = await call("GET", "/v1/log?limit=1");
  const [counted] = await sql<{ n: string }>("select count(*)::text as n from holdfast.log");
  await propose(id, { title: "Two" });
  expect((await call("GET", "/v1/log?limit=1")).body.stamp).toBe(before.body.stamp);
  expect(await sql("select count(*)::text as n from holdfast.log")).toEqual([counted]);
});

test("[PR16] a commit that names a proposal decides it, in a bulk too, and may correct its values, and nothing else", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Teh", notes: "New" }, { run: "pr16" });
  const operation = (data: object) => ({ action: "update", model: "slide", id, data });
  const send = (clientTxId: string, data: object, decide: object = { proposal, how: "accept" }, more: object = {}) =>
    call("POST", "/v1/commits/bulk", {
      token: reviewer.token,
      json: { commits: [{ clientTxId, operations: [operation(data)], clientId: "tab-1", decide, ...more }] },
    }).then(({ body }) => (body.data as Record<string, unknown>[])[0]);
  expect(await send("c1", { order: 2 })).toMatchObject({ code: "not_proposed", param: "operations[0]" });
  const other = { action: "delete", model: "slide", id };
  const twice = await call("POST", "/v1/commits", {
    ...{ token: reviewer.token, json: { operations: [other], decide: { proposal, how: "accept" } } },
  });
  expect(twice.body.code).toBe("not_proposed");
  expect(await send("c2", { title: "x" }, { proposal, how: "accept" }, { propose: true })).toMatchObject({
    param: "propose",
  });
  expect(await send("c3", { title: "x" }, { proposal: "prop_none", how: "accept" })).toMatchObject({
    code: "proposal_not_found",
  });
  expect(await send("c4", { title: "x" }, { proposal, how: "perhaps" })).toMatchObject({ httpStatus: 400 });
  expect(await send("c5", { title: "The" })).toMatchObject({ status: "confirmed", httpStatus: 200 });
  expect(await rowOf(id)).toMatchObject({ title: "The", notes: "-" });
  expect((await read(proposal)).body.decision).toMatchObject({
    take: [{ operation: 0, fields: ["title"] }],
    edited: true,
  });
  expect((await entriesOf(id)).at(-1)).toMatchObject({ run: "pr16", proposedBy: "agent:writer", clientId: "tab-1" });
  expect(await send("c5", { title: "The" })).toMatchObject({ status: "confirmed" });
  expect(await send("c6", { title: "The" })).toMatchObject({ code: "proposal_ended" });

  const second = await propose(id, { title: "Four" });
  await call("POST", `${slides}/${id}/claim`, { token: app.keys.live, json: {} });
  expect(await send("c7", { title: "Four" }, { proposal: second, how: "reject", reason: "No" })).toMatchObject({
    status: "confirmed",
  });
  expect((await read(second)).body).toMatchObject({ status: "rejected", decision: { reason: "No" } });
  expect(await rowOf(id)).toMatchObject({ title: "The" });
});

test("[PR7] no reader, author or proposer decides by a commit that names the proposal", async () => {
  const id = await slide();
  const proposal = await propose(id, { title: "Two" });
  const another = await capability({ operations: ["slide.propose"], syncGroups: ["deck:a"], participantId: "three" });
  const operations = [{ action: "update", model: "slide", id, data: { title: "Two" } }];
  for (const how of ["accept", "reject"]) {
    const by = (token: string) =>
      call("POST", "/v1/commits", { token, json: { operations, decide: { proposal, how } } });
    expect((await by(agent.token)).body.code).toBe("own_proposal");
    for (const { token } of [another, reader]) expect((await by(token)).body.code).toBe("capability_scope_denied");
    expect((await by(other.token)).body.code).toBe("proposal_not_found");
  }
  expect((await read(proposal)).body.status).toBe("open");
  expect(await rowOf(id)).toMatchObject({ title: "One" });
});

test("[PR17] a stream that asks is told of proposals that its reader may see, by every server, and of their ends", async () => {
  const server = await app.another();
  const [near, far, hidden, silent] = await Promise.all([
    follow(app.url, reviewer.token),
    follow(server.server.url, agent.token),
    follow(app.url, other.token),
    follow(app.url, reviewer.token),
  ]);
  for (const stream of [near, far, hidden]) stream.send({ frame: "proposals" });
  const told = (stream: typeof near) => stream.frames.filter(({ frame }) => frame === "proposals").length;
  const id = await slide();
  await near.reaches(Number((await call("GET", "/v1/log?limit=1")).body.stamp));
  const proposal = await propose(id, { title: "Two" });
  await Promise.all([near.next("proposals"), far.next("proposals")]);
  await decide(proposal, "reject");
  await Promise.all([near.next("proposals"), far.next("proposals")]);
  const second = await propose(id, { title: "Three" });
  await Promise.all([near.next("proposals"), far.next("proposals")]);
  await decide(second, "withdraw", {}, agent.token);
  await Promise.all([near.next("proposals"), far.next("proposals")]);
  const third = await propose(id, { title: "Four" });
  await Promise.all([near.next("proposals"), far.next("proposals")]);
  await sql("update holdfast.proposal set ends_at = clock_timestamp() where id = $1", [third]);
  await Promise.all([near.next("proposals"), far.next("proposals")]);
  expect([told(near), told(hidden), told(silent)]).toEqual([6, 0, 0]);
  for (const stream of [near, far, hidden, silent]) await stream.close();
});

test("[PR8] an id that none can have is one that does not exist", async () => {
  for (const id of ["a%00", "..%2f", "x".repeat(256), "%F0%9F%98%80"]) {
    expect((await call("GET", `/v1/proposals/${id}`)).status).toBe(404);
    for (const how of ["accept", "reject", "withdraw"])
      expect([id, how, (await call("POST", `/v1/proposals/${id}/${how}`, { json: {} })).status]).toEqual([
        id,
        how,
        404,
      ]);
  }
  const operations = [{ action: "delete", model: "slide", id: "s1" }];
  for (const proposal of ["", "a b", "😀"])
    expect(
      (await call("POST", "/v1/commits", { json: { operations, decide: { proposal, how: "accept" } } })).status,
    ).toBe(404);
});

test("[PR4] of several operations on one record, each can be taken alone", async () => {
  const id = await slide();
  const operations = [{ title: "Two" }, { notes: "New" }].map((data) => ({
    action: "update",
    model: "slide",
    id,
    data,
  }));
  const ask = async () =>
    String((await call("POST", "/v1/commits", { token: agent.token, json: { operations } })).body.proposal);
  const second = await ask();
  expect((await decide(second, "accept", { take: [{ operation: 1 }] })).status).toBe(200);
  expect(await rowOf(id)).toMatchObject({ title: "One", notes: "New" });
  expect((await read(second)).body.decision).toMatchObject({ take: [{ operation: 1 }] });
  expect((await decide(await ask(), "accept")).body).toMatchObject({ status: "confirmed" });
});

test("[PR7] a spent budget and a claim keep no one from ending a proposal", async () => {
  const scope = { syncGroups: ["deck:a"], budget: { commits: 1 } };
  const spent = await capability({ operations: ["slide.propose"], participantId: "spent", ...scope });
  const judge = await capability({ operations: ["slide.*"], participantId: "judge", ...scope });
  const id = await slide();
  const { body } = await patch(spent.token, id, { title: "Two" });
  await patch(judge.token, await slide(), { title: "x" });
  expect((await patch(spent.token, id, { title: "Three" })).body.code).toBe("budget_spent");
  expect((await decide(String(body.proposal), "accept", {}, judge.token)).body.code).toBe("budget_spent");
  await call("POST", `${slides}/${id}/claim`, { json: {} });
  expect((await decide(String(body.proposal), "withdraw", {}, spent.token)).status).toBe(200);
  const other = await propose(id, { title: "Four" });
  expect((await decide(other, "reject", {}, judge.token)).status).toBe(200);
});
