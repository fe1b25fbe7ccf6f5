import { freshDatabases } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { gauntlet } from "./gauntlet.ts";
import { killAtAnswer } from "./kill-at-answer.ts";
import { stalledSender } from "./stalled-sender.ts";
import { threeDays } from "./three-days.ts";

// The scenario of two servers is in `npm test`.

const database = freshDatabases();

test.each([killAtAnswer(1), stalledSender, threeDays(3_000), gauntlet])("$title", async ({ play }) => {
  const { verdict, unmet } = await play({ databaseUrl: await database(), seed: 1 });
  expect(verdict.violations).toEqual([]);
  expect(unmet).toEqual([]);
});
