import { expect, test } from "vitest";
import { type Attempt, pauseAfter, type Situation } from "./attempt.ts";

const answer = (status: number, retryAfterMs?: number): Attempt => ({
  kind: "answer",
  status,
  body: undefined,
  retryAfterMs,
  location: undefined,
});
const silence: Attempt = { kind: "silence", reason: "did not answer in time" };
const first: Situation = { number: 1, repeatable: true, leftMs: 10_000, roll: 1 };
const once: Situation = { ...first, repeatable: false };

test.each<[string, Attempt, Situation, number | undefined]>([
  ["silence", silence, first, 300],
  ["the second silence, longer", silence, { ...first, number: 2 }, 600],
  ["half of it is random", silence, { ...first, roll: 0 }, 150],
  ["the third is the last", silence, { ...first, number: 3 }, undefined],
  ["silence after what is not done twice", silence, once, undefined],
  ["a stopping server", answer(503), first, 300],
  ["a stopping server, after what is not done twice", answer(503), once, undefined],
  ["a refusal for now, which did nothing", answer(429), once, 300],
  ["the pause that the server asks for", answer(429, 2_000), once, 2_000],
  ["a longer one than is left", answer(429, 10_000), once, undefined],
  ["no time is left", silence, { ...first, leftMs: 0 }, undefined],
  ["an answer", answer(200), first, undefined],
  ["a refusal", answer(400), first, undefined],
  ["a bug of the server", answer(500), first, undefined],
])("[BE7] the pause after %s", (_, attempt, situation, pauseMs) => {
  expect(pauseAfter(attempt, situation)).toBe(pauseMs);
});
