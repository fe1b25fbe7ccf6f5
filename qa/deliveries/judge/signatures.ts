import type { Case } from "./case.ts";
import type { Received } from "./evidence.ts";
import { settledAt } from "./troubles.ts";

/** For this long, a request that was signed with the previous secret may still be in flight. */
const ON_THE_WAY_MS = 1_000;

/**
 * A request is signed with the newest secret, for a while also with the previous one, and never with an expired one.
 * During a roll and just after it, either secret may be the newest.
 */
export function judgeSignatures({ endpoint, requests, tenant, coverage, report }: Case): void {
  const { troubles, times } = tenant.evidence;
  const rolls = endpoint.actions.filter((action) => action.what === "roll");

  const judge = ({ name, arrived, signedBy = [] }: Received): void => {
    const sure = rolls.filter((roll) => settledAt(roll, troubles) <= arrived).length;
    const maybe = rolls.filter(({ asked }) => asked <= arrived).length;
    coverage.signatures += 1;
    if (signedBy.length > 1) coverage.doubleSignatures += 1;
    const newest = signedBy.findLast((secret) => secret >= sure && secret <= maybe);
    if (newest === undefined)
      return report("signature", `${name} is signed by ${listed(signedBy)}, not by the secret number ${sure}`);
    // The roll that made it.
    const roll = rolls[newest - 1];
    if (!roll) return;
    const over = settledAt({ answered: roll.answered + times.rotationMs }, troubles);
    if (arrived < roll.asked + times.rotationMs - ON_THE_WAY_MS) {
      // Without an answer, a roll may have happened once more, perhaps after it was repeated: with a secret that is not known.
      const isKnown = !roll.lost && !rolls[newest - 2]?.lost;
      if (isKnown && !signedBy.includes(newest - 1))
        report("signature", `${name} is signed by ${listed(signedBy)}, and not by the secret before the roll too`);
    } else if (arrived > over && newest === maybe) {
      coverage.afterRotation += 1;
      if (signedBy.some((secret) => secret < newest))
        report("signature", `${name} is still signed by ${listed(signedBy)}`);
    }
  };
  for (const request of requests) if (request.body !== undefined) judge(request);
}

const listed = (signedBy: readonly number[]): string => (signedBy.length === 0 ? "no secret" : signedBy.join(" and "));
