import { expect, test } from "vitest";
import { createTools } from "./create-tools.ts";
import { type ToolContext, unreadable } from "./tool-context.ts";

test("[AG4] a tool that may read leaves no listener and no timer behind", async () => {
  let listeners = 0;
  const client = {
    ready: async () => {},
    status: () => ({ name: "online" }),
    subscribe: () => {
      listeners += 1;
      return () => {
        listeners -= 1;
      };
    },
  };
  expect(await unreadable({ client, answerMs: 10_000 } as unknown as ToolContext)).toBeUndefined();
  await new Promise(setImmediate);
  expect(listeners).toBe(0);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, null, "5", -1])("[PK15] agent tools refuse %s as a time", (given) => {
  for (const name of ["answerMs", "claimIdleMs"])
    expect(() => createTools({ [name]: given } as never)).toThrow(`${name} must be a number`);
});
