import { setTimeout as sleep } from "node:timers/promises";
import { TenantElsewhere } from "../../../kernel/commits/db/tenant-elsewhere.ts";
import type { Connection } from "../../../kernel/connection/connection.ts";
import { errorState, LOCK_NOT_AVAILABLE } from "../../../kernel/connection/database-error.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { readIdentity } from "../../../kernel/log/db/log-epoch.ts";
import type { Move } from "../db/moves.ts";
import {
  type CopiedTo,
  closeHead,
  copyAll,
  copyChanged,
  copyLast,
  deleteArrival,
  hasAttachedTables,
  lockEndpoints,
  lockMove,
  openHead,
  prepareTenant,
  type Route,
  readExtent,
  readHeadRow,
  readPlaces,
  saveArrival,
} from "../db/tenant-rows.ts";
import { moveProblems } from "../rules/move-problems.ts";
import { howToCatchUp, nextStep } from "../rules/next-step.ts";
import { deleteAll, longTransaction, withConnections } from "./move-connections.ts";

/** How often a copy starts over, because values changed that no position tells. */
const ATTEMPTS = 5;
/** How long the last pass waits for the head and the endpoints. Clients' writes wait for 5 s. */
const LOCK = "set local lock_timeout = '1s'";
const PATIENT_LOCK = "set local lock_timeout = '5s'";

/** The databases of a move. */
export interface MoveUrls {
  readonly source: string;
  readonly target: string;
}

/** The move cannot be made, or not now. The message is a sentence. */
export class MoveError extends Error {}

/**
 * "over": it is not asked for any more. "busy": another process is at it. "there": both names lead to one database, in
 * which the tenant is already.
 */
export type Outcome = "done" | "over" | "busy" | "there";

/**
 * Brings a tenant's records and log into the target, while writes go on; they wait only for the last entries. Whatever
 * was cut off before goes on: see next-step.ts. "done": the target serves the tenant from now on.
 */
export const moveTenant = (
  urls: MoveUrls,
  move: Move,
  isAsked: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Outcome> =>
  aloneWith(urls, move.tenant, isAsked, signal, async (from, to) => {
    const { tenant } = move;
    const step = nextStep({ source: await readPlaces(from, tenant), target: await readPlaces(to, tenant) });
    if (step === "copy" && !(await copyTenant({ tenant, from, to }, move, isAsked, signal))) return false;
    if (step !== "finish") await longTransaction(to, (tx) => openHead(tx, tenant));
    return true;
  });

/** Deletes what a tenant has left behind, once it has moved. */
export const clearSource = (
  urls: MoveUrls,
  tenant: number,
  isAsked: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Outcome> =>
  aloneWith(urls, tenant, isAsked, signal, async (from) => {
    const { head, arrival } = await readPlaces(from, tenant);
    if (head || arrival) throw new Error(`The database already has data of the tenant ${tenant}.`);
    await deleteAll(from, tenant);
    return true;
  });

/**
 * Gives a move up, unless the source is closed already: then it goes on. `withdraw` removes the move from the directory.
 * A copy that is under way finds out in its last pass, which needs the head's lock too.
 */
export async function giveUp(
  source: string,
  tenant: number,
  withdraw: () => Promise<void>,
  signal: AbortSignal,
): Promise<"leaving" | "busy"> {
  return await withConnections([source], signal, async ([from]) => {
    return await longTransaction(from, async (tx) => {
      await tx.query(PATIENT_LOCK);
      await readExtent(tx, tenant, "for update");
      await withdraw();
      return "leaving" as const;
    }).catch((error: unknown) => {
      // It has left the source, or its last entries are being copied.
      if (error instanceof TenantElsewhere || errorState(error) === LOCK_NOT_AVAILABLE) return "busy" as const;
      throw error;
    });
  });
}

/** Holds the tenant's lock in both databases. A move that was asked for before may be over by the time that it is held. */
async function aloneWith(
  { source, target }: MoveUrls,
  tenant: number,
  isAsked: () => Promise<boolean>,
  signal: AbortSignal,
  work: (from: Connection, to: Connection) => Promise<boolean>,
): Promise<Outcome> {
  return await withConnections([source, target], signal, async ([from, to]) => {
    if (!(await lockMove(from, tenant))) return "busy";
    const here = await readIdentity(from);
    const isOne = here !== undefined && here === (await readIdentity(to));
    if (!isOne && !(await lockMove(to, tenant))) return "busy";
    if (!(await isAsked())) return "over";
    if (isOne) return "there";
    return (await work(from, to)) ? "done" : "over";
  });
}

/** Returns false if the move was given up meanwhile. */
async function copyTenant(
  route: Route,
  move: Move,
  isAsked: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  const { tenant, from, to } = route;
  for (let attempt = 1; ; attempt++) {
    await longTransaction(to, (tx) => deleteArrival(tx, tenant));
    await deleteAll(to, tenant);
    await longTransaction(to, (tx) => prepareTenant(tx, move));
    await checkTables(from, tenant);
    const copied = await copyOf(route, () => copyAll(route));
    const caughtUp = await catchUp(route, copied, isAsked, signal);
    if (caughtUp === "copied") return true;
    if (caughtUp === "over") {
      await deleteAll(to, tenant);
      return false;
    }
    if (attempt === ATTEMPTS) throw new MoveError(moveProblems.rewritten);
  }
}

async function checkTables(source: Transaction, tenant: number): Promise<void> {
  if (await hasAttachedTables(source, tenant)) throw new MoveError(moveProblems.attached);
}

/** Copies as of one moment of the source. Returns that moment. */
async function copyOf({ tenant, from, to }: Route, copy: () => Promise<void>): Promise<CopiedTo> {
  return await longTransaction(
    from,
    async (source) => {
      // The first read sets the moment.
      const extent = await readExtent(source, tenant);
      await longTransaction(to, copy);
      return extent;
    },
    "begin isolation level repeatable read read only",
  );
}

/** "again": the copy has to start over. "over": it is not asked for any more. */
type CaughtUp = "copied" | "again" | "over";

async function catchUp(
  route: Route,
  begun: CopiedTo,
  isAsked: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<CaughtUp> {
  let copied = begun;
  for (;;) {
    signal.throwIfAborted();
    const how = howToCatchUp(copied, await readExtent(route.from, route.tenant));
    if (how === "again") return "again";
    if (how === "last pass") {
      const done = await lastPass(route, copied, isAsked);
      if (done !== "not now") return done;
      await sleep(100, undefined, { signal });
    } else {
      const since = copied;
      copied = await copyOf(route, () => copyChanged(route, since));
    }
  }
}

/**
 * Writes wait from here on. "not now": too many entries came meanwhile, or a lock is held. After the target has everything, the
 * source is closed; the next attempt then finds neither with a head, and lets the target open.
 */
async function lastPass(
  route: Route,
  copied: CopiedTo,
  isAsked: () => Promise<boolean>,
): Promise<CaughtUp | "not now"> {
  const { tenant, from, to } = route;
  return await longTransaction(from, async (source) => {
    await source.query(LOCK);
    const how = howToCatchUp(copied, await readExtent(source, tenant, "for update"));
    if (how !== "last pass") return how === "again" ? "again" : "not now";
    if (!(await isAsked())) return "over";
    // One may have been attached during the copy.
    await checkTables(source, tenant);
    await lockEndpoints(source, tenant);
    await longTransaction(to, async (target) => {
      await copyChanged(route, copied);
      await copyLast(route);
      await saveArrival(target, tenant, await readHeadRow(source, tenant));
    });
    await closeHead(source, tenant);
    return "copied";
  }).catch((error: unknown): "not now" => {
    if (errorState(error) === LOCK_NOT_AVAILABLE) return "not now";
    throw error;
  });
}
