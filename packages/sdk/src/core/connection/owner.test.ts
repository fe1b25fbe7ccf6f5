import { expect, test } from "vitest";
import { queueNumbersOf } from "../queue/shared-queue.ts";
import { initialState } from "../state.ts";
import { machine } from "../step.ts";

test("[D15] [D52] results about an old token do not apply to a new one, even if a late response accepted the old one", () => {
  const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
  const state = {
    ...initialState({ schema, paused: false, sendAtMost: 100 }),
    life: "running" as const,
    owner: "org/live/user/ann",
    tokenOwner: "org/live/user/ann",
    auth: { phase: "trusted" as const },
  };
  const [next, effects] = machine.step(state, { type: "tokenReceived", changed: true, now: 1, roll: 0 });
  expect(next.tokenOwner).toBeUndefined();
  expect(next.reading.verified).toBe(false);
  expect(effects.map((effect) => effect.do)).toContain("abort");
  const [same] = machine.step(state, { type: "tokenReceived", changed: false, now: 1, roll: 0 });
  expect(same.tokenOwner).toBe(state.owner);
});

test("[D15] [D51] a tab hears while it is being elected that the leader's token is another owner's: it shows nothing, also once it leads", () => {
  const elected = {
    ...initialState({ schema: { models: {} }, paused: false, sendAtMost: 100 }),
    life: "running" as const,
    lead: "reading" as const,
    owner: "org/live/user/ann",
  };
  const connection = {
    ...{ name: "needs-auth" as const, reason: "The token belongs to another owner.", retryAt: undefined },
    ...{
      logId: undefined,
      position: undefined,
      scope: {},
      extent: queueNumbersOf(elected),
      withheld: true,
      live: false,
      isBehind: true,
      isReading: true,
      viewHash: undefined,
      rowsVersion: undefined,
    },
  };
  const [heard] = machine.step(elected, { type: "connection", connection, now: 1, roll: 0 });
  expect(heard.withheld).toBe(true);
  const snapshot = { mutations: [], changes: 0, generation: 2, rows: undefined };
  const [leads] = machine.step(heard, { type: "leadTaken", snapshot, converted: [], now: 1, roll: 0 } as never);
  expect(leads.withheld).toBe(true);
});
