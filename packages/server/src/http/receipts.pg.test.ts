import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";
import { naughtyStrings } from "../testing/naughty-strings.ts";

const app = await startApp();
const { call } = app;
const receipt = (name: string, search = "", token = app.keys.live) =>
  call("GET", `/v1/commits/${encodeURIComponent(name)}${search}`, { token });
const create = (id: string, asking: { key?: string; clientTxId?: string; token?: string } = {}) =>
  call("POST", "/v1/models/slide", {
    json: { id, data: { deckId: "d" }, ...(asking.clientTxId !== undefined && { clientTxId: asking.clientTxId }) },
    ...(asking.key !== undefined && { key: asking.key }),
    ...(asking.token !== undefined && { token: asking.token }),
  });

test("[I10] a receipt is read again, byte for byte, by clientTxId and by key", async () => {
  const named = await create("r1", { clientTxId: "tx-1" });
  expect((await receipt("tx-1")).text).toBe(named.text);
  const both = await create("r2", { clientTxId: "tx-2", key: "key-2" });
  expect((await receipt("tx-2")).text).toBe(both.text);
  const byKey = await receipt("key-2");
  expect([byKey.status, byKey.text, byKey.headers["idempotent-replayed"]]).toEqual([200, both.text, undefined]);
  expect(byKey.headers["content-type"]).toBe(named.headers["content-type"]);
  const made = await create("r3");
  expect((await receipt(String(made.body.clientTxId))).text).toBe(made.text);
  const bulk = await call("POST", "/v1/commits/bulk", {
    json: { commits: [{ clientTxId: "tx-b", operations: [{ action: "delete", model: "slide", id: "none" }] }] },
  });
  const { httpStatus, ...item } = (bulk.body.data as { httpStatus: number }[])[0]!;
  expect([httpStatus, (await receipt("tx-b")).body]).toEqual([200, item]);
  expect((await call("GET", "/api/v1/commits/tx-1")).text).toBe(named.text);
});

test("[I10] a held receipt says that it is one", async () => {
  const { body } = await create("h1");
  await call("PATCH", "/v1/models/slide/h1", { json: { data: { title: "theirs" } } });
  const held = await call("PATCH", "/v1/models/slide/h1", {
    json: { data: { title: "mine" }, readAt: body.lastSyncId, onStale: "notify", clientTxId: "tx-held" },
  });
  const again = await receipt("tx-held");
  expect([again.text, again.headers["holdfast-held"]]).toEqual([held.text, "true"]);
});

test("[I10] what was refused, forgotten, or another's is 404", async () => {
  const missing = async (name: string, search?: string, token?: string) => {
    const { status, body } = await receipt(name, search, token);
    expect([name, status, body.code]).toEqual([name, 404, "commit_not_found"]);
  };
  await call("POST", "/v1/models/slide", { json: { id: "x", data: { nothing: 1 }, clientTxId: "tx-refused" } });
  await missing("tx-refused");
  await missing("tx-never");
  await missing("bulk");
  await missing("tx-1", "", app.keys.test);
  await missing("tx-1", "", app.keys.other);
  const second = await app.newKey();
  await missing("tx-1", "", second.token);
  await create("k1", { clientTxId: "tx-old" });
  await app.sql("delete from holdfast.receipt where name = 'tx-old'");
  await missing("tx-old");
});

test("[I10] an operation's own key names no commit", async () => {
  await call("POST", "/v1/commits", {
    json: {
      clientTxId: "tx-o",
      operations: [{ action: "create", model: "slide", id: "o1", data: {}, idempotencyKey: "own" }],
    },
  });
  for (const name of ["own", "operation own", " own"])
    expect([name, (await receipt(name)).status]).toEqual([name, 404]);
});

test("[I10] a secret key reads another participant's, of its own tenant", async () => {
  const second = await app.newKey();
  const theirs = await create("p1", { clientTxId: "tx-1", token: second.token });
  const asked = `?participant=system:${second.id}`;
  expect((await receipt("tx-1", asked)).text).toBe(theirs.text);
  expect((await receipt("tx-1")).text).not.toBe(theirs.text);
  expect((await receipt("tx-1", asked, app.keys.test)).status).toBe(404);
  expect((await receipt("tx-1", asked, app.keys.other)).status).toBe(404);
  expect((await receipt("tx-1", "?participant=user:nobody")).status).toBe(404);
  for (const participant of ["", "ann", "robot:ann", "user:", "user:a%00", "user:a%20b", "__proto__:a"]) {
    const { status, body } = await receipt("tx-1", `?participant=${participant}`);
    expect([participant, status, body.code, body.param]).toEqual([participant, 400, "invalid_value", "participant"]);
  }
  expect((await receipt("tx-1", "?who=me")).body.code).toBe("unknown_parameter");
});

test("[I10] who has no secret key reads its own receipts only", async () => {
  const mint = async (participantId: string) => {
    const json = { participantId, operations: ["slide.*"], syncGroups: [`org:${app.organization}`] };
    return String((await call("POST", "/v1/capabilities", { json })).body.token);
  };
  const [ann, bob] = [await mint("ann"), await mint("bob")];
  const written = await create("c1", { clientTxId: "tx-ann", token: ann });
  expect(written.status).toBe(200);
  expect((await receipt("tx-ann", "", ann)).text).toBe(written.text);
  expect((await receipt("tx-ann", "?participant=agent:ann", ann)).text).toBe(written.text);
  expect((await receipt("tx-ann", "", bob)).status).toBe(404);
  for (const asked of ["agent:ann", "nonsense"]) {
    const { status, body } = await receipt("tx-ann", `?participant=${asked}`, bob);
    expect([status, body.code, body.param]).toEqual([403, "secret_key_required", "participant"]);
  }
  expect((await receipt("tx-ann", "?participant=agent:ann")).text).toBe(written.text);
});

test("[I10] [H7] every name that a commit may have is found, and no other one breaks anything", async () => {
  const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join("");
  for (const name of [visible, "%".repeat(255), "/".repeat(255), "..", "a/b?c#d", '"quoted"', "%2F", "\\"]) {
    const answer = await create(`n${name.length}${name.charCodeAt(0)}`, { clientTxId: name });
    expect([name, answer.status]).toEqual([name, 200]);
    // A dot segment would be taken out of the address by most clients; this one sends it as it is.
    expect([name, (await receipt(name)).text]).toEqual([name, answer.text]);
  }
  for (const name of [...naughtyStrings, "x".repeat(256), "x".repeat(600), "\0", "a\0b", "é"].filter(
    (text) => text !== "" && !/\p{Surrogate}/u.test(text),
  ))
    expect((await receipt(name)).status).toBeLessThan(500);
});
