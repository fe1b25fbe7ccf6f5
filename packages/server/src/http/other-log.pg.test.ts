import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";

const app = await startApp();
const { call } = app;
const slides = "/v1/models/slide";
const logId = async () => String((await call("GET", "/v1/log?limit=1")).body.logId);
const head = async () => Number((await call("GET", "/v1/log?limit=1")).body.stamp);
const own = await logId();
const other = `${own}x`;
const update = (title: string) => ({ action: "update", model: "slide", id: "o1", data: { title } });
const commit = (json: object, key?: string) => call("POST", "/v1/commits", { json, ...(key !== undefined && { key }) });

await call("POST", slides, { json: { id: "o1", data: { title: "a" } } });

test("[C18] a write that names its tenant's log is taken", async () => {
  expect((await commit({ logId: own, operations: [update("b")] })).status).toBe(200);
  expect((await commit({ logId: null, operations: [update("c")] })).status).toBe(200);
});

test("[C18] a write that names another log is 409 `other_log`, whichever way it comes, and nothing of it is written", async () => {
  const before = await head();
  const json = { logId: other };
  const answers = await Promise.all([
    commit({ ...json, operations: [update("x")] }),
    commit({ ...json, operations: [{ action: "create", model: "slide", id: "o2", data: { title: "x" } }] }),
    call("POST", slides, { json: { ...json, id: "o3", data: { title: "x" } } }),
    call("PATCH", `${slides}/o1`, { json: { ...json, data: { title: "x" } } }),
    call("DELETE", `${slides}/o1`, { json }),
    call("POST", `${slides}/o1/archive`, { json }),
  ]);
  for (const { status, body } of answers) {
    expect(status).toBe(409);
    expect(body).toMatchObject({ type: "conflict_error", code: "other_log", param: "logId" });
  }
  expect(await head()).toBe(before);
});

test("[C18] in a bulk each commit names its own", async () => {
  const commits = [
    { clientTxId: "k1", logId: own, operations: [update("d")] },
    { clientTxId: "k2", logId: other, operations: [{ action: "create", model: "slide", id: "o4", data: {} }] },
    { clientTxId: "k3", operations: [update("e")] },
  ];
  const { body } = await call("POST", "/v1/commits/bulk", { json: { commits } });
  expect((body.data as { httpStatus: number }[]).map(({ httpStatus }) => httpStatus)).toEqual([200, 409, 200]);
});

test("[C18] a key that the tenant knows is answered as the first time, whatever log its write names", async () => {
  const first = await commit({ logId: own, operations: [update("f")] }, "known");
  for (const named of [own, other, undefined]) {
    const again = await commit({ ...(named && { logId: named }), operations: [update("f")] }, "known");
    expect(again.text).toBe(first.text);
    expect(again.headers["idempotent-replayed"]).toBe("true");
  }
});

test("[C18] so are keys of all its operations; one that is new is judged in its log", async () => {
  const operation = (idempotencyKey: string) => ({
    ...{ action: "create", model: "slide", id: idempotencyKey, idempotencyKey },
    data: { title: "Once" },
  });
  const send = (...keys: string[]) =>
    call("POST", "/v1/commits", { json: { logId: "log_other", operations: keys.map(operation) } });
  expect((await call("POST", "/v1/commits", { json: { operations: [operation("op-1")] } })).status).toBe(200);
  expect((await send("op-1")).status).toBe(200);
  expect((await send("op-1", "op-2")).body).toMatchObject({ code: "other_log" });
});

test("[C18] what is no name of a log is 400", async () => {
  expect((await commit({ logId: 7, operations: [update("g")] })).body).toMatchObject({ code: "invalid_type" });
});
