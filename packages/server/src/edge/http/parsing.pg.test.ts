import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { costlyBodies, MOST } from "../../testing/costly-bodies.ts";

const { call } = await startApp();

test.each(costlyBodies)("[H12] a batch of 4 MiB gets its documented answer: %s", async (_, text, status, code) => {
  const bytes = Buffer.from(text);
  expect(bytes.length).toBeLessThanOrEqual(MOST);
  const answer = await call("POST", "/v1/commits", { bytes });
  expect(answer.status).toBe(status);
  expect(answer.body.code).toBe(code);
});
