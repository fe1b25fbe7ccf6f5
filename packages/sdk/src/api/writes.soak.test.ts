import { expect, test } from "vitest";
import { createTestServer } from "../testing/test-server.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;

test("[Q40] a write costs the same however many writes to its record wait before it", async () => {
  const { client: open, settle } = createTestServer(schema);
  const { client } = open();
  await client.ready();
  const { slide } = client.models;
  slide.create({ title: "" }, { id: "s1" });
  await settle();
  client.pause();
  const cpuOf = async (writes: number) => {
    const before = process.cpuUsage();
    for (let i = 0; i < writes; i++) {
      slide.update("s1", { title: `Title ${i}` });
      if (i % 20 === 19) await settle();
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / writes;
  };
  await cpuOf(100);
  const few = await cpuOf(200);
  await cpuOf(3_000);
  // It was 30 times as much when each write went through all that wait; how fast a write is, the benchmarks say.
  expect(await cpuOf(400)).toBeLessThan(15 * few);
  expect(slide.get("s1")?.title).toBe("Title 399");
});
