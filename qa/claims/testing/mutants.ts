import type { Edit } from "../../conformance/mutants.ts";
import type { ViolationKind } from "../check.ts";

/** A bug in a copy of the server's sources, and the violations that the checker must find in a short run. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** At least one of these. */
  readonly finds: readonly ViolationKind[];
  /** How wrong the clock of the second server's process is. */
  readonly shiftMs?: number;
  /** It is found quickly, so every test run includes it. */
  readonly isQuick?: true;
}

const server = "packages/server/src";

/** Found only by `judgePromotions`. */
export const promotionMutants: readonly Pick<Mutant, "name" | "edits">[] = [
  {
    name: "a silent waiter is granted",
    edits: [
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "if (isSilent(waiter, facts.now)) continue;",
        replace: "",
      },
    ],
  },
  {
    name: "a waiter is granted without asking again whether it may",
    edits: [
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "mayHold(waiter, facts) ? granted",
        replace: "groupsOf(waiter) ? granted",
      },
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "const mayHold =",
        replace: "const groupsOf = (_: ClaimState) => true;\nexport const mayHold =",
      },
    ],
  },
];

export const mutants: readonly Mutant[] = [
  {
    name: "a write is not judged by the claims in its transaction",
    edits: [
      { file: `${server}/rules/commits/decide-commit.ts`, find: "    checkClaims(state, commit) ??\n", replace: "" },
    ],
    finds: ["trespass", "lapsed"],
  },
  {
    name: "time is the process's, and one of two clocks is 40 s fast",
    edits: [
      { file: `${server}/db/commits/heads.ts`, find: "now: row.now,", replace: "now: new Date().toISOString()," },
    ],
    finds: ["overlap", "refused"],
    shiftMs: 40_000,
  },
  {
    name: "a claim is granted past the line",
    edits: [
      {
        file: `${server}/rules/claims/decide-claim.ts`,
        find: "[...holdersOf(queue, now), ...inQueueOrder(queue).filter((waiter) => !isSilent(waiter, now))]",
        replace: "[...holdersOf(queue, now), ...inQueueOrder(queue).filter((waiter) => isSilent(waiter, now))]",
      },
    ],
    finds: ["inversion"],
  },
  {
    name: "the last of the line is the next",
    isQuick: true,
    edits: [{ file: `${server}/rules/claims/claim.ts`, find: "a.place - b.place ||", replace: "b.place - a.place ||" }],
    finds: ["inversion"],
  },
  {
    name: "a field is claimed beside the whole record",
    edits: [
      {
        file: `${server}/rules/claims/claim.ts`,
        find: "(a.field === null || b.field === null || a.field === b.field)",
        replace: "a.field === b.field",
      },
    ],
    finds: ["overlap"],
  },
  {
    name: "a grant keeps the fence that was",
    edits: [
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "fence: nextFence(),",
        replace: "fence: Math.max(1, nextFence() % 7),",
      },
    ],
    finds: ["fence"],
  },
  {
    name: "a release ends whatever is held",
    edits: [
      {
        file: `${server}/flows/claims/claim-flows.ts`,
        find: "if (endedAt !== null) return 0;",
        replace: "if (endedAt === undefined) return 0;",
      },
      {
        file: `${server}/rules/claims/decide-claim.ts`,
        find: "  const gone = own.map(",
        replace: "  const gone = alive(queue).filter(({ status }) => status === 'active').map(",
      },
    ],
    finds: ["overlap", "refused"],
  },
  {
    name: "anybody may renew",
    edits: [
      {
        file: `${server}/flows/claims/claim-flows.ts`,
        find: "if (!found.own) return notHolder;\n      const { model, record } = found.claim;",
        replace: "const { model, record } = found.claim;",
      },
      {
        file: `${server}/rules/claims/decide-claim.ts`,
        find: "const known = mine(queue, principal).find(({ id }) => id === order.claimId);",
        replace: "const known = alive(queue).find(({ id }) => id === order.claimId);",
      },
    ],
    finds: ["stranger"],
  },
  {
    // The bug shows only if two rounds overlap, so a delay makes them.
    name: "claims are judged without the lock, and saving takes a moment",
    edits: [
      { file: `${server}/db/commits/heads.ts`, find: "limit 1 for update) h`", replace: "limit 1) h`" },
      {
        file: `${server}/db/claims/claims.ts`,
        find: "as n(tenant, change, claims) where h.tenant = n.tenant",
        replace: "as n(tenant, change, claims), (select pg_sleep(0.1)) as slow where h.tenant = n.tenant",
      },
    ],
    finds: ["overlap", "fence", "trespass", "inversion"],
  },
];
