import { type FollowedRecords, type Model, schemaFingerprint } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { LATEST, NEWER, OLDER, olderTenant, RENAME } from "../../testing/renamed-fields.ts";
import { follow, openStream, type TestStream } from "../../testing/stream/stream.ts";

const app = await startApp();
const second = await app.another();
const { call, url } = app;

async function tenant() {
  const { token, push, age } = await olderTenant(app);
  const write = async (path: string, json: object, method = "POST", by = call) => {
    const answer = await by(method, path, { token, json });
    expect(answer.text).toContain('"confirmed"');
    return Number(answer.body.lastSyncId);
  };
  const create = (id: string, data: object, by = call) => write("/v1/models/slide", { id, data }, "POST", by);
  const stream = (models: Record<string, Model>, hello: object = {}, at = url) =>
    follow(at, token, { schema: schemaFingerprint(models), ...hello });
  return { token, push, write, create, stream, age };
}

const dataOf = ({ entries }: TestStream) => entries.map(({ data }) => data);

test("[M30] [M51] a stream of a page with the older schema has its names: what it missed, and what comes", async () => {
  const { push, create, stream } = await tenant();
  await create("a", { title: "Before" });
  await push(NEWER, RENAME);
  await push(LATEST);
  const older = await stream(OLDER, { since: 0 });
  const newer = await stream(LATEST, { since: 0 });
  const end = await create("b", { heading: "After", title: "Another field", note: "n" });
  await Promise.all([older.reaches(end), newer.reaches(end)]);
  expect(dataOf(older)).toEqual([
    { id: "a", title: "Before" },
    { id: "b", title: "After", note: "n" },
  ]);
  expect(dataOf(newer)).toEqual([
    { id: "a", heading: "Before" },
    { id: "b", heading: "After", title: "Another field", note: "n" },
  ]);
});

test("[M35] across a push, a connected page gets no entry under other names: it resyncs, says hello again, and goes on", async () => {
  const { push, write, create, stream, token } = await tenant();
  const older = await stream(OLDER);
  await older.reaches(await create("a", { title: "Before" }));
  await push(NEWER, RENAME);
  const end = await write("/v1/models/slide/a", { data: { heading: "After" } }, "PATCH");
  expect(await older.next("resync")).toMatchObject({ reason: "schema" });
  older.send({ frame: "hello", token, since: 0, schema: schemaFingerprint(OLDER) });
  await older.next("welcome");
  await older.reaches(end);
  expect(dataOf(older).every((data) => data && "title" in data && !("heading" in data))).toBe(true);
  expect(older.entries.at(-1)).toMatchObject({ data: { title: "After" }, changedFields: ["title"] });
});

test("[M35] an entry that is faster than the message of a push is not sent under its names", async () => {
  const { push, create, stream, token } = await tenant();
  // The other server pushes and writes; this one hears of both in any order.
  const older = await stream(OLDER);
  for (const [nth, models] of [NEWER, LATEST].entries()) {
    await push(models, nth === 0 ? RENAME : {}, second.call);
    const end = await create(`r${nth}`, { heading: `After ${nth}` }, second.call);
    expect(await older.next("resync")).toMatchObject({ reason: "schema" });
    older.send({ frame: "hello", token, since: older.position, schema: schemaFingerprint(OLDER) });
    await older.next("welcome");
    await older.reaches(end);
    expect(older.entries.at(-1)?.data).toEqual({ id: `r${nth}`, title: `After ${nth}` });
  }
  expect(dataOf(older).some((data) => data && "heading" in data)).toBe(false);
});

test("[M30] [M52] conditions on older names follow the records, also after follow", async () => {
  const { push, create, stream } = await tenant();
  await push(NEWER, RENAME);
  const where: FollowedRecords = { slide: { title: "x" } };
  const older = await stream(OLDER, { since: 0, where });
  await older.reaches(await create("a", { heading: "x" }));
  await older.reaches(await create("b", { heading: "y" }));
  older.send({ frame: "follow", where: { slide: { title: { in: ["y"] } } } });
  older.send({ frame: "ping", n: 1 });
  await older.next("pong");
  await older.reaches(await create("c", { heading: "y" }));
  expect(older.entries.map(({ id }) => id)).toEqual(["a", "c"]);
});

test("[M30] [M51] claims on the stream have older names; one on a field that the page does not have is not shown", async () => {
  const { push, create, stream, token } = await tenant();
  await create("a", { title: "x" });
  await push(NEWER, RENAME);
  await push(LATEST);
  const [older, newer] = [await stream(OLDER), await stream(LATEST)];
  for (const one of [older, newer]) {
    one.send({ frame: "watch", model: "slide", ids: ["a"] });
    await one.next("claims");
  }
  const claim = (field: string) =>
    call("POST", "/v1/models/slide/a/claim", { token, json: { field, clientId: `c_${field}` } });
  await claim("heading");
  expect((await older.next("claims")).claims).toMatchObject([{ field: "title", target: { field: "title" } }]);
  expect((await newer.next("claims")).claims).toMatchObject([{ field: "heading" }]);
  expect((await older.next("claim")).claim).toMatchObject({ field: "title" });
  await claim("title");
  expect((await newer.next("claims")).claims).toHaveLength(2);
  expect((await older.next("claims")).claims).toMatchObject([{ field: "title", target: { field: "title" } }]);
});

test("[M30] [M53] the welcome has the rowsVersion of the page's names, as the log has", async () => {
  const { push, stream, token } = await tenant();
  await push(NEWER, RENAME);
  const [older, newer] = [await stream(OLDER), await stream(NEWER)];
  const versionOf = ({ frames }: TestStream) =>
    frames.flatMap((frame) => (frame.frame === "welcome" ? [frame.rowsVersion] : []));
  const log = await call("GET", "/v1/log", { token, headers: { "holdfast-schema": schemaFingerprint(OLDER) } });
  expect(versionOf(older)).toEqual([log.body.rowsVersion]);
  expect(versionOf(newer)).toEqual([2]);
  expect(versionOf(older)).not.toEqual([2]);
});

test("[M34] a page whose schema is too old gets no stream", async () => {
  const { push, token, age } = await tenant();
  await push(NEWER, RENAME);
  await age(31);
  const stream = await openStream(url);
  stream.send({ frame: "hello", token, schema: schemaFingerprint(OLDER) });
  expect(await stream.next("error")).toMatchObject({ code: "schema_too_old" });
  expect((await stream.closed).code).toBe(4400);
});

test.each(["x", "0abc123,", "-1"])("[M31] a hello with a malformed schema is refused: %s", async (schema) => {
  const { token } = await tenant();
  const stream = await openStream(url);
  stream.send({ frame: "hello", token, schema });
  expect(await stream.next("error")).toMatchObject({ code: "invalid_frame", param: "schema" });
  expect((await stream.closed).code).toBe(4400);
});

test("[M30] clients with the same older names share the frames that are made for them, and others are not changed", async () => {
  const { push, create, stream } = await tenant();
  await push(NEWER, RENAME);
  const pages = await Promise.all([
    ...Array.from({ length: 5 }, () => stream(OLDER)),
    ...Array.from({ length: 5 }, () => stream(NEWER)),
    stream(OLDER, {}, second.server.url),
  ]);
  const end = await create("a", { heading: "x" });
  await Promise.all(pages.map((page) => page.reaches(end)));
  const names = pages.map((page) => Object.keys(page.entries.at(-1)?.data ?? {}).at(-1));
  expect(names).toEqual([...Array(5).fill("title"), ...Array(5).fill("heading"), "title"]);
});
