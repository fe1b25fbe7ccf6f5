import { expect, test } from "vitest";
import { initialState } from "../state.ts";
import { machine } from "../step.ts";

test("[D15] what was said of a token counts no more when another one comes, also when an old answer trusted it meanwhile", () => {
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
