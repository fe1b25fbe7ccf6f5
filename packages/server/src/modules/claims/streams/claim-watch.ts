import { isRecordId, limits } from "@holdfast/sdk/protocol";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import { nameOf, type Principal } from "../../../kernel/tokens/rules/participant.ts";
import { maySee } from "../flows/claim-flows.ts";
import type { FollowClaims } from "../flows/follow-claims.ts";
import { type OwnNews, type QueueNews, queueFrame } from "./claim-frames.ts";
import type { ClaimHub, RecordWatch } from "./claim-hub.ts";
import type { WatchShare } from "./watch-quota.ts";

/** Not a change number: the reader has not received anything yet. */
const NOT_SENT = -1;

/** The claim frames of one session: its participant's claims, and those of watched records. */
export interface ClaimWatch {
  begin(principal: Principal): Promise<void>;
  /**
   * Replaces the watched records of a model. New ones, and ones that were hidden, are sent at once, also if they are
   * unclaimed.
   */
  watch(principal: Principal, model: string, ids: readonly string[]): Promise<"watching" | "too many">;
  end(): void;
}

export interface ClaimWatchDeps {
  /** The claims of the principal's database. */
  readonly hub: ClaimHub;
  readonly follow: FollowClaims;
  readonly share: WatchShare;
  notify(text: string): void;
  /** The session's current principal: a renewed token may have another scope. */
  reader(): Principal | undefined;
}

export function createClaimWatch({ hub, follow, share, notify, reader }: ClaimWatchDeps): ClaimWatch {
  /** By model and id: the last change that the reader received. */
  const byModel = new Map<string, Map<string, number>>();
  /** By record key: watched records that the reader has not been shown. The most recent request comes last. */
  const unseen = new Set<string>();
  let endListening: (() => void) | undefined;
  let records: RecordWatch | undefined;
  /** Increases with each begin and end: results that were requested in an earlier term are discarded. */
  let term = 0;
  let tokenId = "";

  function show(model: string, id: string, { queue, text }: QueueNews): void {
    const who = reader();
    const asOf = byModel.get(model)?.get(id);
    if (!who || asOf === undefined || queue.asOf <= asOf || !maySee(who, model, queue)) return;
    byModel.get(model)?.set(id, queue.asOf);
    unseen.delete(recordKey(model, id));
    notify(text);
  }

  function onClaim({ model, queue, text, withHolders }: OwnNews): void {
    const who = reader();
    notify(who && maySee(who, model, queue) ? withHolders : text);
  }

  function onQueue(key: string, news: QueueNews): void {
    show(...namesOf(key), news);
  }

  /**
   * Bounds the records that may not exist: only the most recent ones stay watched, so that requesting more costs no
   * memory.
   */
  function forgetUnseen(watch: RecordWatch): void {
    for (const key of [...unseen].slice(0, -limits.watchedUnseen)) {
      const [model, id] = namesOf(key);
      watch.remove(key);
      unseen.delete(key);
      const kept = byModel.get(model);
      kept?.delete(id);
      if (kept?.size === 0) byModel.delete(model);
    }
    share.resize(
      tokenId,
      [...byModel.values()].reduce((sum, { size }) => sum + size, 0),
    );
  }

  /** The watch of this term. Undefined if the term has ended. */
  async function listening(tenant: number): Promise<RecordWatch | undefined> {
    if (records) return records;
    const own = term;
    const joined = await hub.watch(tenant, onQueue);
    if (own !== term) joined.end();
    else records = joined;
    return own === term ? joined : undefined;
  }

  return {
    async begin(principal) {
      const own = ++term;
      const end = await hub.listen(principal.tenant, nameOf(principal), onClaim);
      if (own === term) endListening = end;
      else end();
    },
    async watch(principal, model, ids) {
      const { tenant } = principal;
      const key = model.toLowerCase();
      const wanted = new Set(ids.filter(isRecordId));
      const elsewhere = [...byModel].reduce((sum, [name, { size }]) => sum + (name === key ? 0 : size), 0);
      tokenId = principal.tokenId;
      if (!share.resize(tokenId, elsewhere + wanted.size)) return "too many";
      const own = term;
      const watch = await listening(tenant);
      if (!watch) return "watching";
      const kept = byModel.get(key) ?? new Map<string, number>();
      for (const id of kept.keys())
        if (!wanted.has(id)) {
          watch.remove(recordKey(key, id));
          unseen.delete(recordKey(key, id));
          kept.delete(id);
        }
      for (const id of wanted)
        if (!kept.has(id)) {
          watch.add(recordKey(key, id));
          kept.set(id, NOT_SENT);
        }
      if (kept.size > 0) byModel.set(key, kept);
      else byModel.delete(key);
      const unsent = [...wanted].filter((id) => kept.get(id) === NOT_SENT);
      for (const id of unsent) {
        unseen.delete(recordKey(key, id));
        unseen.add(recordKey(key, id));
      }
      if (unsent.length === 0) return "watching";
      const queues = await follow.queues(unsent.map((id) => ({ tenant, model: key, id })));
      const modelName = await follow.modelNames(tenant);
      if (own !== term) return "watching";
      for (const [i, id] of unsent.entries()) {
        const queue = queues[i];
        if (queue) show(key, id, { queue, text: queueFrame(modelName(key), id, queue) });
      }
      forgetUnseen(watch);
      return "watching";
    },
    end() {
      term += 1;
      endListening?.();
      endListening = undefined;
      for (const [model, kept] of byModel) for (const id of kept.keys()) records?.remove(recordKey(model, id));
      records?.end();
      records = undefined;
      byModel.clear();
      unseen.clear();
      share.resize(tokenId, 0);
    },
  };
}

/** A model's name contains no `/`. */
function namesOf(key: string): [model: string, id: string] {
  const at = key.indexOf("/");
  return [key.slice(0, at), key.slice(at + 1)];
}
