import type { Claim, ClaimFrame, ClaimsFrame } from "@holdfast/sdk/protocol";
import type { QueueListener } from "../../flows/claims/claim-flows.ts";
import type { ClaimChange, FollowClaims, ReadQueue } from "../../flows/claims/follow-claims.ts";
import {
  type ClaimState,
  holdersOf,
  inQueueOrder,
  isConflict,
  isWaiting,
  presentClaim,
  presentQueue,
} from "../../rules/claims/claim.ts";
import { recordKey } from "../../rules/commits/commit-request.ts";
import type { HeadPoll } from "../log/head-poll.ts";

/** The current claims of one record. */
export interface QueueNews {
  readonly queue: ReadQueue;
  /** The `claims` frame. */
  readonly text: string;
}

/** A change of one claim of a participant. */
export interface OwnNews {
  readonly model: string;
  readonly queue: ReadQueue;
  /** The `claim` frame. */
  readonly text: string;
  /** The same frame with the current holders, for a reader that may see the record. */
  readonly withHolders: string;
}

/**
 * Passes claim changes to the listeners of this process: by record, or by participant. A tenant without listeners costs
 * nothing.
 */
export interface ClaimHub {
  /** One watch per listener, however many records it watches. */
  watch(tenant: number, heard: HeardRecord): Promise<RecordWatch>;
  /** Delivers `claim` frames for one participant, `<kind>:<id>`. */
  hear(tenant: number, participant: string, heard: HeardOwn): Promise<() => void>;
  /** Claims of a tenant have changed, here or in another process. */
  changed(tenant: number): void;
  /** The change numbers were reset. Current listeners receive nothing more. */
  forget(): void;
}

/** `key`: the record key. */
export type HeardRecord = (key: string, news: QueueNews) => void;

export type HeardOwn = (news: OwnNews) => void;

/**
 * The records that one listener watches. The hub keeps one entry per record for all its listeners; the listener keeps
 * its own list.
 */
export interface RecordWatch {
  /** Delivers changes from now on. */
  add(key: string): void;
  remove(key: string): void;
  /** Call after every record was removed. None may be added afterwards. */
  end(): void;
}

interface Audience {
  position: number;
  /** The number of listeners, including those that watch no record yet. */
  members: number;
  readonly byRecord: Map<string, Set<HeardRecord>>;
  readonly byParticipant: Map<string, Set<HeardOwn>>;
  look(): void;
  end(): void;
}

/**
 * Reads each tenant's claim changes from the last read number on. Like log positions, change numbers have an order, so
 * no change is missed.
 */
export function createClaimHub(follow: FollowClaims, poll: HeadPoll, failed: (error: unknown) => void): ClaimHub {
  const audiences = new Map<number, Promise<Audience>>();
  const ready = new Map<number, Audience>();

  /** How often `forget` was called. */
  let eras = 0;

  async function open(tenant: number): Promise<Audience> {
    const era = eras;
    const position = await follow.lastChange(tenant);
    // `forget` was called meanwhile, so this number may be an old one.
    if (era !== eras) return await audienceOf(tenant);
    const audience: Audience = {
      position,
      members: 0,
      byRecord: new Map(),
      byParticipant: new Map(),
      look: oneAtATime(() => readOn(tenant, audience), failed),
      end: poll.watch(tenant, ({ claimChange }) => {
        if (claimChange > audience.position) audience.look();
      }),
    };
    ready.set(tenant, audience);
    return audience;
  }

  function audienceOf(tenant: number): Promise<Audience> {
    let opening = audiences.get(tenant);
    if (!opening) {
      opening = open(tenant);
      audiences.set(tenant, opening);
      opening.catch(() => audiences.delete(tenant));
    }
    return opening;
  }

  async function readOn(tenant: number, audience: Audience): Promise<void> {
    for (;;) {
      const changes = await follow.changes(tenant, audience.position);
      const last = changes.at(-1);
      if (!last) return;
      const names = [...new Map(changes.map(({ claim }) => [recordKey(claim.model, claim.record), claim])).values()];
      const queues = await follow.queues(names.map(({ model, record }) => ({ tenant, model, id: record })));
      const nameOf = await follow.modelNames(tenant);
      audience.position = last.change;
      for (const [i, { model, record }] of names.entries()) {
        const key = recordKey(model, record);
        const queue = queues[i];
        if (!queue) continue;
        const listeners = audience.byRecord.get(key);
        if (listeners) {
          const news = { queue, text: queueFrame(nameOf(model), record, queue) };
          for (const heard of listeners) heard(key, news);
        }
        const own = changes.filter(({ claim }) => recordKey(claim.model, claim.record) === key);
        tellOwners(audience, nameOf(model), queue, own);
      }
    }
  }

  function leave(tenant: number, audience: Audience): void {
    audience.members -= 1;
    if (audience.members > 0 || ready.get(tenant) !== audience) return;
    audience.end();
    ready.delete(tenant);
    audiences.delete(tenant);
  }

  async function join(tenant: number): Promise<Audience> {
    let audience = await audienceOf(tenant);
    // While we waited, the last listener may have left and closed the audience.
    while (ready.get(tenant) !== audience) audience = await audienceOf(tenant);
    audience.members += 1;
    return audience;
  }

  return {
    async watch(tenant, heard) {
      const audience = await join(tenant);
      return {
        add: (key) => addTo(audience.byRecord, key, heard),
        remove: (key) => removeFrom(audience.byRecord, key, heard),
        end: () => leave(tenant, audience),
      };
    },
    async hear(tenant, participant, heard) {
      const audience = await join(tenant);
      addTo(audience.byParticipant, participant, heard);
      return () => {
        removeFrom(audience.byParticipant, participant, heard);
        leave(tenant, audience);
      };
    },
    changed: (tenant) => ready.get(tenant)?.look(),
    forget() {
      eras += 1;
      for (const audience of ready.values()) audience.end();
      ready.clear();
      audiences.clear();
    },
  };
}

function addTo<T>(listeners: Map<string, Set<T>>, key: string, heard: T): void {
  const known = listeners.get(key);
  if (known) known.add(heard);
  else listeners.set(key, new Set([heard]));
}

function removeFrom<T>(listeners: Map<string, Set<T>>, key: string, heard: T): void {
  const known = listeners.get(key);
  known?.delete(heard);
  if (known?.size === 0) listeners.delete(key);
}

/**
 * Notifies the owner of each changed claim. If a waiter has left the queue, also everyone behind it, because their
 * positions changed.
 */
function tellOwners(
  { byParticipant }: Audience,
  declaredName: string,
  queue: ReadQueue,
  changes: readonly ClaimChange[],
): void {
  if (byParticipant.size === 0) return;
  const waiters = inQueueOrder(queue.claims);
  const concerned = new Map<string, ClaimState>(
    changes.every(({ claim }) => isRenewal(claim)) ? [] : waiters.map((claim) => [claim.id, claim]),
  );
  const alive = new Map(queue.claims.map((claim) => [claim.id, claim]));
  for (const { claim } of changes) concerned.set(claim.id, alive.get(claim.id) ?? claim);
  for (const claim of concerned.values()) {
    const listeners = byParticipant.get(claim.participant);
    if (!listeners) continue;
    const position = isWaiting(claim) ? waiters.indexOf(claim) : -1;
    const shown = presentClaim(claim, declaredName, queue.now, position < 0 ? undefined : position);
    const text = JSON.stringify({ frame: "claim", claim: shown } satisfies ClaimFrame);
    const withHolders = claim.endedAt === null ? text : endFrame(claim, shown, declaredName, queue);
    for (const heard of listeners) heard({ model: claim.model, queue, text, withHolders });
  }
}

/** The frame for an ended claim, with the record's current holders. */
const endFrame = (ended: ClaimState, claim: Claim, declaredName: string, { claims, now }: ReadQueue): string =>
  JSON.stringify({
    frame: "claim",
    claim,
    holders: holdersOf(claims, now)
      .filter((holder) => isConflict(holder, ended))
      .map((holder) => presentClaim(holder, declaredName, now)),
  } satisfies ClaimFrame);

/** A renewed lease does not move the queue. */
const isRenewal = ({ status, expiresAt, grantedAt, ttlMs }: ClaimState): boolean =>
  status === "active" && (expiresAt ?? 0) !== (grantedAt ?? 0) + ttlMs;

export const queueFrame = (declaredName: string, id: string, { claims, now }: ReadQueue): string =>
  JSON.stringify({
    frame: "claims",
    model: declaredName,
    id,
    ...presentQueue(claims, declaredName, now),
  } satisfies ClaimsFrame);

/** Runs the work once more if it was requested during a run. */
function oneAtATime(work: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    again = true;
    if (running) return;
    running = true;
    while (again) {
      again = false;
      await work().catch(failed);
    }
    running = false;
  };
  return () => void run();
}

/** Follows one record's claims for a long poll. */
export async function listenToQueue(news: ClaimHub, tenant: number, key: string): Promise<QueueListener> {
  let told: ReadQueue | undefined;
  let wake: () => void = () => {};
  const watch = await news.watch(tenant, (_, { queue }) => {
    told = queue;
    wake();
  });
  watch.add(key);
  return {
    end() {
      watch.remove(key);
      watch.end();
    },
    async next(waitMs, signal) {
      if (!told && !signal.aborted && waitMs > 0)
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          };
          const timer = setTimeout(done, waitMs);
          signal.addEventListener("abort", done);
          wake = done;
        });
      const queue = told;
      told = undefined;
      return queue;
    },
  };
}
