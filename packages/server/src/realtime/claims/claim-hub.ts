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

/** The claims of one record as they now are. */
export interface QueueNews {
  readonly queue: ReadQueue;
  /** The `claims` frame. */
  readonly text: string;
}

/** What happened to one claim of a participant. */
export interface OwnNews {
  readonly model: string;
  readonly queue: ReadQueue;
  /** The `claim` frame. */
  readonly text: string;
  /** The same with who holds the record now: for a reader that may see the record. */
  readonly withHolders: string;
}

/** Whoever in this process hears of claims: of records, or of one participant's own. A tenant without listeners costs nothing. */
export interface ClaimHub {
  /** For one listener, however many records it watches. */
  watch(tenant: number, heard: HeardRecord): Promise<RecordWatch>;
  /** `claim` frames for one participant, `<kind>:<id>`. */
  hear(tenant: number, participant: string, heard: HeardOwn): Promise<() => void>;
  /** Claims of a tenant changed, here or in another process. */
  changed(tenant: number): void;
  /** The numbers of changes are others now: who listens hears nothing more. */
  forget(): void;
}

/** `key`: the record's. */
export type HeardRecord = (key: string, news: QueueNews) => void;

export type HeardOwn = (news: OwnNews) => void;

/** The records that one listener watches. What it watches it keeps itself: here a record has one entry for all its listeners. */
export interface RecordWatch {
  /** What changes from now on will be told. */
  add(key: string): void;
  remove(key: string): void;
  /** All records have been removed, and none will be added. */
  end(): void;
}

interface Audience {
  position: number;
  /** Listeners that are there, also those that watch no record yet. */
  members: number;
  readonly byRecord: Map<string, Set<HeardRecord>>;
  readonly byParticipant: Map<string, Set<HeardOwn>>;
  look(): void;
  end(): void;
}

/** Reads on in each tenant's changes of claims from where it was: like the log, they are numbered without holes to miss. */
export function createClaimHub(follow: FollowClaims, poll: HeadPoll, failed: (error: unknown) => void): ClaimHub {
  const audiences = new Map<number, Promise<Audience>>();
  const ready = new Map<number, Audience>();

  /** How often all was forgotten. */
  let eras = 0;

  async function open(tenant: number): Promise<Audience> {
    const era = eras;
    const position = await follow.lastChange(tenant);
    // It may be that of the old numbers.
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
    // Its last listener may have left in the very moment in which we heard of it.
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

/** Each whose claim changed hears of it; and when somebody left the line, everybody behind it, of its new position. */
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

/** With those who have now what it was about. */
const endFrame = (ended: ClaimState, claim: Claim, declaredName: string, { claims, now }: ReadQueue): string =>
  JSON.stringify({
    frame: "claim",
    claim,
    holders: holdersOf(claims, now)
      .filter((holder) => isConflict(holder, ended))
      .map((holder) => presentClaim(holder, declaredName, now)),
  } satisfies ClaimFrame);

/** A lease that goes on moves nobody in the line. */
const isRenewal = ({ status, expiresAt, grantedAt, ttlMs }: ClaimState): boolean =>
  status === "active" && (expiresAt ?? 0) !== (grantedAt ?? 0) + ttlMs;

export const queueFrame = (declaredName: string, id: string, { claims, now }: ReadQueue): string =>
  JSON.stringify({
    frame: "claims",
    model: declaredName,
    id,
    ...presentQueue(claims, declaredName, now),
  } satisfies ClaimsFrame);

/** Runs once more for everything that asks while it runs. */
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

/** Hears of one record's claims from now on, for somebody who waits. */
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
