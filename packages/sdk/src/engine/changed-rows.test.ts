import { expect, test } from "vitest";
import { recordKey } from "../core/log/tables.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const s1 = recordKey({ model: "slide", id: "s1" });

/** One record, which a push of a schema then changes without an entry in the log. */
async function start(options: TestClientOptions = {}) {
  const own = createTestServer(schema);
  const made = own.client(options);
  await made.client.ready();
  await made.client.models.slide.create({ title: "before" }, { id: "s1" }).receipt;
  await own.settle();
  const rewrite = () => {
    const row = own.server.rows.get(s1);
    if (!row) throw new Error("There is no record.");
    own.server.rows.set(s1, { ...row, data: { ...row.data, title: "after" } });
    own.server.rowsVersion += 1;
  };
  const wait = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      own.clock.advance(1_000);
      await own.settle();
    }
  };
  return { ...own, ...made, make: own.client, rewrite, wait };
}

test("[N12] a client that was away while records changed without log entries reads them again, once", async () => {
  const { client, connection, rewrite, wait, settle } = await start();
  client.pause();
  await settle();
  rewrite();
  client.resume();
  await wait(3);
  expect(client.models.slide.get("s1")?.title).toBe("after");
  const asked = connection.asked.snapshot;
  connection.cut?.();
  await wait(5);
  expect(connection.asked.snapshot).toEqual(asked);
  expect(client.status().name).toBe("online");
});

test("[N12] also when it was closed meanwhile", async () => {
  const { client, disk, make, rewrite, wait } = await start();
  await client.close();
  rewrite();
  const again = make({ disk });
  await again.client.ready();
  await wait(3);
  expect(again.client.models.slide.get("s1")?.title).toBe("after");
  await again.client.close();
  const third = make({ disk });
  await third.client.ready();
  await wait(3);
  expect(third.connection.asked.snapshot).toBe(0);
});

test("[N12] also when it asks for the log, since it has no socket", async () => {
  const { client, rewrite, wait } = await start({ stream: false });
  await wait(6);
  rewrite();
  await wait(12);
  expect(client.models.slide.get("s1")?.title).toBe("after");
});
