import type { Edit } from "../../conformance/mutants.ts";
import type { ViolationKind } from "../judge/violations.ts";
import { gauntlet } from "../scenarios/gauntlet.ts";
import { killAtAnswer } from "../scenarios/kill-at-answer.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { stalledSender } from "../scenarios/stalled-sender.ts";
import { twoServers } from "../scenarios/two-servers.ts";

/** A bug in a copy of the server's sources, and the violations that the judge must report. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly scenario: Scenario;
  /** At least one of these. */
  readonly finds: readonly ViolationKind[];
  /** It is found quickly, so every test run includes it. */
  readonly isQuick?: true;
}

const server = "packages/server/src";
const rules = `${server}/rules/webhooks/delivery.ts`;
const flow = `${server}/flows/webhooks/deliver.ts`;

export const mutants: readonly Mutant[] = [
  {
    name: "a frozen batch grows",
    edits: [
      { file: flow, find: "nextEvents(endpoint, delivery.batchTo ?? head,", replace: "nextEvents(endpoint, head," },
    ],
    scenario: gauntlet,
    finds: ["grown"],
  },
  {
    name: "the cursor moves before the 2xx",
    edits: [
      {
        file: rules,
        find: "    batchTo: to,\n    nextAttemptAt",
        replace: "    cursor: to,\n    batchTo: null,\n    nextAttemptAt",
      },
    ],
    scenario: gauntlet,
    finds: ["missing"],
  },
  {
    name: "the lease is forgotten",
    edits: [
      {
        file: rules,
        find: "return lease ? lease.until : (nextAttemptAt ?? 0);",
        replace: "return lease === undefined ? 0 : (nextAttemptAt ?? 0);",
      },
      {
        file: flow,
        find: "if (delivery.lease) return await endLost(at);",
        replace: "if (delivery.cursor < 0) return await endLost(at);",
      },
    ],
    scenario: twoServers,
    finds: ["overlap"],
  },
  {
    name: "what is signed is the body parsed and written again",
    edits: [
      {
        file: `${server}/outbound/webhook-signature.ts`,
        find: ".update(body).digest",
        replace: ".update(JSON.stringify(JSON.parse(body.toString()), null, 1)).digest",
      },
    ],
    scenario: gauntlet,
    finds: ["signature"],
  },
  {
    name: "one too many is passed over with what is not subscribed to",
    edits: [
      {
        file: `${server}/flows/webhooks/next-events.ts`,
        find: "quiet.set(key, { version, to, since });",
        replace: "quiet.set(key, { version, to: to + 1, since });",
      },
    ],
    scenario: gauntlet,
    finds: ["missing"],
  },
  {
    name: "a failure begins the attempts anew",
    edits: [
      {
        file: rules,
        find: "...shrunk(state, positions), nextAttemptAt: now + Math.round(wait) };",
        replace: "...shrunk(state, positions), attempt: 0, nextAttemptAt: now + Math.round(wait) };",
      },
    ],
    scenario: gauntlet,
    finds: ["early", "ninth"],
  },
  {
    name: "another subscription keeps the revision",
    edits: [{ file: rules, find: "revision: state.revision + 1,", replace: "revision: state.revision," }],
    scenario: gauntlet,
    finds: ["changed"],
  },
  {
    name: "a schema push keeps the revision",
    edits: [
      {
        file: `${server}/flows/schema/push-schema.ts`,
        find: "delivery: revise(endpoint.delivery)",
        replace: "delivery: { ...revise(endpoint.delivery), revision: endpoint.delivery.revision }",
      },
    ],
    scenario: gauntlet,
    finds: ["name"],
  },
  {
    name: "a batch is never cut",
    isQuick: true,
    edits: [{ file: rules, find: "if (attempt < SHRINKS_FROM) return {};", replace: "if (attempt > 0) return {};" }],
    scenario: gauntlet,
    finds: ["cut"],
  },
  {
    name: "a redirect is taken for a 2xx",
    edits: [
      {
        file: `${server}/rules/webhooks/delivery-outcome.ts`,
        find: "status >= 200 && status < 300",
        replace: "status >= 200 && status < 400",
      },
    ],
    scenario: gauntlet,
    finds: ["missing"],
  },
  {
    name: "Retry-After is not heard",
    edits: [{ file: rules, find: "Math.min(asked, 2 * delay)", replace: "Math.min(asked, 0 * delay)" }],
    scenario: gauntlet,
    finds: ["early"],
  },
  {
    name: "an attempt waits as long as the one before it should have",
    edits: [
      {
        file: rules,
        find: "const delay = schedule[state.attempt] as number;",
        replace: "const delay = schedule[state.attempt - 1] as number;",
      },
    ],
    scenario: gauntlet,
    finds: ["early"],
  },
  {
    name: "after a roll the new secret signs alone",
    edits: [
      {
        file: `${server}/flows/webhooks/webhook-secrets.ts`,
        find: "before === undefined ? [newest] : [newest, before]",
        replace: "before === undefined ? [newest] : [newest]",
      },
    ],
    scenario: gauntlet,
    finds: ["signature"],
  },
  {
    name: "the secret before a roll signs for ever",
    edits: [{ file: `${server}/flows/webhooks/webhook-secrets.ts`, find: "now < oldSecretUntil", replace: "now > 0" }],
    scenario: gauntlet,
    finds: ["signature"],
  },
  {
    name: "who comes back without the lease ends the attempt of who has it",
    edits: [{ file: rules, find: "if (state.lease?.token !== sent.lease) return undefined;", replace: "" }],
    scenario: stalledSender,
    finds: ["overlap"],
  },
  {
    name: "two servers may begin at once",
    edits: [
      { file: `${server}/db/webhooks/deliveries.ts`, find: "where e.version = x.version\n", replace: "\n" },
      {
        file: `${server}/db/webhooks/deliveries.ts`,
        find: "e.id = x.id and e.version = x.version",
        replace: "e.id = x.id",
      },
    ],
    scenario: twoServers,
    finds: ["overlap"],
  },
  {
    name: "there is a ninth attempt",
    edits: [
      { file: rules, find: "if (state.attempt >= schedule.length)", replace: "if (state.attempt > schedule.length)" },
      { file: rules, find: "schedule[state.attempt] as number;", replace: "schedule[state.attempt] ?? 100;" },
    ],
    scenario: gauntlet,
    finds: ["ninth"],
  },
  {
    name: "an attempt without an end counts as delivered",
    edits: [
      {
        file: flow,
        find: "endAttempt(delivery, sent, interrupted, {",
        replace: 'endAttempt(delivery, sent, { kind: "succeeded", status: 200 }, {',
      },
    ],
    scenario: killAtAnswer(0),
    finds: ["missing"],
  },
];
