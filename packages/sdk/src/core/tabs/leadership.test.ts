import { expect, test } from "vitest";
import { type ClientState, initialState } from "../state.ts";
import { machine } from "../step.ts";

const schema = { models: { slide: { fields: {} } } } as const;
const leader: ClientState = {
  ...initialState({ schema, paused: false, sendAtMost: 1 }),
  life: "running",
  lead: "yes",
  generation: 5,
};
const hears = (generation: number, state = leader) =>
  machine.step(state, { type: "leading", generation, now: 0, roll: 0 });

test("[Q41] [Q68] of two leaders the one with the later generation stays, and notifies the other", () => {
  const [steppedDown, effects] = hears(6);
  expect(steppedDown.lead).toBe("no");
  expect(steppedDown.generation).toBe(undefined);
  expect(effects).toContainEqual({ do: "campaign", wanted: true });
  const [stays, answer] = hears(4);
  expect(stays.lead).toBe("yes");
  expect(stays.generation).toBe(5);
  expect(answer).toContainEqual({ do: "post", message: { type: "leading", generation: 5 } });
});

test("[R27] a leader whose rows were suspect reads them anew if it leads again", () => {
  const suspect: ClientState = { ...leader, reading: { ...leader.reading, resync: "suspect" } };
  const [steppedDown] = hears(6, suspect);
  expect(steppedDown.reading.resync).toBe("anew");
});

test("[Q41] [Q68] a leader without a disk is replaced by no other one that way", () => {
  expect(hears(6, { ...leader, storageTrouble: { code: "failed", reason: "" } })[0].lead).toBe("yes");
});
