import { setTimeout as pause } from "node:timers/promises";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Answer, ShownClaim } from "./history.ts";
import type { Listener } from "./listener.ts";
import { type Claimant, DECK, FIELDS, MODEL, type Plan } from "./plan.ts";
import type { SendRequest } from "./recording-client.ts";

export interface Stage {
  readonly plan: Plan;
  readonly request: SendRequest;
  readonly chance: SeededRandom;
  readonly listener: Listener | undefined;
  isOver(): boolean;
}

/**
 * One participant that claims, waits, writes, renews, gives up and forgets, one request after the other.
 *
 *   claim ──201/200──► hold: write, renew, … ──► release, or let it expire and still write with it
 *    ├───202──► wait: poll or listen ──granted──► hold
 *    │             └──patience is over──► leave the line, or just go away
 *    └───409──► come again later, sometimes after writing past it
 */
export async function claim(claimant: Claimant, stage: Stage): Promise<void> {
  const { plan, request, chance, listener, isOver } = stage;
  /** Own claims that have ended, or may have. */
  const lapsed: ShownClaim[] = [];
  let written = 0;

  const urlOf = (record: string) => `/v1/models/${MODEL}/${record}`;

  async function turn(): Promise<void> {
    const record = chance.oneOf(plan.records);
    const roll = chance.below(100);
    if (roll < 8) return void (await write(record, [chance.oneOf(FIELDS)]));
    if (roll < 12) return await writeLapsed();
    if (roll < 17) return await meddle(record);
    if (roll < 20) return void (await read(record));
    if (roll < 21)
      return void (await request(
        claimant,
        { op: "release-record", record },
        { method: "DELETE", path: `${urlOf(record)}/claim` },
      ));
    await acquire(record, chance.percent(45) ? chance.oneOf(FIELDS) : undefined);
  }

  async function acquire(record: string, field: string | undefined): Promise<void> {
    const queue = chance.percent(75);
    const preempt = claimant.preempts && chance.percent(15);
    const body = {
      ttl: claimant.ttlMs,
      queue,
      ...(field !== undefined && { field }),
      ...(preempt && { preempt }),
      ...(claimant.stream && { clientId: claimant.actor }),
    };
    const inBody = chance.percent(20);
    const answer = await request(
      claimant,
      { op: "claim", record, queue, ...(field !== undefined && { field }), ...(preempt && { preempt }) },
      inBody
        ? {
            method: "POST",
            path: "/v1/claims",
            body: {
              ...without(body, "field"),
              target: { model: MODEL, id: record, ...(field !== undefined && { field }) },
            },
          }
        : { method: "POST", path: `${urlOf(record)}/claim`, body },
    );
    const mine = answer?.claims[0];
    if (answer?.status === 202 && mine) return await wait(mine);
    if (answer && answer.status < 300 && mine) return await hold(mine);
    if (chance.percent(20)) await write(record, [field ?? chance.oneOf(FIELDS)]);
    await pause(chance.below(150));
  }

  async function wait(mine: ShownClaim): Promise<void> {
    for (let patience = 2 + chance.below(5); patience > 0 && !isOver(); patience--) {
      const told = listener && chance.percent(70) ? await listener.news(mine.id, 1_500) : undefined;
      const now = told ?? (await poll(mine))?.claims[0];
      if (now?.status === "active") return await hold(now);
      if (now && now.status !== "queued") return;
      if (chance.percent(10)) await renew(mine);
    }
    // The claim of a client that just disconnects is granted in vain, and its lease expires.
    if (chance.percent(80)) await release(mine);
  }

  async function hold(mine: ShownClaim): Promise<void> {
    for (let steps = chance.below(4); steps > 0 && !isOver(); steps--) {
      const answer = await (chance.percent(25)
        ? renew(mine)
        : write(mine.record, fieldsUnder(mine), chance.percent(70) ? mine.id : undefined));
      if (answer && answer.status >= 400) return void lapsed.push(mine);
      await pause(chance.below(60));
      // Waiting for one record while holding another may close a cycle.
      if (chance.percent(4)) await nested(mine);
    }
    if (chance.percent(7)) {
      await pause(claimant.ttlMs + 20 + chance.below(300));
      await write(mine.record, fieldsUnder(mine), mine.id);
    } else await release(mine);
    lapsed.push(mine);
    if (lapsed.length > 5) lapsed.shift();
  }

  async function nested(mine: ShownClaim): Promise<void> {
    const record = chance.oneOf(plan.records.filter((one) => one !== mine.record));
    const answer = await request(
      claimant,
      { op: "claim", record, queue: true },
      { method: "POST", path: `${urlOf(record)}/claim`, body: { ttl: claimant.ttlMs, queue: true } },
    );
    const second = answer?.claims[0];
    if (!second || (answer?.status ?? 500) >= 400) return;
    if (second.status === "queued") await poll(second);
    await release(second);
  }

  const fieldsUnder = (mine: ShownClaim): readonly string[] =>
    mine.field === undefined ? (chance.percent(50) ? FIELDS : [chance.oneOf(FIELDS)]) : [mine.field];

  const poll = ({ id, record }: ShownClaim) => {
    const waitMs = 200 + chance.below(1_800);
    return request(
      claimant,
      { op: "poll", record, claim: id },
      { method: "GET", path: `/v1/claims/${id}?wait=${waitMs}`, waitMs },
    );
  };

  // The same ttl always: by that the checker knows when a lease began.
  const renew = ({ id, record }: ShownClaim) =>
    request(
      claimant,
      { op: "renew", record, claim: id },
      { method: "POST", path: `/v1/claims/${id}/renew`, ...(chance.percent(50) && { body: { ttl: claimant.ttlMs } }) },
    );

  const release = ({ id, record }: ShownClaim) =>
    request(claimant, { op: "release", record, claim: id }, { method: "DELETE", path: `/v1/claims/${id}` });

  const read = (record: string) =>
    chance.percent(50)
      ? request(claimant, { op: "list", record }, { method: "GET", path: `/v1/claims?model=${MODEL}&id=${record}` })
      : request(claimant, { op: "read", record }, { method: "GET", path: urlOf(record) });

  function write(record: string, fields: readonly string[], claimId?: string): Promise<Answer | undefined> {
    const name = `w${plan.name}-${claimant.actor}-${++written}`;
    const data = Object.fromEntries(fields.map((field) => [field, name]));
    const named = { ...(claimId !== undefined && { claim: claimId }) };
    const what = { op: "write" as const, record, name, fields, ...named };
    if (chance.percent(80))
      return request(claimant, what, {
        method: "PATCH",
        path: urlOf(record),
        body: { data, clientTxId: name, ...named },
      });
    // With an own record in the same commit: both are written, or neither.
    const operations = [
      { action: "create", model: MODEL, id: name, data: { deckId: DECK, title: name } },
      { action: "update", model: MODEL, id: record, data, ...named },
    ];
    return request(
      claimant,
      { ...what, also: name },
      { method: "POST", path: "/v1/commits", body: { clientTxId: name, operations } },
    );
  }

  async function writeLapsed(): Promise<void> {
    const old = lapsed.length > 0 && chance.percent(80) ? chance.oneOf(lapsed) : undefined;
    await write(
      old?.record ?? chance.oneOf(plan.records),
      [old?.field ?? chance.oneOf(FIELDS)],
      old?.id ?? "claim_madeUpByNobody",
    );
  }

  /** Uses another participant's claim: in a write, a renewal, or a release. */
  async function meddle(record: string): Promise<void> {
    const seen = await read(record);
    const theirs = seen?.claims.find(({ actor }) => actor !== claimant.actor);
    if (!theirs) return;
    const way = chance.below(3);
    if (way === 0) await write(record, [theirs.field ?? chance.oneOf(FIELDS)], theirs.id);
    else if (way === 1) await renew(theirs);
    else await release(theirs);
  }

  while (!isOver()) {
    await turn();
    await pause(chance.below(40));
  }
}

function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = value;
  return rest;
}

/** Puts a line into another order now and then, with the secret key. */
export async function reorder({ plan, request, chance, isOver }: Stage): Promise<void> {
  const { orderer } = plan;
  if (!orderer) return;
  const { record } = orderer;
  while (!isOver()) {
    await pause(500 + chance.below(1_500));
    const seen = await request(
      orderer,
      { op: "list", record },
      { method: "GET", path: `/v1/claims?model=${MODEL}&id=${record}` },
    );
    const line = (seen?.claims ?? []).filter(({ status }) => status === "queued").map(({ id }) => id);
    if (line.length < 2) continue;
    const order = line.toReversed().slice(0, 1 + chance.below(line.length));
    await request(
      orderer,
      { op: "reorder", record },
      { method: "POST", path: `/v1/models/${MODEL}/${record}/claim/reorder`, body: { order } },
    );
  }
}
