import type { SeededRandom } from "../../support/seeded-random.ts";
import type { Owned } from "../environment/owner.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { MODELS } from "./writers.ts";

export const CHANGES = {
  enable: "enabled",
  disable: "disabled",
  subscribe: "another subscription",
  move: "another address",
  roll: "secret rolled",
  skip: "skipped",
  push: "schema pushed",
  test: "test sent",
  replace: "removed, and another one made",
} as const;
export type ChangeKind = keyof typeof CHANGES;

export interface OwnerChanges {
  readonly done: Readonly<Record<ChangeKind, number>>;
  one(change?: ChangeKind): Promise<ChangeKind>;
}

const DRAWS: readonly ChangeKind[] = [
  "enable",
  "enable",
  "disable",
  "subscribe",
  "subscribe",
  "move",
  "roll",
  "skip",
  "test",
  "push",
  "replace",
];
const SUBSCRIPTIONS: readonly (readonly string[])[] = [
  ["*"],
  ["slide"],
  ["document", "slide"],
  ["favorite"],
  [...MODELS],
];

/** Makes changes to the endpoints during a run, as their owner, one at a time. */
export function createOwnerChanges(environment: TestEnvironment, chance: SeededRandom): OwnerChanges {
  const { owner, receiver } = environment;
  const done = Object.fromEntries(Object.keys(CHANGES).map((change) => [change, 0])) as Record<ChangeKind, number>;
  let pushed = 0;
  let made = 0;
  const living = () => owner.owned.filter(({ removed }) => !removed);

  async function register(): Promise<Owned> {
    const hook = `hook-${made++}`;
    await receiver.feel(hook, "shaky");
    return await environment.register(hook, chance.oneOf(SUBSCRIPTIONS));
  }

  const changes: Record<ChangeKind, (endpoint: Owned) => Promise<unknown>> = {
    // Prefer a disabled endpoint.
    async enable(endpoint) {
      const disabled = (await owner.list()).find(({ status }) => status === "disabled");
      const chosen = living().find(({ id }) => id === disabled?.id) ?? endpoint;
      return await owner.act(chosen, { what: "enable" });
    },
    disable: (endpoint) => owner.act(endpoint, { what: "disable" }),
    subscribe: (endpoint) => owner.act(endpoint, { what: "subscribe", models: chance.oneOf(SUBSCRIPTIONS) }),
    move: (endpoint) => owner.act(endpoint, { what: "move" }),
    roll: (endpoint) => owner.act(endpoint, { what: "roll" }),
    async skip(endpoint) {
      const { cursor, lag } = await owner.view(endpoint);
      if (lag > 0) await owner.act(endpoint, { what: "skip", to: cursor + 1 + chance.below(Math.min(lag, 20)) });
    },
    async push() {
      const late = { [`late${++pushed}`]: { fields: { title: { type: "string" } } } };
      await owner.push({ models: { ...(await environment.schema()), ...late } });
    },
    test: (endpoint) => owner.test(endpoint),
    async replace(endpoint) {
      await owner.act(endpoint, { what: "remove" });
      await register();
    },
  };
  return {
    done,
    async one(change = chance.oneOf(DRAWS)) {
      const all = living();
      await changes[change](all.length > 0 ? chance.oneOf(all) : await register());
      done[change] += 1;
      return change;
    },
  };
}
