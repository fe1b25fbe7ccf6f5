import { expect, test } from "vitest";
import { recordKey } from "../core/log/tables.ts";
import { startClient } from "../testing/start-client.ts";
import type { TestClientOptions } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const s1 = recordKey({ model: "slide", id: "s1" });

/** One record, which a push of a schema then changes without an entry in the log. */
async function start(options: TestClientOptions = {}) {
  const made = await startClient(schema, options);
  await made.client.models.slide.create({ title: "before" }, { id: "s1" }).receipt;
  await made.settle();
  const rewrite = () => {
    const row = made.server.rows.get(s1);
    if (!row) throw new Error("There is no record.");
    made.server.rows.set(s1, { ...row, data: { ...row.data, title: "after" } });
    made.server.rowsVersion += 1;
  };
  return { ...made, rewrite };
}

test("[N12] a client that was away while records changed without log entries reads them again, once", async () => {
  const { client, connection, rewrite, pass, settle } = await start();
  client.pause();
  await settle();
  rewrite();
  client.resume();
  await pass(3);
  expect(client.models.slide.get("s1")?.title).toBe("after");
  const asked = connection.asked.snapshot;
  connection.cut?.();
  await pass(5);
  expect(connection.asked.snapshot).toEqual(asked);
  expect(client.status().name).toBe("online");
});

test("[N12] also when it was closed meanwhile", async () => {
  const { client, disk, open, rewrite, pass } = await start();
  await client.close();
  rewrite();
  const again = open({ disk });
  await again.client.ready();
  await pass(3);
  expect(again.client.models.slide.get("s1")?.title).toBe("after");
  await again.client.close();
  const third = open({ disk });
  await third.client.ready();
  await pass(3);
  expect(third.connection.asked.snapshot).toBe(0);
});

test("[N12] also when it asks for the log, since it has no socket", async () => {
  const { client, rewrite, pass } = await start({ stream: false });
  await pass(6);
  rewrite();
  await pass(12);
  expect(client.models.slide.get("s1")?.title).toBe("after");
});
