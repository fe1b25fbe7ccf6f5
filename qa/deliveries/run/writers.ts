import { setTimeout as pause } from "node:timers/promises";
import { SeededRandom } from "../../support/seeded-random.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";

/** The models that endpoints subscribe to and that writers write. */
export const MODELS = ["slide", "document", "favorite", "mailmessage"] as const;

export interface Writers {
  readonly operations: number;
  stop(): Promise<void>;
}

const RECORDS = 40;
const LARGE = 300_000;
/** A single operation that is larger than a batch may be. */
const HUGE = 1_048_000;
const TEXTS = [
  "plain",
  "ü – 日本 😀",
  'quote " and \\ backslash',
  "line\nbreak\ttab",
  "\u2028 \u007f",
  "</script>",
  "",
];

/** Concurrent writers, each with one commit at a time. Each operation writes an entry, or has nothing to change. */
export function startWriters(environment: TestEnvironment, count: number, seed: number): Writers {
  let stopping = false;
  let operations = 0;

  const loops = Array.from({ length: count }, async (_, writer) => {
    const chance = new SeededRandom(seed + writer * 104_729);
    for (let n = 0; !stopping; n++) {
      const size = chance.percent(5) ? 100 : 1 + chance.below(8);
      const batch = Array.from({ length: size }, (_, i) => operation(chance, `w${writer}-${n}-${i}`));
      await environment.commit(batch);
      operations += size;
      await pause(chance.percent(3) ? 1_000 : 20 + chance.below(180));
    }
  });
  const all = Promise.all(loops);
  // `stop` reports the error.
  all.catch(() => {});
  return {
    get operations() {
      return operations;
    },
    async stop() {
      stopping = true;
      await all;
    },
  };
}

/** Some create new records, so that there are always events. */
function operation(chance: SeededRandom, name: string): object {
  const model = chance.oneOf(MODELS);
  const roll = chance.below(100);
  if (roll < 60) return { action: "create", model, id: name, data: dataOf(model, chance, name) };
  const id = `shared-${chance.below(RECORDS)}`;
  if (roll < 80) return { action: "update", model, id, data: dataOf(model, chance, name) };
  return { action: chance.oneOf(["delete", "archive", "unarchive"]), model, id };
}

function dataOf(model: (typeof MODELS)[number], chance: SeededRandom, name: string): object {
  const text = `${chance.oneOf(TEXTS)} ${name}`;
  switch (model) {
    case "slide":
      return { deckId: `d${chance.below(4)}`, title: text, order: chance.oneOf([0, -1.5, 1e-7, 0.1, 42]) };
    case "document": {
      const length = chance.percent(1) ? LARGE : chance.percent(0.1) ? HUGE : 20;
      return { title: text, content: "x".repeat(length) };
    }
    case "favorite":
      return { userId: `u${chance.below(5)}`, recordId: name, order: chance.below(100) };
    case "mailmessage":
      return { subject: text, to: [{ address: "a@example.com", name: text }, 1, null, { 2: "b", 1: "a" }] };
  }
}
