import { createRandomActs, type RandomActs } from "../../support/random-acts.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { Owned } from "../environment/owner.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { MODELS } from "./writers.ts";

export type ChangeKind = "enable" | "disable" | "subscribe" | "move" | "roll" | "skip" | "push" | "test" | "replace";

const SUBSCRIPTIONS: readonly (readonly string[])[] = [
  ["*"],
  ["slide"],
  ["document", "slide"],
  ["favorite"],
  [...MODELS],
];

/** Makes changes to the endpoints during a run, as their owner, one at a time. */
export function createOwnerChanges(environment: TestEnvironment, chance: SeededRandom): RandomActs<ChangeKind> {
  const { owner, receiver } = environment;
  let pushed = 0;
  let made = 0;
  const living = () => owner.owned.filter(({ removed }) => !removed);

  async function register(): Promise<Owned> {
    const hook = `hook-${made++}`;
    await receiver.feel(hook, "shaky");
    return await environment.register(hook, chance.oneOf(SUBSCRIPTIONS));
  }

  /** Changes one of the endpoints. */
  const change = (says: string, often: number, work: (endpoint: Owned) => Promise<unknown>) => ({
    ...{ says, often },
    async act() {
      const all = living();
      await work(all.length > 0 ? chance.oneOf(all) : await register());
    },
  });

  return createRandomActs<ChangeKind>(
    {
      enable: change("enabled", 2, async (endpoint) => {
        // Prefer a disabled endpoint.
        const disabled = (await owner.list()).find(({ status }) => status === "disabled");
        await owner.act(living().find(({ id }) => id === disabled?.id) ?? endpoint, { what: "enable" });
      }),
      disable: change("disabled", 1, (endpoint) => owner.act(endpoint, { what: "disable" })),
      subscribe: change("another subscription", 2, (endpoint) =>
        owner.act(endpoint, { what: "subscribe", models: chance.oneOf(SUBSCRIPTIONS) }),
      ),
      move: change("another address", 1, (endpoint) => owner.act(endpoint, { what: "move" })),
      roll: change("secret rolled", 1, (endpoint) => owner.act(endpoint, { what: "roll" })),
      skip: change("skipped", 1, async (endpoint) => {
        const { cursor, lag } = await owner.view(endpoint);
        if (lag > 0) await owner.act(endpoint, { what: "skip", to: cursor + 1 + chance.below(Math.min(lag, 20)) });
      }),
      push: change("schema pushed", 1, async () => {
        const late = { [`late${++pushed}`]: { fields: { title: { type: "string" } } } };
        await owner.push({ models: { ...(await environment.schema()), ...late } });
      }),
      test: change("test sent", 1, (endpoint) => owner.test(endpoint)),
      replace: change("removed, and another one made", 1, async (endpoint) => {
        await owner.act(endpoint, { what: "remove" });
        await register();
      }),
    },
    chance,
  );
}
