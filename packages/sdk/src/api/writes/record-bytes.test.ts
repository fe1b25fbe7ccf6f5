import { expect, test } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { MemoryDisk } from "../../storage/memory.ts";
import { Profile } from "../../testing/profile.ts";
import { createTestServer, type TestClientOptions } from "../../testing/test-server.ts";

const schema = defineSchema({ models: { note: { fields: { title: { type: "string" }, body: { type: "string" } } } } });
const LIMIT = 1_024;
const NAMES = JSON.stringify({ id: "a", title: "" }).length;

/** Clients of one server, each of which hears this limit from it. */
function startServer() {
  const { client: open, settle, clock } = createTestServer(schema);
  return {
    settle,
    clock,
    async client(recordBytes: number | undefined, options?: TestClientOptions) {
      const made = open(options);
      made.connection.recordBytes = recordBytes;
      await settle();
      return { ...made, note: made.client.models.note };
    },
  };
}

const refused = (write: () => unknown, bytes: number) =>
  expect(write).toThrow(
    expect.objectContaining({
      ...{ name: "SyncError", code: "record_too_large", param: "data", status: 400 },
      message: `The record would have ${bytes} bytes of JSON (the limit is ${LIMIT}).`,
    }),
  );

test("[Q52] values that are larger than a record can be are refused at the call, and hold nothing back", async () => {
  const { client: open, settle } = startServer();
  const { client, note } = await open(LIMIT);
  const create = (title: string) => note.create({ title }, { id: "a" });
  refused(() => create("x".repeat(LIMIT - NAMES + 1)), LIMIT + 1);
  refused(() => create(`x${"é".repeat((LIMIT - NAMES) / 2 + 1)}`), LIMIT + 2 + ((LIMIT - NAMES + 1) % 2));
  const { receipt } = create("x".repeat(LIMIT - NAMES));
  await settle();
  await expect(receipt).resolves.toMatchObject({ status: "confirmed" });
  const body = "x".repeat(LIMIT);
  const bytes = JSON.stringify({ id: "a", body }).length;
  refused(() => note.update("a", { body }), bytes);
  refused(
    () =>
      client.commit([
        { action: "update", model: "note", id: "a", data: { title: "" } },
        { action: "create", model: "note", id: "b", data: { body } },
      ]),
    bytes,
  );
  expect(client.status().pending).toBe(0);
  // How large the rest of the record is by then, only the server knows.
  await note.update("a", { body: "x" }).receipt;
});

test("[Q52] [Q71] without a limit that the server has said, and once it says none any more, the server decides", async () => {
  const { client: open, settle } = startServer();
  const { client, connection, note, signals } = await open(undefined);
  const title = "x".repeat(LIMIT);
  await note.create({ title }, { id: "a" }).receipt;
  const says = async (recordBytes: number | undefined) => {
    connection.recordBytes = recordBytes;
    connection.cut?.();
    signals.woke();
    await settle();
  };
  await says(LIMIT);
  refused(() => note.update("a", { title }), LIMIT + NAMES);
  await says(undefined);
  await note.update("a", { title: `${title}x` }).receipt;
  expect(client.status().pending).toBe(0);
});

test("[Q52] [Q70] the limit is known after a reload without a network", async () => {
  const { client: open } = startServer();
  const disk = new MemoryDisk();
  const { client } = await open(LIMIT, { disk });
  await client.close();
  const { note } = await open(undefined, { disk, paused: true });
  refused(() => note.create({ title: "x".repeat(LIMIT) }, { id: "a" }), LIMIT + NAMES);
});

test.each([
  ["has a stream", true],
  ["polls", false],
])("[Q52] [Q70] the tabs that follow know the limit from the one that leads and %s", async (_, stream) => {
  const { client: open, settle, clock } = startServer();
  const [disk, profile] = [new MemoryDisk(), new Profile()];
  const tab = () => {
    const { tabs } = profile.tab();
    return open(undefined, { disk, stream, platform: { tabs: () => tabs } });
  };
  const [first, second] = [await tab(), await tab()];
  first.connection.recordBytes = LIMIT;
  if (stream) first.connection.cut?.();
  if (stream) first.signals.woke();
  else clock.advance(5_000);
  await settle();
  refused(() => second.note.create({ title: "x".repeat(LIMIT) }, { id: "a" }), LIMIT + NAMES);
  expect(second.connection.asked).toEqual({ snapshot: 0, log: 0, socket: 0 });
});
