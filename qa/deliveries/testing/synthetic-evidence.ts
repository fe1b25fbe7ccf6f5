import type { LogEntry } from "@holdfast/sdk/protocol";
import { SeededRandom } from "../../support/seeded-random.ts";
import type { Action, Evidence, Outcome, Received, Trouble } from "../judge/evidence.ts";

/** Bugs of the synthetic sender. */
export const SYNTHETIC_BUGS = [
  "moves before the answer",
  "does not move",
  "grows a frozen batch",
  "never cuts",
  "cuts at once",
  "forgets the lease",
  "skips too far over what is not subscribed to",
  "sends what is not subscribed to",
  "begins the attempts anew at each failure",
  "comes back at once",
  "comes back late",
  "goes on after the last attempt",
  "goes on while disabled",
  "keeps the revision when the subscription changes",
  "keeps the name when the subscription changes",
  "swaps two events",
  "tells other content",
  "sends too many",
  "signs with the old secret alone",
  "signs with the old secret for ever",
  "signs with the new secret alone",
  "signs something else",
  "stops before the end",
  "ignores Retry-After",
] as const;
export type SyntheticBug = (typeof SYNTHETIC_BUGS)[number];

const ENDPOINT = "we_imagined";
const SCHEDULE = [0, 100, 200, 300, 400, 500, 600, 700];
const REQUEST_MS = 400;
const ROTATION_MS = 20_000;
const EPOCH_MS = 1_700_000_000_000;
const MODELS = ["Slide", "document"];
const FULL = 100;

/**
 * The requests of a correct sender to a receiver that fails at random, while its process is killed and
 * its owner makes changes; or those of a sender with a bug. Shares no code with the judge.
 */
export function makeEvidence(
  seed: number,
  { steps = 250, bug }: { readonly steps?: number; readonly bug?: SyntheticBug } = {},
): Evidence {
  const chance = new SeededRandom(seed);
  /** The percentage of requests that the receiver fails. */
  const failing = chance.oneOf([30, 40, 85]);
  const log: LogEntry[] = [];
  const requests: Received[] = [];
  const troubles: Trouble[] = [];
  const actions: Action[] = [];
  let now = 1_000;
  let models: readonly string[] = ["*"];
  let cursor = 0;
  let enabled = true;
  let revision = 1;
  let attempts = 0;
  let dueAt = 0;
  let limit = FULL;
  let batch: LogEntry[] | undefined;
  let secrets = 1;
  let rolledAt = Number.NEGATIVE_INFINITY;
  let calm = false;

  const subscribed = (of: readonly string[] = models) =>
    log.slice(cursor).filter(({ model }) => of.includes("*") || of.includes(model));

  function commit(count: number): void {
    for (let i = 0; i < count; i++) {
      const syncId = log.length + 1;
      const model = chance.oneOf(MODELS);
      const id = `r${chance.below(9)}`;
      const verb = chance.oneOf(["created", "updated", "deleted"] as const);
      log.push({
        object: "log_entry",
        syncId,
        model,
        id,
        verb,
        data: verb === "deleted" ? null : { id, title: `t${syncId}` },
        changedFields: null,
        clientTxId: `c${syncId}`,
        clientId: null,
        transactionId: null,
        actor: "key",
        participantKind: "system",
        claim: null,
        createdAt: new Date(EPOCH_MS + now).toISOString(),
      });
    }
  }

  /** How long the owner waits. The action takes effect somewhere in between. */
  function act(effect: () => void, action: { what: Action["what"]; models?: readonly string[]; to?: number }): void {
    const asked = now;
    now += chance.below(20);
    effect();
    now += chance.below(20);
    actions.push({ ...action, asked, answered: now } as Action);
  }

  const anew = () => {
    attempts = 0;
    batch = undefined;
    limit = FULL;
    dueAt = now;
  };

  const DEEDS: readonly (readonly [upTo: number, change: () => void])[] = [
    [25, () => act(roll, { what: "roll" })],
    [40, () => act(enable, { what: "enable" })],
    [50, () => act(disable, { what: "disable" })],
    [65, () => act(push, { what: "push" })],
    [75, skip],
    [100, subscribe],
  ];

  function meddle(): void {
    const roll = chance.below(100);
    DEEDS.find(([upTo]) => roll < upTo)?.[1]();
  }

  function roll(): void {
    secrets += 1;
    rolledAt = now;
  }

  function enable(): void {
    enabled = true;
    anew();
  }

  function disable(): void {
    enabled = false;
  }

  function push(): void {
    revision += 1;
    batch = undefined;
  }

  function skip(): void {
    const to = Math.min(log.length, cursor + 1 + chance.below(20));
    if (to === cursor) return;
    act(
      () => {
        anew();
        cursor = to;
      },
      { what: "skip", to },
    );
  }

  function subscribe(): void {
    const next = chance.oneOf([["*"], ["Slide"], ["document"], MODELS].filter((one) => String(one) !== String(models)));
    act(
      () => {
        models = next;
        if (!bug?.endsWith("when the subscription changes")) revision += 1;
        if (bug !== "keeps the name when the subscription changes") batch = undefined;
        dueAt = now;
      },
      { what: "subscribe", models: next },
    );
  }

  function strike(what: Trouble["what"], from: number): void {
    now = from + 50 + chance.below(500);
    troubles.push({ what, from, to: now });
    dueAt = Math.max(dueAt, now);
  }

  function freeze(): LogEntry[] {
    const all = bug === "sends what is not subscribed to" ? subscribed(["*"]) : subscribed();
    return all.slice(0, bug === "sends too many" ? limit + 1 : limit);
  }

  function nameOf(sent: readonly LogEntry[]): string {
    return `msg_${ENDPOINT}_${revision}_${sent[0]?.syncId}_${sent.at(-1)?.syncId}`;
  }

  function bodyOf(sent: readonly LogEntry[]): string {
    const events = sent.map(({ model, verb, id, data, syncId, createdAt, actor, participantKind }) => ({
      type: `${model.toLowerCase()}.${verb}`,
      model,
      objectId: id,
      data: bug === "tells other content" && syncId % 50 === 7 && data ? { ...data, title: "another" } : data,
      syncId,
      id: String(syncId),
      createdAt,
      actor,
      participantKind,
    }));
    const isSwapped = bug === "swaps two events" && events.length > 3;
    const data = isSwapped ? [...events.slice(0, 1), ...events.slice(1, 3).reverse(), ...events.slice(3)] : events;
    return JSON.stringify({ data });
  }

  function signers(): number[] {
    const both = now < rolledAt + ROTATION_MS;
    if (bug === "signs something else" && chance.percent(5)) return [];
    if (secrets === 1) return [0];
    if (bug === "signs with the old secret alone" && both) return [secrets - 2];
    if (bug === "signs with the new secret alone") return [secrets - 1];
    return both || bug === "signs with the old secret for ever" ? [secrets - 2, secrets - 1] : [secrets - 1];
  }

  /** One request, and the sender's reaction to its outcome. */
  function send(): void {
    const available = subscribed();
    if (bug === "grows a frozen batch" && batch && attempts < 3) batch = freeze();
    batch ??= freeze();
    if (batch.length === 0) return;
    const sent = batch;
    attempts += 1;
    const arrived = now;
    const fate = calm ? 0 : chance.below(100);
    const outcome: Outcome = fate < 95 - failing ? "accepted" : fate < 95 ? "failed" : "unknown";
    const ended = arrived + 1 + chance.below(calm ? 5 : REQUEST_MS / 2);
    const retryAfterMs = outcome === "failed" && chance.percent(15) ? 1_000 : undefined;
    const request: Received = {
      name: `q${requests.length + 1}`,
      endpoint: ENDPOINT,
      arrived,
      begun: arrived + 0.5,
      ended,
      webhookId: nameOf(sent),
      ...((outcome !== "failed" || chance.percent(90)) && { body: bodyOf(sent), signedBy: signers() }),
      outcome: outcome === "accepted" && chance.percent(3) ? "unknown" : outcome,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    requests.push(request);
    if (bug === "forgets the lease" && chance.percent(20))
      requests.push({ ...request, name: `${request.name}b`, arrived: arrived + 0.1, begun: arrived + 0.6 });
    now = ended;
    // An action of the owner, or a kill, between the response and the sender's reaction.
    const isStruck = !calm && chance.percent(6);
    if (isStruck) strike("server killed", ended);
    const has2xx = outcome === "accepted" || (outcome === "unknown" && chance.percent(50));
    const isWritten = !isStruck || chance.percent(50);
    if (has2xx && isWritten && bug !== "does not move") {
      const to = sent.at(-1) as LogEntry;
      const rest = available.filter(({ syncId }) => syncId > to.syncId);
      cursor = to.syncId;
      const [next] = rest;
      if (bug === "skips too far over what is not subscribed to" && next && next.syncId > cursor + 1)
        cursor = next.syncId;
      attempts = 0;
      batch = undefined;
      limit = Math.min(FULL, limit * 2);
      dueAt = now;
      return;
    }
    if (bug === "moves before the answer") {
      cursor = (sent.at(-1) as LogEntry).syncId;
      batch = undefined;
    }
    if (bug === "begins the attempts anew at each failure") attempts = Math.min(attempts, 1);
    if (attempts >= 3 || bug === "cuts at once")
      if (bug !== "never cuts" && batch) {
        batch = batch.slice(0, Math.ceil(batch.length / 3));
        limit = batch.length;
      }
    if (attempts >= SCHEDULE.length && bug !== "goes on after the last attempt") {
      enabled = false;
      return;
    }
    const delay = SCHEDULE[attempts] ?? 700;
    const wanted = bug === "ignores Retry-After" ? delay : Math.max(delay, Math.min(retryAfterMs ?? 0, 2 * delay));
    dueAt = Math.max(dueAt, ended + wanted + chance.below(1 + wanted / 10));
    if (bug === "comes back at once") dueAt = now;
    if (bug === "comes back late" && !isStruck) dueAt += 3_000;
  }

  function step(): void {
    if (chance.percent(60)) commit(chance.below(chance.percent(10) ? 150 : 12));
    if (chance.percent(4)) meddle();
    if (chance.percent(1)) strike(chance.oneOf(["receiver gone", "postgres killed", "server stopped"]), now);
    const waits = subscribed().length === 0 || (!enabled && bug !== "goes on while disabled");
    if (!waits && dueAt > now) now = dueAt;
    else now += chance.below(30);
    if (!waits) send();
  }

  for (let n = 0; n < steps; n++) step();
  calm = true;
  now += 10_000;
  act(enable, { what: "enable" });
  now += 10_000;
  if (bug !== "stops before the end") for (let n = 0; n < 100 && subscribed().length > 0; n++) send();
  return {
    log,
    endpoints: [
      {
        id: ENDPOINT,
        cursor: 0,
        models: ["*"],
        made: { asked: 0, answered: 1 },
        actions,
        last: { status: "enabled", cursor: bug === "stops before the end" ? cursor : log.length },
      },
    ],
    requests,
    strays: [],
    troubles,
    times: { schedule: SCHEDULE, requestMs: REQUEST_MS, rotationMs: ROTATION_MS, lateMs: 500, epochMs: EPOCH_MS },
  };
}
