import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { HeadPoll } from "../../../kernel/stream/head-poll.ts";
import { createTopics, type Topic } from "../../../kernel/stream/topics.ts";
import type { FollowClaims } from "../flows/follow-claims.ts";
import { concernedClaims, type OwnNews, ownNews, type QueueNews, queueFrame } from "./claim-frames.ts";

/**
 * Passes claim changes to the listeners of this process: by record, or by participant. A tenant without listeners costs
 * nothing.
 */
export interface ClaimHub {
  /** One watch per listener, however many records it watches. */
  watch(tenant: number, onQueue: OnQueue): Promise<RecordWatch>;
  /** Delivers `claim` frames for one participant, `<kind>:<id>`. */
  listen(tenant: number, participant: string, onClaim: OnClaim): Promise<() => void>;
  /** Claims of a tenant have changed, here or in another process. */
  changed(tenant: number): void;
  /** The change numbers were reset. Current listeners receive nothing more. */
  forget(): void;
}

/** `key`: the record key. */
export type OnQueue = (key: string, news: QueueNews) => void;

export type OnClaim = (news: OwnNews) => void;

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

interface ClaimTopic extends Topic {
  /** The number of the last change that was read. */
  position: number;
  readonly byRecord: Map<string, Set<OnQueue>>;
  readonly byParticipant: Map<string, Set<OnClaim>>;
  /** Reads and delivers the changes after `position`. */
  readOn(): void;
}

/**
 * Reads each tenant's claim changes from the last read number on. Like log positions, change numbers have an order, so
 * no change is missed.
 */
export function createClaimHub(follow: FollowClaims, poll: HeadPoll, failed: (error: unknown) => void): ClaimHub {
  const topics = createTopics({ read: follow.lastChange, open });

  function open(tenant: number, position: number): ClaimTopic {
    const topic: ClaimTopic = {
      position,
      byRecord: new Map(),
      byParticipant: new Map(),
      readOn: oneAtATime(() => readChanges(tenant, topic), failed),
      close: poll.watch(tenant, ({ claimChange }) => {
        if (claimChange > topic.position) topic.readOn();
      }),
    };
    return topic;
  }

  async function readChanges(tenant: number, topic: ClaimTopic): Promise<void> {
    for (;;) {
      const changes = await follow.changes(tenant, topic.position);
      const last = changes.at(-1);
      if (!last) return;
      const names = [...new Map(changes.map(({ claim }) => [recordKey(claim.model, claim.record), claim])).values()];
      const queues = await follow.queues(names.map(({ model, record }) => ({ tenant, model, id: record })));
      const nameOf = await follow.modelNames(tenant);
      topic.position = last.change;
      for (const [i, { model, record }] of names.entries()) {
        const key = recordKey(model, record);
        const queue = queues[i];
        if (!queue) continue;
        const listeners = topic.byRecord.get(key);
        if (listeners) {
          const news = { queue, text: queueFrame(nameOf(model), record, queue) };
          for (const onQueue of listeners) onQueue(key, news);
        }
        if (topic.byParticipant.size === 0) continue;
        const own = changes.filter(({ claim }) => recordKey(claim.model, claim.record) === key);
        for (const concerned of concernedClaims(queue, own)) {
          const owners = topic.byParticipant.get(concerned.claim.participant);
          if (!owners) continue;
          const news = ownNews(nameOf(model), queue, concerned);
          for (const onClaim of owners) onClaim(news);
        }
      }
    }
  }

  return {
    async watch(tenant, onQueue) {
      const { topic, end } = await topics.subscribe(tenant);
      return {
        add: (key) => addTo(topic.byRecord, key, onQueue),
        remove: (key) => removeFrom(topic.byRecord, key, onQueue),
        end,
      };
    },
    async listen(tenant, participant, onClaim) {
      const { topic, end } = await topics.subscribe(tenant);
      addTo(topic.byParticipant, participant, onClaim);
      return () => {
        removeFrom(topic.byParticipant, participant, onClaim);
        end();
      };
    },
    changed: (tenant) => topics.whenOpen(tenant, ({ readOn }) => readOn()),
    forget: topics.closeAll,
  };
}

function addTo<T>(listeners: Map<string, Set<T>>, key: string, listener: T): void {
  const known = listeners.get(key);
  if (known) known.add(listener);
  else listeners.set(key, new Set([listener]));
}

function removeFrom<T>(listeners: Map<string, Set<T>>, key: string, listener: T): void {
  const known = listeners.get(key);
  known?.delete(listener);
  if (known?.size === 0) listeners.delete(key);
}

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
