import type { Case } from "./case.ts";
import type { Received } from "./evidence.ts";
import { settledAt } from "./troubles.ts";

/** A retry that was signed just before is still on the way for so long. */
const ON_THE_WAY_MS = 2_000;

/**
 * Signed with the newest secret; for a while with the one before too; never with one that has lost its force.
 * While the owner rolls it, and just after, either is the newest.
 */
export function judgeSignatures({ endpoint, requests, world, looked, say }: Case): void {
  const { troubles, times } = world.evidence;
  const rolls = endpoint.actions
    .filter(({ what }) => what === "roll")
    .map((roll) => ({ ...roll, lost: roll.what === "roll" && roll.lost, settled: settledAt(roll, troubles) }));

  const judge = ({ name, arrived, signedBy = [] }: Received): void => {
    const sure = rolls.filter(({ settled }) => settled <= arrived).length;
    const maybe = rolls.filter(({ asked }) => asked <= arrived).length;
    looked.signatures += 1;
    if (signedBy.length > 1) looked.doubleSignatures += 1;
    if (!signedBy.some((secret) => secret >= sure && secret <= maybe))
      say("signature", `${name} is signed by the secrets ${signedBy.join(", ") || "of nobody"}, not by number ${sure}`);
    const roll = rolls[sure - 1];
    if (!roll || sure !== maybe) return;
    if (arrived < roll.asked + times.rotationMs - ON_THE_WAY_MS) {
      if (!roll.lost && !signedBy.includes(sure - 1))
        say("signature", `${name} is not signed by the secret before the roll too`);
    } else if (arrived > settledAt({ answered: roll.answered + times.rotationMs }, troubles) + ON_THE_WAY_MS) {
      looked.afterRotation += 1;
      if (signedBy.some((secret) => secret < sure))
        say("signature", `${name} is still signed by a secret that was rolled`);
    }
  };
  for (const request of requests) if (request.body !== undefined) judge(request);
}
