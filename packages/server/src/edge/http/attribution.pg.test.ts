import { type Attribution, attributionOf, type LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { startReceiver } from "../../testing/receiver.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp({ webhooks: { allowPrivate: true } });
const { call, capability, sql } = app;
const slides = "/v1/models/slide";
const why = { reason: "Grün", run: "run-1", onBehalfOf: "user:ann", meta: { model: "m1", steps: [1, 2] } };
const entriesOf = async (query = "") => (await call("GET", `/v1/log?limit=1000${query}`)).body.data as LogEntry[];
const slide = (id: string, more: object = {}) => ({ json: { id, data: { deckId: "a" }, ...more } });
const operation = (action: string, id: string, data?: object) => ({
  action,
  model: "slide",
  id,
  ...(data && { data }),
});
const create = (id: string) => operation("create", id, { deckId: "a" });
/** An agent that may write for Ann. */
const writer = await capability({
  ...{ operations: ["slide.*"], syncGroups: ["deck:a"], participantId: "writer" },
  onBehalfOf: ["user:ann"],
});

test("[AT1] what a commit says of itself is in each of its entries, in histories, on streams and in webhooks", async () => {
  const receiver = await startReceiver();
  const { body: endpoint } = await call("POST", "/v1/webhook_endpoints", { json: { url: receiver.url } });
  receiver.secrets = [String(endpoint.secret)];
  const stream = await follow(app.url, app.keys.live);
  await call("POST", slides, slide("x0", why));
  await call("POST", "/v1/commits", { json: { operations: [create("x1"), create("x2")], ...why } });
  const said = { clientTxId: "said", operations: [operation("update", "x0", { title: "T" })], ...why };
  const unsaid = { clientTxId: "unsaid", operations: [operation("delete", "x1")] };
  await call("POST", "/v1/commits/bulk", { json: { commits: [said, unsaid] } });
  const entries = await entriesOf();
  expect(entries.map(attributionOf)).toEqual([why, why, why, why, undefined]);
  expect(entries.filter((entry) => "attribution" in entry)).toEqual([]);
  const history = await call("GET", `${slides}/x0/history`);
  expect((history.body.data as LogEntry[]).map(attributionOf)).toEqual([why, why]);
  await stream.reaches(entries.at(-1)?.syncId ?? 0);
  expect(stream.entries).toEqual(entries);
  await until(() => receiver.received.flatMap(({ events }) => events).length === entries.length);
  const events = receiver.received.flatMap(({ events }) => events);
  expect(events.map(attributionOf)).toEqual(entries.map(attributionOf));
  expect(events[0]).toMatchObject({ actor: entries[0]?.actor, participantKind: "system" });
});

test("[AT2] headers say the same on the routes of one record and of one commit", async () => {
  const sent = (headers: Record<string, string | string[]>, json: object) => call("POST", slides, { headers, json });
  const headers = {
    "holdfast-reason": "Gr%C3%BCn",
    "holdfast-run": "run 2",
    "holdfast-on-behalf-of": "user:ann",
  };
  expect((await sent(headers, slide("h1").json)).status).toBe(200);
  const commit = { operations: [operation("archive", "h1")] };
  expect((await call("POST", "/v1/commits", { headers, json: commit })).status).toBe(200);
  const [created, archived] = (await entriesOf("&run=run%202")).map(attributionOf);
  expect(created).toEqual({ reason: "Grün", run: "run 2", onBehalfOf: "user:ann" });
  expect(archived).toEqual(created);
  const again = { ...slide("h2").json, run: "run 2" };
  expect((await sent({ "holdfast-run": "run 2" }, again)).status).toBe(200);
  expect((await sent({ "holdfast-run": "another" }, { ...again, id: "h3" })).body).toMatchObject({ param: "run" });
  for (const odd of ["%zz", "%ff", "Gr\u00fcn"])
    expect((await sent({ "holdfast-reason": odd }, slide("h4").json)).body).toMatchObject({ param: "holdfast-reason" });
  expect((await sent({ "holdfast-run": ["a", "b"] }, slide("h4").json)).body.code).toBe("duplicate_header");
  const bulk = await call("POST", "/v1/commits/bulk", { headers, json: { commits: [commit] } });
  expect(bulk).toMatchObject({ status: 400, body: { param: "holdfast-reason" } });
});

test("[AT3] a token names only those for whom it was created, by every door, and stays the actor", async () => {
  const by = (token: string, json: object) => call("POST", slides, { token, json });
  const { token } = writer;
  expect((await by(token, slide("o1", why).json)).status).toBe(200);
  const [entry] = await entriesOf("&on_behalf_of=user:ann&actor=agent:writer");
  expect(entry).toMatchObject({ id: "o1", actor: "writer", participantKind: "agent", onBehalfOf: "user:ann" });
  const ben = { onBehalfOf: "user:ben" };
  const denied = { status: 403, body: { code: "on_behalf_of_denied", param: "onBehalfOf" } };
  expect(await by(token, slide("o2", ben).json)).toMatchObject(denied);
  expect(await call("POST", "/v1/commits", { token, json: { operations: [create("o2")], ...ben } })).toMatchObject(
    denied,
  );
  const bulk = { commits: [{ clientTxId: "b", operations: [create("o2")], ...ben }] };
  const { body } = await call("POST", "/v1/commits/bulk", { token, json: bulk });
  expect((body.data as object[])[0]).toMatchObject({ code: "on_behalf_of_denied", httpStatus: 403 });
  const claimed = await call("POST", `${slides}/o1/claim`, { token, json: ben });
  expect(claimed).toMatchObject(denied);
  expect((await call("GET", `${slides}/o2`)).status).toBe(404);
  const everyone = await capability({ operations: ["slide.*"], syncGroups: ["deck:a"], onBehalfOf: ["*"] });
  expect((await by(everyone.token, slide("o3", ben).json)).status).toBe(200);
  const { body: person } = await call("POST", "/v1/ephemeral_keys", {
    json: { user: { id: "ann" }, syncGroups: ["deck:a"] },
  });
  expect(await by(String(person.token), slide("o4", why).json)).toMatchObject(denied);
  const rotated = await call("POST", `/v1/capabilities/${writer.id}/rotate`, { json: { graceSeconds: 60 } });
  expect(rotated.body.onBehalfOf).toEqual(["user:ann"]);
  expect((await call("GET", "/v1/identity", { token })).body.onBehalfOf).toEqual(["user:ann"]);
});

test.each([
  ["an empty reason", "reason", ""],
  ["a reason of 1 001 characters", "reason", "x".repeat(1_001)],
  ["a run of 256", "run", "x".repeat(256)],
  ["a run that is a number", "run", 7],
  ["a name without a kind", "onBehalfOf", "ann"],
  ["a name with a space", "onBehalfOf", "user:a b"],
  ["a name of 256", "onBehalfOf", `user:${"x".repeat(256)}`],
  ["a list as meta", "meta", []],
  ["meta of more than 4 KiB", "meta", { note: "x".repeat(4_096) }],
])("[AT4] refuses %s", async (_, param, value) => {
  const odd = { [param]: value };
  const single = await call("POST", slides, slide("bad", odd));
  expect(single).toMatchObject({ status: 400, body: { param } });
  const batch = await call("POST", "/v1/commits", { json: { operations: [create("bad")], ...odd } });
  expect(batch).toMatchObject({ status: 400, body: { param } });
});

test("[AT4] takes what is as long as it may be, in 100 entries", async () => {
  const longest = { reason: "ü".repeat(1_000), run: "ü".repeat(255), meta: { note: "x".repeat(4_085) } };
  const operations = Array.from({ length: 100 }, (_, i) => create(`long-${i}`));
  expect((await call("POST", "/v1/commits", { json: { operations, ...longest } })).status).toBe(200);
  const page = await call("GET", `/v1/log?limit=1000&run=${encodeURIComponent(longest.run)}`);
  expect((page.body.data as LogEntry[]).map(attributionOf)).toEqual(operations.map(() => longest));
});

test("[AT5] the same key with another reason is another commit", async () => {
  const make = (reason: string) => call("POST", slides, { key: "at5", ...slide("k1", { reason }) });
  const first = await make("one");
  expect((await make("one")).text).toBe(first.text);
  expect(await make("two")).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
});

test("[AT6] [AT7] a reader who loses sight of a record is not told why, whatever run is asked for", async () => {
  await call("POST", slides, slide("m1"));
  const moves: Attribution = { reason: "Secret of deck b", run: "move" };
  await call("PATCH", `${slides}/m1`, { json: { data: { deckId: "b" }, ...moves } });
  const { token } = writer;
  const left = (await call("GET", "/v1/log?limit=1000", { token })).body.data as LogEntry[];
  const entry = left.findLast(({ id }) => id === "m1");
  expect(entry).toMatchObject({ left: true });
  expect(entry && attributionOf(entry)).toBe(undefined);
  expect((await call("GET", "/v1/log?limit=1000&run=move", { token })).body.data).toEqual([]);
  expect(await entriesOf("&run=move")).toMatchObject([{ id: "m1", ...moves }]);
});

test("[AT7] refuses filters that are no participants, or no run", async () => {
  for (const odd of ["actor=ann", "on_behalf_of=x:y", "run=", `run=${"x".repeat(256)}`]) {
    const { status, body } = await call("GET", `/v1/log?${odd}`);
    expect([status, body.param]).toEqual([400, odd.split("=")[0]]);
  }
});

test("[AT8] an erasure takes the words and the notes, and leaves run and principal", async () => {
  const mark = "9fK-words-of-a-person";
  await call("POST", slides, slide("e1", { ...why, reason: mark, meta: { mark } }));
  await call("PATCH", `${slides}/e1`, { json: { data: { title: "t" }, reason: mark } });
  await call("DELETE", `${slides}/e1`, { json: { reason: mark, run: "r9" } });
  await call("POST", slides, slide("e1", { reason: mark }));
  await call("DELETE", `${slides}/e1?erase=true`);
  const history = (await entriesOf()).filter(({ id }) => id === "e1");
  const left = { run: "run-1", onBehalfOf: "user:ann" };
  expect(history.map(attributionOf)).toEqual([left, undefined, { run: "r9" }, undefined, undefined]);
  expect(await sql("select 1 from holdfast.log l where l::text like $1", [`%${mark}%`])).toEqual([]);
});

test("[AT9] a claim says in which run it is held, and for whom", async () => {
  await call("POST", slides, slide("c1"));
  const { token } = writer;
  const given = { run: "run-1", onBehalfOf: "user:ann", description: "Shortens the title" };
  const claim = () => call("POST", `${slides}/c1/claim`, { token, json: given });
  expect((await claim()).body).toMatchObject(given);
  expect((await call("GET", `/v1/claims?model=slide&id=c1`)).body.data).toMatchObject([given]);
  const renewed = await call("POST", `${slides}/c1/claim`, { token, json: {} });
  expect(renewed.body).toMatchObject(given);
  const refused = await call("POST", `${slides}/c1/claim`, { json: {} });
  expect(refused.body).toMatchObject({ code: "claim_conflict", claims: [given] });
  for (const [odd, param] of [
    [{ run: "" }, "run"],
    [{ onBehalfOf: "ann" }, "onBehalfOf"],
  ] as const)
    expect(await call("POST", `${slides}/c1/claim`, { token, json: odd })).toMatchObject({
      status: 400,
      body: { param },
    });
});
