import { type ClaimNews, targetKey } from "../../core/claims/claim-state.ts";
import { remainingMs } from "../../core/claims/lease-time.ts";
import { recordKey } from "../../core/log/tables.ts";
import { CLOSED, type LossReason } from "../../core/queue/failure.ts";
import { knownFailure } from "../../core/queue/known-failure.ts";
import type { MutationOperation } from "../../core/queue/mutation.ts";

import type { CollabEngine } from "../../engine/collab-engine.ts";
import { notifyApp, SyncError } from "../../errors.ts";
import type { Claim } from "../../protocol/claims/claim.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { OperationRequest, Write, WriteOptions } from "../writes/write-api.ts";
import type { ClaimOptions, Lease } from "./claims-api.ts";

type Listener = (news: ClaimNews) => void;

/** What leases need from the client. */
export interface LeasesDeps {
  /** Resolves when the store has been read. */
  readonly usable: () => Promise<unknown>;
  readonly newName: () => string;
  readonly write: (operation: OperationRequest, options: WriteOptions) => Write;
  /** Resolves when all matching writes to a record have reached the server or were refused. */
  readonly arrived: (recordKey: string, isMeant: (operation: MutationOperation) => boolean) => Promise<void>;
}

/** The leases that the app holds or waits for, each under its own name. */
export class Leases {
  readonly #deps: LeasesDeps;
  readonly #loop: () => CollabEngine;
  readonly #listeners = new Map<string, Listener>();

  constructor(deps: LeasesDeps, loop: () => CollabEngine) {
    this.#deps = deps;
    this.#loop = loop;
  }

  /** Stops all waiting requests. */
  close(): void {
    for (const lease of [...this.#listeners.keys()]) this.notify(lease, { kind: "lost", reason: "closed" });
  }

  notify(lease: string, news: ClaimNews): void {
    this.#listeners.get(lease)?.(news);
  }

  /** Resolves with the lease when the claim is granted. */
  claim(model: string, id: string, options: ClaimOptions): Promise<Lease> {
    const {
      field,
      queue = false,
      onPosition,
      signal,
      ttl,
      action,
      description,
      meta,
      run,
      onBehalfOf,
      preempt,
    } = options;
    // JSON has none of these, and the server would take what arrives for no ttl.
    if (ttl === null || (typeof ttl === "number" && !Number.isFinite(ttl)))
      return Promise.reject(
        new SyncError(
          knownFailure(
            "invalid_ttl",
            `A ttl must be from one second to one hour: milliseconds, or a number with ms, s, m or h (got ${ttl}).`,
            { param: "ttl" },
          ),
        ),
      );
    const target = { model, id, field };
    const terms = {
      ...(ttl !== undefined && { ttl }),
      ...(action !== undefined && { action }),
      ...(description !== undefined && { description }),
      ...(meta !== undefined && { meta }),
      ...(run !== undefined && { run }),
      ...(onBehalfOf !== undefined && { onBehalfOf }),
      ...(preempt && { preempt }),
    };
    const lease = this.#deps.newName();
    const loop = this.#loop();
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#listeners.delete(lease);
        loop.dispatch({ type: "left", lease });
        reject(signal?.reason);
      };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", stop, { once: true });
      const end = () => {
        this.#listeners.delete(lease);
        signal?.removeEventListener("abort", stop);
      };
      this.#listeners.set(lease, (news) => {
        switch (news.kind) {
          case "granted":
            end();
            return resolve(this.#lease(lease, target, news));
          case "position":
            if (news.position !== undefined && onPosition) notifyApp(onPosition, news.position);
            return;
          case "failed":
            end();
            return reject(new SyncError(news.failure));
          case "lost":
            end();
            return reject(news.reason === "closed" ? new SyncError(CLOSED) : lossOf(news));
          case "released":
            return;
        }
      });
      // A record that this client has just created may not exist on the server yet.
      void this.#deps.arrived(recordKey(target), isCreate).then(() => {
        if (this.#listeners.has(lease)) loop.dispatch({ type: "claimed", target, terms, lease, queue });
      });
    });
  }

  #lease(
    lease: string,
    { model, id: recordId, field }: { model: string; id: string; field: string | undefined },
    { claimId: id, fence }: Extract<ClaimNews, { kind: "granted" }>,
  ): Lease {
    const deps = this.#deps;
    const loop = this.#loop();
    const key = targetKey({ model, id: recordId, field });
    const losing = new AbortController();
    let isOver = false;
    let resolveReleased = () => {};
    const released = new Promise<void>((resolve) => {
      resolveReleased = resolve;
    });
    const lost = new Promise<SyncError>((resolve) => {
      this.#listeners.set(lease, (news) => {
        if (news.kind !== "lost" && news.kind !== "released") return;
        this.#listeners.delete(lease);
        resolveReleased();
        if (isOver || news.kind === "released") return;
        isOver = true;
        const loss = lossOf(news);
        losing.abort(loss);
        resolve(loss);
      });
    });
    let releasing: Promise<void> | undefined;
    /** Holds and renews the claim until the writes made under it have reached the server. */
    async function releaseAfterWrites(): Promise<void> {
      await Promise.race([deps.arrived(recordKey({ model, id: recordId }), ({ claim }) => claim === id), released]);
      if (!isOver) {
        isOver = true;
        loop.dispatch({ type: "left", lease });
      }
      await released;
    }
    const release = () => {
      releasing ??= releaseAfterWrites();
      return releasing;
    };
    const write = (operation: Omit<OperationRequest, "model" | "id">, options = {}) =>
      deps.write({ ...operation, model, id: recordId }, { ...options, claim: { id, model, recordId } });
    return {
      id,
      model,
      recordId,
      field,
      fence,
      signal: losing.signal,
      lost,
      remainingMs() {
        const stage = isOver ? undefined : loop.state().holds.get(key)?.stage;
        return stage?.phase === "held" && stage.claimId === id ? remainingMs(stage, loop.now()) : 0;
      },
      update: (patch, options) => write({ action: "update", data: patch }, options),
      delete: (options) => write({ action: "delete" }, options),
      archive: (options) => write({ action: "archive" }, options),
      unarchive: (options) => write({ action: "unarchive" }, options),
      release,
      [Symbol.asyncDispose]: release,
    } satisfies Lease<ModelSchema>;
  }
}

const isCreate = ({ action }: MutationOperation): boolean => action === "create";

const LOSS_MESSAGES: Record<LossReason, string> = {
  deadline: "The claim was not renewed in time: the server did not answer, and someone else may hold it now.",
  expired: "The claim expired, because it was not renewed.",
  released: "The claim was released in another window, or by another program of the same participant.",
  canceled: "The server ended the claim: the record was deleted, or the token was revoked.",
  preempted: "Someone with the permission claim.preempt took the claim.",
  refused: "The server no longer knows this claim of the participant.",
  revoked: "The token was revoked, which ended the claim.",
  hidden: "The page was hidden (pagehide), which released its claims.",
  closed: "The client was closed, which released its claims.",
};

function lossOf({ reason, holders: claims = [] }: Extract<ClaimNews, { kind: "lost" }>): SyncError {
  const message = [LOSS_MESSAGES[reason] ?? LOSS_MESSAGES.refused, ...claims.map(holderSentence)].join(" ");
  return new SyncError(knownFailure("claim_lost", message, { reason, ...(claims.length > 0 && { claims }) }));
}

const holderSentence = ({ participantKind, actor, field }: Claim): string =>
  `${field === undefined ? "It" : `Its field ${field}`} is now held by ${participantKind} ${actor}.`;
