import { expect, onTestFinished, test } from "vitest";
import { defineSchema } from "../protocol/schema/row-types.ts";
import { createTestServer } from "../testing/test-server.ts";
import { livePart } from "./live-part.ts";

const schema = defineSchema({ models: { note: { fields: { deckId: { type: "string" } } } } });

async function open() {
  const { client: connect, settle } = createTestServer(schema);
  const { client, offline } = connect({ follow: { where: { note: [] } } });
  onTestFinished(() => client.close());
  await client.ready();
  return { client, settle, offline };
}

test("[BN11] a part whose conditions are wrong has failed, and says why", async () => {
  const { client } = await open();
  const part = livePart(client, "note", { deck: "d1" } as object);
  let notified = 0;
  const unsubscribe = part.subscribe(() => {
    notified += 1;
  });
  expect(part.read()).toMatchObject({ status: "failed", error: { code: "unknown_field" } });
  expect(notified).toBe(1);
  unsubscribe();
});

test("[BN11] a part has failed if the client is closed before it has been loaded", async () => {
  const { client, settle, offline } = await open();
  offline();
  const part = livePart(client, "note", { deckId: "d1" });
  const unsubscribe = part.subscribe(() => {});
  expect(part.read()).toEqual({ status: "loading" });
  await client.close();
  await settle();
  expect(part.read()).toMatchObject({ status: "failed", error: { code: "client_closed" } });
  unsubscribe();
});

test("[BN11] a part that is not used any more is silent", async () => {
  const { client, settle } = await open();
  const part = livePart(client, "note", { deckId: "d1" });
  let notified = 0;
  part.subscribe(() => {
    notified += 1;
  })();
  await client.close();
  await settle();
  expect(notified).toBe(0);
});
