import { expect, test } from "vitest";
import { startClient } from "../testing/start-client.ts";
import { increment } from "./writes/changes.ts";

const schema = { models: { slide: { fields: { votes: { type: "number" } } } } } as const;

/** One vote is in the log, and its receipt was lost. */
async function voted(socketUp: boolean) {
  const made = await startClient(schema);
  const { slide } = made.client.models;
  slide.create({ votes: 0 }, { id: "a" });
  await made.settle();
  if (!socketUp) {
    made.connection.socketUp = false;
    made.connection.cut?.();
    await made.settle();
  }
  made.connection.answers.push("lost");
  slide.update("a", { votes: increment(1) });
  await made.settle();
  return { ...made, slide };
}

test.each([
  ["before the client learns that its receipt is lost", true],
  ["after the client has learned that its receipt is lost", false],
])("[Q51] an increment that the log brings %s is shown once, also after a reload without a network", async (_, up) => {
  const { client, slide, connection, disk, offline, open, pass, settle, server } = await voted(up);
  if (!up) {
    // The next attempt gets no answer either, and the log is read meanwhile.
    connection.answers.push({ kind: "silence", timedOut: false, reason: "" });
    for (let i = 0; i < 20 && client.status().syncId < server.head; i++) {
      connection.answers.push({ kind: "silence", timedOut: false, reason: "" });
      await pass(1, 5_000);
    }
  }
  expect([slide.get("a")?.votes, client.status().pending, client.status().syncId]).toEqual([1, 1, 2]);
  offline();
  await settle();
  await client.close();
  const again = open({ disk, paused: true });
  await again.client.ready();
  expect(again.client.models.slide.get("a")?.votes).toBe(1);
  again.client.resume();
  await pass(60);
  expect(again.client.models.slide.get("a")?.votes).toBe(1);
  expect([again.client.status().pending, server.log.length]).toEqual([0, 2]);
});
