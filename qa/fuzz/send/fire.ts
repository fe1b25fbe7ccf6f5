import { Agent } from "node:http";
import fc from "fast-check";
import type { Memory, Sent } from "../exchange/memory.ts";
import type { Routes } from "../exchange/routes.ts";
import type { Exchange, Totals } from "../exchange/totals.ts";
import { isNoResponse, send } from "../exchange/wire.ts";
import { type Plan, plans } from "../generate/plan.ts";
import { isWrite, type Judging, judge } from "../judge/judge.ts";
import type { Heads } from "../server/heads.ts";
import { compose } from "./compose.ts";

/** Something that broke a rule, as small as it could be made. */
export interface Violation {
  readonly fault: string;
  /** Absent: it was found in the end. */
  readonly exchange?: Exchange;
  /** Whether the same request alone broke the rule once more. */
  readonly again?: boolean;
}

export interface Firing {
  readonly memory: Memory;
  readonly judging: Judging;
  readonly routes: Routes;
  readonly totals: Totals;
  readonly violations: Violation[];
  /** The process has ended, so no more requests are sent. */
  isOver(): boolean;
  print(line: string): void;
}

export interface Volley {
  /** The number of requests, without those that shrink violations. */
  readonly requests: number;
  readonly lanes: number;
  readonly seed: number;
  /** If given: requests are sent one at a time, and a refused one must not move any log's head. */
  readonly heads?: Heads;
}

const BATCH = 128;
const BATCHES = 20;
/** Batches that may be spent on making one violation small. */
const MOST_SHRINKS = 150;
/** Kinds of violation after which a run has shown enough. */
const MOST_KINDS = 12;
const TOLD_EVERY = 5_000;

export interface Volleys {
  readonly refusedQuietly: number;
}

/** Sends generated requests until there were enough. Each kind of violation is shrunk and kept once. */
export async function fire(firing: Firing, { requests, lanes, seed, heads }: Volley): Promise<Volleys> {
  const { memory, judging, routes, totals, violations, isOver, print } = firing;
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const batches = fc.array(plans(judging.schema), { minLength: 1, maxLength: BATCH, size: "max" });
  const known = new Set(violations.map(({ fault }) => kindOf(fault)));
  let fired = 0;
  let refusedQuietly = 0;

  /** Requests that shrink a violation are not counted. */
  async function faultsOf(sent: Sent, counted: boolean): Promise<{ faults: string[]; exchange: Exchange }> {
    const endpoint = routes.endpointOf(sent.wire);
    const before = await heads?.read();
    const answer = await send(agent, judging.url, sent.wire);
    const exchange = { sent, answer };
    if (counted) totals.add(exchange, endpoint ?? "(no endpoint)");
    if (counted && totals.requests % TOLD_EVERY === 0)
      print(`${totals.requests} requests, ${violations.length} violations`);
    if (isNoResponse(answer)) return { exchange, faults: mayBeSilent(sent) ? [] : [`no answer: ${answer.silence}`] };
    memory.learn(sent, answer, isWrite(endpoint) && answer.status === 200);
    // Bytes that are not HTTP count as no endpoint's request.
    const faults = judged(exchange.sent, answer, answer.reason === "Refused" ? undefined : endpoint);
    const writes = isWrite(endpoint) && answer.status === 200 && answer.headers["holdfast-held"] === undefined;
    if (before !== undefined && !writes && answer.status !== 503) {
      refusedQuietly += answer.status >= 400 ? 1 : 0;
      const after = await heads?.read();
      if (after !== before) faults.push(`${answer.status}, and the logs went from ${before} to ${after}`);
    }
    return { faults, exchange };
  }

  /** An answer that is so wrong that it cannot even be judged is found, too. */
  function judged(...what: Parameters<typeof judge> extends [...infer Rest, Judging] ? Rest : never): string[] {
    try {
      return judge(...what, judging);
    } catch (error) {
      return [`an answer that cannot be judged: ${error instanceof Error ? error.stack : error}`];
    }
  }

  async function batch(plan: readonly Plan[], counted: boolean): Promise<Violation[]> {
    const found: Violation[] = [];
    let next = 0;
    const lane = async () => {
      for (let i = next++; i < plan.length && !isOver(); i = next++) {
        const sent = compose(plan[i] as Plan, memory, routes);
        // It is unknown whether a request that was cut off is still being processed.
        if (heads && sent.wire.hangsUp) continue;
        const { faults, exchange } = await faultsOf(sent, counted);
        for (const fault of faults) if (!known.has(kindOf(fault))) found.push({ fault, exchange });
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return found;
  }

  /** Sends some batches. Returns the first violation, with the batch shrunk by fast-check. */
  async function round(n: number): Promise<Violation | undefined> {
    let smallest: Violation | undefined;
    let shrinks = 0;
    const property = fc.asyncProperty(batches, async (plan) => {
      if (!smallest && fired >= requests) return;
      if (smallest) shrinks += 1;
      else fired += plan.length;
      if (shrinks > MOST_SHRINKS) return;
      const found = await batch(plan, shrinks === 0);
      const same = smallest ? found.find(({ fault }) => kindOf(fault) === kindOf(smallest?.fault ?? "")) : found[0];
      if (!same) return;
      smallest = same;
      throw new Error(same.fault);
    });
    // Values that trip are made on purpose: no need to lean towards small ones.
    const { failed, errorInstance } = await fc.check(property, { seed: seed + n, numRuns: BATCHES, unbiased: true });
    // A fault of ours, not of the server's.
    if (failed && !smallest) throw errorInstance;
    return smallest;
  }

  try {
    for (let n = 0; fired < requests && !isOver() && violations.length < MOST_KINDS; n++) {
      const violation = await round(n);
      if (!violation) continue;
      const { exchange, fault } = violation;
      const again = exchange && !isOver() ? (await faultsOf(exchange.sent, false)).faults : [];
      known.add(kindOf(fault));
      violations.push({ ...violation, again: again.some((one) => kindOf(one) === kindOf(fault)) });
      print(`violation: ${fault.slice(0, 300)}`);
    }
  } finally {
    agent.destroy();
  }
  return { refusedQuietly };
}

/** If the client hangs up or sends too much, the connection may end before a response can be read. */
const mayBeSilent = ({ wire }: Sent): boolean => wire.hangsUp === true || (wire.body?.length ?? 0) > 1_000_000;

/** The same fault with other names and numbers is of the same kind. */
const kindOf = (fault: string): string =>
  fault
    .slice(0, 200)
    .replace(/\b(req|stx|cap|eph|fav|key|org)_[0-9A-Za-z]+/g, "$1_")
    .replace(/"[^"]*"/g, '""')
    .replace(/\bi\d\b|\d+/g, "#");
