import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { MemoryDisk, memoryStorage } from "../../storage/memory.ts";
import { createTestServer } from "../../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const ids = (n: number) => Array.from({ length: n }, (_, i) => `s${i}`);

/** A server with seven records, two in a page, and a connection that is cut after some pages: one more is on its way. */
async function start(pages: number, disk = new MemoryDisk()) {
  const own = createTestServer(schema);
  for (const id of ids(7)) {
    const commit = { operations: [{ action: "create", model: "slide", id, data: { title: id }, onStale: "notify" }] };
    own.server.commit({ ...commit, clientTxId: id, clientId: "c" } as never, "ben");
  }
  const open = async (stopAfter = Number.POSITIVE_INFINITY) => {
    const made = own.client({ disk });
    made.connection.snapshotPage = 2;
    const off = made.client.subscribe(() => {
      if ((made.client.status().loadedRows ?? 0) < 2 * stopAfter) return;
      made.connection.up = false;
      off();
    });
    await own.settle();
    return { ...made, slides: made.client.models.slide };
  };
  return { ...own, open, ...(await open(pages)) };
}

test("[N13] a first snapshot is shown as it comes, with how much has come, and is ready when it is whole", async () => {
  const { client, connection, slides, settle, clock } = await start(1);
  expect(client.status()).toMatchObject({ name: "connecting", loadedRows: 4 });
  expect(slides.list().map((s) => s.id)).toEqual(ids(4));
  let isReady = false;
  void client.ready().then(() => {
    isReady = true;
  });
  await settle();
  expect(isReady).toBe(false);
  connection.up = true;
  clock.advance(60_000);
  await settle();
  expect(isReady).toBe(true);
  expect(slides.list().length).toBe(7);
  expect(client.status().loadedRows).toBe(undefined);
  expect(client.status()).toMatchObject({ name: "online", syncId: 7 });
});

test("[N13] after a reload the snapshot continues where it was: no page is read twice", async () => {
  const disk = new MemoryDisk();
  const { client, open, server } = await start(1, disk);
  await client.close();
  // What happens meanwhile comes with the log.
  const update = {
    operations: [{ action: "update", model: "slide", id: "s0", data: { title: "new" }, onStale: "overwrite" }],
  };
  server.commit({ ...update, clientTxId: "u", clientId: "c" } as never, "ben");
  const again = await open();
  expect(again.connection.asked.snapshot).toBe(2);
  expect(again.slides.list()).toHaveLength(7);
  expect(again.slides.get("s0")?.title).toBe("new");
  expect(again.client.status().syncId).toBe(8);
  await again.client.close();
  expect(disk.rows().position).toBe(8);
  expect(disk.rows().tables.slide?.size).toBe(7);
});

test("[N13] writes made while the snapshot loads are kept, and sent when it is complete", async () => {
  const { client, slides, server, connection, settle, clock } = await start(1);
  const write = slides.create({ title: "mine" }, { id: "mine" });
  await write.queued;
  expect(slides.get("mine")?.title).toBe("mine");
  connection.up = true;
  clock.advance(60_000);
  await settle();
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(slides.list().length).toBe(8);
  expect(server.head).toBe(8);
  expect(client.status().pending).toBe(0);
});

test("[N9] a log that was replaced between two pages is read from its beginning", async () => {
  const { client, connection, slides, server, settle, clock } = await start(2);
  server.restoreTo(5, "log_2");
  connection.up = true;
  clock.advance(60_000);
  await settle();
  expect(client.status().syncId).toBe(5);
  expect(slides.list().map((s) => s.id)).toEqual(ids(5));
});

test("[N9] a snapshot that the server does not continue is read from its beginning", async () => {
  const { client, connection, slides, settle, clock } = await start(2);
  connection.cursorsRefused = 1;
  connection.up = true;
  clock.advance(60_000);
  await settle();
  expect(connection.cursorsRefused).toBe(0);
  expect(client.status().syncId).toBe(7);
  expect(slides.list().length).toBe(7);
});

test("[N13] [N55] a client that has rows shows those until the new ones are whole", async () => {
  const { client, connection, slides, settle, clock } = await start(Number.POSITIVE_INFINITY);
  expect(client.status()).toMatchObject({ name: "online", syncId: 7 });
  const seen = new Set<number>();
  client.subscribe(() => seen.add(slides.list().length));
  connection.say({ frame: "resync", reason: "schema" } as never);
  await settle();
  clock.advance(1_000);
  await settle();
  expect(connection.asked.snapshot).toBe(8);
  expect([...seen]).toEqual([7]);
});

test("[N13] a page that does not join what is on disk is made up for in the end", async () => {
  const disk = new MemoryDisk();
  const { client, connection, settle, clock } = await start(2, disk);
  // Another tab began anew, and is gone.
  disk.keepPage({ logId: "log_1", stamp: 6, first: true, changes: [], cursor: "x" }, 1);
  connection.up = true;
  clock.advance(60_000);
  await settle();
  expect(client.status().syncId).toBe(7);
  expect((await memoryStorage(disk).open("c")).rows).toMatchObject({ position: 7, logId: "log_1" });
  expect(disk.rows().tables.slide?.size).toBe(7);
});

test("[N19] a page that times out is requested in a smaller size, which then grows again", async () => {
  const own = createTestServer(schema);
  for (const id of ids(7)) {
    const commit = { operations: [{ action: "create", model: "slide", id, data: { title: id }, onStale: "notify" }] };
    own.server.commit({ ...commit, clientTxId: id, clientId: "c" } as never, "ben");
  }
  const { client, connection } = own.client({ stream: false });
  connection.snapshotPage = 2;
  connection.largestPage = 700;
  for (let n = 0; n < 8; n++) {
    await own.settle();
    own.clock.advance(5_000);
  }
  expect(connection.limits.slice(0, 6)).toEqual([10_000, 2_500, 625, 1_250, 312, 625]);
  await client.ready();
  expect(client.models.slide.list()).toHaveLength(7);
  await client.close();
});

const slide = (id: string) => ({ model: "slide", id, onStale: "overwrite" });

/** A server with three pages of records, and a client that has taken in so many pieces of them. */
async function startInPage(pieces: number) {
  const own = createTestServer(schema);
  const write = (clientTxId: string, ...operations: object[]) =>
    own.server.commit({ operations, clientTxId, clientId: "c" } as never, "ben");
  const creates = ids(3_000).map((id) => ({ ...slide(id), action: "create", data: { title: id } }));
  for (let at = 0; at < creates.length; at += 100) write(`c${at}`, ...creates.slice(at, at + 100));
  const disk = new MemoryDisk();
  const open = () => {
    const made = own.client({ disk });
    made.connection.snapshotPage = 1_250;
    return made;
  };
  const { client, ...made } = open();
  const sizes: number[] = [];
  await new Promise<void>((resolve) => {
    const off = client.subscribe(() => {
      const rows = client.status().loadedRows ?? 0;
      if (rows > (sizes.at(-1) ?? 0)) sizes.push(rows);
      if (sizes.length < pieces) return;
      off();
      resolve();
    });
  });
  const complete = async (after = client, syncId = own.server.head) => {
    await until(async () => {
      own.clock.advance(5_000);
      await own.settle();
      expect(after.status()).toMatchObject({ syncId, rows: "complete" });
    });
    return after.models.slide.list().map(({ id }) => id);
  };
  return { ...own, ...made, client, write, open, disk, sizes, complete };
}

const all = ids(3_000).sort();

test("[N43] the rows of a large page are shown in pieces, and the client is ready when all of them are there", async () => {
  const { client, sizes, complete, connection, disk } = await startInPage(4);
  expect(sizes).toEqual([1_000, 1_250, 2_250, 2_500]);
  expect(client.status()).toMatchObject({ name: "connecting", rows: "partial" });
  expect((await complete()).sort()).toEqual(all);
  expect(client.status().loadedRows).toBe(undefined);
  expect(connection.asked.snapshot).toBe(3);
  await client.close();
  expect(disk.rows().tables.slide?.size).toBe(3_000);
});

describe.each([
  ["the first page", 1],
  ["a later page", 3],
])("between two pieces of %s", (_, pieces) => {
  test("[N44] if the app pauses, the page is read again when it resumes", async () => {
    const { client, complete, connection, settle } = await startInPage(pieces);
    const { loadedRows } = client.status();
    client.pause();
    await settle();
    expect(client.status().loadedRows).toBe(loadedRows);
    const asked = connection.asked.snapshot;
    client.resume();
    expect((await complete()).sort()).toEqual(all);
    expect(connection.asked.snapshot - asked).toBe(pieces === 1 ? 3 : 2);
    await client.close();
  });

  test("[N44] after a reload the client continues with the page, and shows no rows as complete before", async () => {
    const { client, open, complete } = await startInPage(pieces);
    await client.close();
    const again = open();
    const seen = new Set<string>();
    again.client.subscribe(() => {
      const { rows } = again.client.status();
      seen.add(`${rows}${rows === "complete" ? ` ${again.client.models.slide.list().length}` : ""}`);
    });
    expect((await complete(again.client)).sort()).toEqual(all);
    expect([...seen].filter((one) => one.startsWith("complete")).every((one) => one === "complete 3000")).toBe(true);
    expect(again.connection.asked.snapshot).toBe(pieces === 1 ? 3 : 2);
    await again.client.close();
  });

  test("[N44] if the log is replaced, none of its rows stay", async () => {
    const { client, server, complete } = await startInPage(pieces);
    server.restoreTo(2_990, "log_2");
    expect((await complete(client, 2_990)).sort()).toEqual(ids(2_990).sort());
    await client.close();
  });

  test("[N44] a record that is deleted in the meantime is not shown in the end", async () => {
    const { client, write, complete } = await startInPage(pieces);
    for (const id of ["s0", "s2999"]) write(`d${id}`, { ...slide(id), action: "delete" });
    expect(await complete()).toHaveLength(2_998);
    await client.close();
  });
});
