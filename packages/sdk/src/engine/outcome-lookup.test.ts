import { expect, test } from "vitest";
import type { Reply } from "../core/queue/outcome.ts";
import { OutcomeLookup } from "./outcome-lookup.ts";
import type { PendingPromises } from "./pending-promises.ts";
import type { Clock, Server } from "./ports.ts";

test("[Q36] [Q65] a write whose conflict the token may not read any more has failed, and is asked about once", async () => {
  const notified: unknown[] = [];
  let asked = 0;
  const body = { type: "permission_error", code: "capability_scope_denied", message: "Hidden." };
  const server = {
    request: async (): Promise<Reply> => {
      asked += 1;
      return { kind: "answer", status: 403, body };
    },
  } as unknown as Server;
  const waiters = { notify: (name: string, news: unknown) => notified.push([name, news]) };
  const clock = { wait: () => () => {} } as unknown as Clock;
  const deps = { canRequest: () => true, hasLostDisk: () => false, tokenRefused: () => {} };
  const lookup = new OutcomeLookup(server, waiters as unknown as PendingPromises, clock, deps);
  lookup.begin("t1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(notified).toMatchObject([["t1", { kind: "failed", failure: { code: "capability_scope_denied" } }]]);
  expect(asked).toBe(1);
  lookup.close();
});
