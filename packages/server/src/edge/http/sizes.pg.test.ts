import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type Answer, startApp } from "../../testing/app.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp();
const { call, keys, url } = app;
const PAGE = 4 * 1024 * 1024;
const COUNT = 12;

/** Text that Postgres stores in a hundredth of its size. */
const long = (n: number, length = 900_000) => `${n} `.repeat(length).slice(0, length);
const id = (n: number) => `big${String(n).padStart(2, "0")}`;
const ids = Array.from({ length: COUNT }, (_, i) => id(i));

for (let n = 0; n < COUNT; n += 1)
  await call("POST", "/v1/models/slide", { json: { id: id(n), data: { title: long(n), order: n } } });
for (let n = 0; n < COUNT; n += 1)
  await call("PATCH", `/v1/models/slide/${id(0)}`, { json: { data: { title: long(100 + n) } } });

interface Page {
  readonly bytes: number;
  readonly found: readonly string[];
  readonly next: string | null;
}

/** Reads page after page until there is no next one. */
async function pages(path: string, read: (answer: Answer) => Omit<Page, "bytes">): Promise<Page[]> {
  const all: Page[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const answer = await call("GET", path + next);
    expect(answer.status).toBe(200);
    const page = { ...read(answer), bytes: Buffer.byteLength(answer.text) };
    all.push(page);
    next = page.next;
    expect(all.length).toBeLessThan(50);
  }
  return all;
}

/** Several pages, none of them empty or too large, that hold exactly this. */
function expectWithin(all: readonly Page[], wanted: readonly string[]): void {
  expect(all.flatMap(({ found }) => found)).toEqual(wanted);
  expect(all.length).toBeGreaterThan(2);
  for (const { bytes, found } of all) {
    expect(bytes).toBeLessThanOrEqual(PAGE + 1_000);
    expect(found.length).toBeGreaterThan(0);
  }
}

interface ListBody {
  readonly data: readonly { readonly id: string; readonly syncId: number }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}
const ofList =
  (name: (row: ListBody["data"][number]) => string, parameter = "starting_after") =>
  ({ body }: Answer) => {
    const { data, has_more: more, next_cursor: cursor } = body as unknown as ListBody;
    return { found: data.map(name), next: more ? `&${parameter}=${encodeURIComponent(cursor ?? "")}` : null };
  };

const snapshotPages = (model: string) =>
  pages(`/v1/snapshot?model=${model}`, ({ text }) => {
    const lines = text.trim().split("\n").slice(1);
    const { next_cursor: cursor, count } = JSON.parse(lines.pop() ?? "") as { next_cursor: string; count: number };
    expect(count).toBe(lines.length);
    return {
      found: lines.map((line) => (JSON.parse(line) as { id: string }).id),
      next: cursor === null ? null : `&starting_after=${encodeURIComponent(cursor)}`,
    };
  });

test("[B8] a snapshot's pages end after 4 MiB, and the cursor continues after the last record", async () => {
  expectWithin(await snapshotPages("slide"), ids);
});

test("[B8] so do pages of the log", async () => {
  const all = await pages(
    "/v1/log?limit=1000",
    ofList(({ syncId }) => String(syncId), "after"),
  );
  expectWithin(
    all,
    Array.from({ length: 2 * COUNT }, (_, i) => String(i + 1)),
  );
});

test.each(["asc", "desc"])("[B8] and of a record's history, %s", async (order) => {
  const positions = [1, ...Array.from({ length: COUNT }, (_, i) => COUNT + i + 1)].map(String);
  const all = await pages(
    `/v1/models/slide/${id(0)}/history?limit=100&order=${order}`,
    ofList(({ syncId }) => String(syncId)),
  );
  expectWithin(all, order === "asc" ? positions : positions.toReversed());
});

test.each(["", "&order=desc", "&order_by=order", "&order_by=notes", "&order_by=createdAt&order=desc"])(
  "[B8] and of lists%s",
  async (how) => {
    const all = await pages(
      `/v1/models/slide?limit=100${how}`,
      ofList(({ id: one }) => one),
    );
    expectWithin(all, how.endsWith("desc") ? ids.toReversed() : ids);
  },
);

test("[B8] a stream catches up in frames of up to 4 MiB", async () => {
  const stream = await follow(url, keys.live, { since: 0 });
  const sizes: number[] = [];
  stream.socket.on("message", (frame: Buffer) => sizes.push(frame.length));
  await stream.reaches(2 * COUNT);
  expect(stream.faults).toEqual([]);
  expect(stream.entries.map(({ syncId }) => syncId)).toEqual(Array.from({ length: 2 * COUNT }, (_, i) => i + 1));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE);
});

test("[B8] a larger entry comes alone", async () => {
  const wide = await app.another({ limits: { recordBytes: 8 * 1024 * 1024 } });
  for (const field of ["title", "notes", "settings", "templateId", "sourceSlideId"]) {
    const json = { data: { [field]: long(7, 1_040_000) } };
    const made = await wide.call("PATCH", "/v1/models/slide/big11", { json });
    expect(made.status).toBe(200);
  }
  const { body } = await call("GET", "/v1/models/slide?ids=big10,big11");
  expect((body as unknown as ListBody).data.map((row) => row.id)).toEqual(["big10"]);
  const rest = await call("GET", `/v1/models/slide?ids=big10,big11&starting_after=${String(body.next_cursor)}`);
  expect((rest.body as unknown as ListBody).data.map((row) => row.id)).toEqual(["big11"]);
  expect(rest.body.has_more).toBe(false);
  expect(rest.text.length).toBeGreaterThan(PAGE);
});

test("[C16] [B6] the limit is a setting, counted in bytes of UTF-8", async () => {
  const narrow = await app.another({ limits: { recordBytes: 1_024 } });
  const empty = JSON.stringify({ id: "edge", title: "", order: 0 }).length;
  const write = async (title: string, name = "edge") =>
    (await narrow.call("POST", "/v1/models/slide", { json: { id: name, data: { title } } })).status;
  expect(await write("é".repeat((1_024 - empty) / 2 + 1))).toBe(400);
  expect(await write("x".repeat(1_025 - empty))).toBe(400);
  expect(await write(`${"x".repeat((1_024 - empty) % 2)}${"é".repeat(Math.floor((1_024 - empty) / 2))}`)).toBe(200);
  // What is too large already can be archived and deleted.
  expect((await narrow.call("POST", `/v1/models/slide/${id(2)}/archive`)).status).toBe(200);
  expect((await narrow.call("DELETE", `/v1/models/slide/${id(2)}`)).status).toBe(200);
});

test("[B8] also where Postgres compresses some of the records and others not", async () => {
  const random = (length: number) => randomBytes(length / 2).toString("hex");
  const large = Array.from({ length: 4 }, () => random(900_000));
  const texts = [...large, long(4), "short", random(600_000), long(7), "short", long(9), ...large, "short", long(15)];
  const names = texts.map((_, n) => `mixed${String(n).padStart(2, "0")}`);
  for (const [n, title] of texts.entries())
    await call("POST", "/v1/models/document", { json: { id: names[n], data: { title } } });
  expectWithin(await snapshotPages("document"), names);
});
