import { expect, test } from "vitest";
import { referenceSchema, startApp } from "../../../testing/app.ts";

const reference = { type: "string", nullable: true, references: "link", onDelete: "cascade" } as const;

test.each([
  ["a chain", (i: number) => i - 1],
  ["a star", () => 0],
  ["a tree", (i: number) => Math.floor((i - 1) / 2)],
])("[M36] a delete that takes 1 000 records with it in %s takes at most half a second", async (_, parentOf) => {
  const app = await startApp();
  const models = { ...referenceSchema.models, link: { fields: { parentId: reference } } };
  expect((await app.call("POST", "/v1/schema", { json: { models, force: true } })).status).toBe(201);
  const took: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const operations = Array.from({ length: 1_001 }, (_, i) => ({
      action: "create",
      model: "link",
      id: `${round}_${i}`,
      data: i === 0 ? {} : { parentId: `${round}_${parentOf(i)}` },
    }));
    for (let i = 0; i < operations.length; i += 100) {
      const json = { operations: operations.slice(i, i + 100) };
      expect((await app.call("POST", "/v1/commits", { json })).status).toBe(200);
    }
    const began = performance.now();
    expect((await app.call("DELETE", `/v1/models/link/${round}_0`)).status).toBe(200);
    took.push(Math.round(performance.now() - began));
    expect((await app.call("GET", "/v1/models/link?limit=1")).body.data).toEqual([]);
  }
  console.log(`took ${took.join(", ")} ms`);
  expect(took.sort((a, b) => a - b)[1]).toBeLessThanOrEqual(500);
});
