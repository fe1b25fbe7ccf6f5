import { expect, test } from "vitest";
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
