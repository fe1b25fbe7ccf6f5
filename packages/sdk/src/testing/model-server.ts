import { jsonEqual } from "../core/json-equal.ts";
import { recordKey, tableOf } from "../core/tables.ts";
import { applyOperation, type Row } from "../protocol/apply.ts";
import type { CommitBody, CommitReceipt } from "../protocol/commit.ts";
import { type ErrorCode, errorCodes } from "../protocol/error-codes.ts";
import { errorSentences } from "../protocol/error-sentences.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import type { LogEntry } from "../protocol/log.ts";
import type { ModelSchema } from "../protocol/model-schema.ts";
import type { Action, Operation } from "../protocol/operation.ts";
import type { SnapshotLine } from "../protocol/snapshot.ts";
import type { StaleNotification } from "../protocol/stale.ts";
import { ModelClaims } from "./model-claims.ts";
import { ModelRooms } from "./model-rooms.ts";

/** One item of a bulk's answer. */
export type BulkItem = { httpStatus: number } & Record<string, unknown>;

/** As the SDK sends them: with every id. */
type Commit = Omit<CommitBody, "operations"> & { readonly operations: readonly Operation[] };

interface ServerRow extends Row {
  readonly syncId: number;
}

const VERB = {
  create: "created",
  update: "updated",
  delete: "deleted",
  archive: "archived",
  unarchive: "unarchived",
} as const satisfies Record<Action, LogEntry["verb"]>;

/**
 * The service's rules in one page, in memory, for tests: one commit after the other, one log, receipts by name,
 * staleness by field. Claims too. It knows no tokens, scopes or premises. Whatever clients believe in the end has to equal this.
 */
export class ModelServer {
  readonly log: LogEntry[] = [];
  readonly rows = new Map<string, ServerRow & { readonly model: string; readonly id: string }>();
  logId = "log_1";
  wasRestored = false;
  readonly #schema: ModelSchema;
  readonly #receipts = new Map<string, { body: string; item: BulkItem }>();
  readonly #listeners = new Set<() => void>();
  readonly #refusals: ((operation: Operation) => ErrorCode | undefined)[] = [];

  readonly claims: ModelClaims;
  readonly rooms = new ModelRooms();

  constructor(schema: ModelSchema, now: () => number = () => 0) {
    this.#schema = schema;
    this.claims = new ModelClaims(now);
  }

  get head(): number {
    return this.log.length;
  }

  /** From now on, operations for which this names a code are refused with it. Gives back how to stop. */
  refuse(when: (operation: Operation) => ErrorCode | undefined): () => void {
    this.#refusals.push(when);
    return () => void this.#refusals.splice(this.#refusals.indexOf(when), 1);
  }

  /** Calls back after every commit that wrote something. Gives back how to stop. */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  receiptOf(actor: string, clientTxId: string): CommitReceipt | undefined {
    return this.#receipts.get(`${actor} ${clientTxId}`)?.item as CommitReceipt | undefined;
  }

  bulk(text: string, actor: string): { object: "list"; data: BulkItem[] } {
    const { commits } = JSON.parse(text) as { commits: Commit[] };
    const failed = new Map<string, number>();
    const data = commits.map((commit, index): BulkItem => {
      const keys = commit.operations.map(recordKey);
      const blocker = keys.map((key) => failed.get(key)).find((at) => at !== undefined);
      const item =
        blocker === undefined ? this.commit(commit, actor) : { ...refusal("dependency_blocked"), blockedBy: blocker };
      if (item.status !== "confirmed") for (const key of keys) if (!failed.has(key)) failed.set(key, index);
      return item;
    });
    return { object: "list", data };
  }

  commit(commit: Commit, actor: string): BulkItem {
    const body = JSON.stringify(commit);
    const name = `${actor} ${commit.clientTxId}`;
    const known = this.#receipts.get(name);
    if (known) return known.body === body ? known.item : refusal("idempotency_conflict");
    const item = this.#decide(commit, actor);
    if (item.httpStatus === 200) this.#receipts.set(name, { body, item });
    return item;
  }

  readLog(
    after: number,
    limit = 1_000,
  ): { from: number; to: number; entries: LogEntry[]; stamp: number; logId: string } {
    const entries = this.log.slice(after, after + limit);
    return { from: after, to: after + entries.length, entries, stamp: this.head, logId: this.logId };
  }

  snapshot(): { logId: string; stamp: number; lines: SnapshotLine[] } {
    const lines = [...this.rows.values()].map(
      ({ model, id, syncId, archivedAt, data }): SnapshotLine => ({
        model,
        id,
        syncId,
        ...(archivedAt && { archivedAt }),
        data,
      }),
    );
    return { logId: this.logId, stamp: this.head, lines };
  }

  /** A page of a snapshot, as of the head before its first one. */
  snapshotPage(
    cursor: string | null,
    limit = Number.POSITIVE_INFINITY,
  ): ReturnType<ModelServer["snapshot"]> & { cursor: string | null } {
    const all = this.snapshot();
    const [stamp = all.stamp, after = ""] = (cursor === null ? [] : JSON.parse(cursor)) as [number?, string?];
    const rest = all.lines
      .filter((line) => recordKey(line) > after)
      .sort((a, b) => (recordKey(a) < recordKey(b) ? -1 : 1));
    const lines = rest.slice(0, limit);
    const [last] = lines.slice(-1);
    return {
      ...all,
      stamp,
      lines,
      cursor: rest.length > lines.length && last ? JSON.stringify([stamp, recordKey(last)]) : null,
    };
  }

  /** As a backup would: everything after `position` never happened, and the log goes on under another name. */
  restoreTo(position: number, logId: string): void {
    const kept = this.log.slice(0, position);
    const receipts = [...this.#receipts].filter(([, { item }]) => Number(item.lastSyncId) <= position);
    this.log.length = 0;
    this.rows.clear();
    this.#receipts.clear();
    for (const entry of kept) this.#append(entry);
    for (const [name, receipt] of receipts) this.#receipts.set(name, receipt);
    this.logId = logId;
    this.wasRestored = true;
  }

  #decide(commit: Commit, actor: string): BulkItem {
    for (const operation of commit.operations) {
      if ((operation.readAt ?? 0) > this.head) return refusal("read_at_in_future");
      const code = this.#refusals.map((refuses) => refuses(operation)).find((c) => c !== undefined);
      if (code) return refusal(code);
      const against = this.#claimAgainst(operation, actor);
      if (against) return { ...against, param: `operations[${commit.operations.indexOf(operation)}]` };
      if (operation.action === "create" && this.#stands(operation)) return refusal("already_exists");
    }
    const stale = commit.operations
      .map((o) => this.#staleness(o, commit.clientId, actor))
      .filter((n) => n !== undefined);
    if (stale.length > 0)
      return commit.operations.some((o) => o.onStale === "reject" && this.#staleness(o, commit.clientId, actor))
        ? refusal("stale_context")
        : this.#receipt(commit, { notifications: stale });
    const missingIds: string[] = [];
    const entries: LogEntry[] = [];
    const pending = new Map<string, ServerRow | undefined>();
    for (const operation of commit.operations) {
      const key = recordKey(operation);
      const before = pending.has(key) ? pending.get(key) : this.rows.get(key);
      if (!before && operation.action !== "create") missingIds.push(operation.id);
      else if (!isNoOp(operation, before)) {
        const entry = this.#entry(operation, before, commit, actor, this.head + entries.length + 1);
        entries.push(entry);
        pending.set(key, entry.data === null ? undefined : rowOf(entry, before));
      }
    }
    for (const entry of entries) this.#append(entry);
    if (entries.length > 0) for (const listener of this.#listeners) listener();
    return this.#receipt(commit, { missingIds });
  }

  #claimAgainst(o: Operation, actor: string): BulkItem | undefined {
    const fields = o.action === "update" ? Object.keys(o.data ?? {}) : undefined;
    const against = this.claims.judge(actor, { model: o.model, id: o.id, fields, claim: o.claim });
    return against && { httpStatus: against.status, ...(against.body as object) };
  }

  /** A create that says what stands there already is no refusal: it is the same create once more. */
  #stands(operation: Operation): boolean {
    const row = this.rows.get(recordKey(operation));
    return row !== undefined && !isNoOp(operation, row);
  }

  #staleness(o: Operation, clientId: string | undefined, actor: string): StaleNotification | undefined {
    if (o.readAt === undefined || o.onStale === "overwrite" || o.action === "create") return undefined;
    const { readAt } = o;
    const row = this.rows.get(recordKey(o));
    if (!row && o.action === "delete") return undefined;
    const written = new Set(Object.keys(o.data ?? {}));
    const fields = new Set<string>();
    let newest: LogEntry | undefined;
    for (const entry of this.log.slice(readAt)) {
      if (recordKey(entry) !== recordKey(o) || (entry.actor === actor && entry.clientId === clientId)) continue;
      const whole = o.action !== "update" || entry.changedFields === null;
      const hit = whole
        ? o.action === "update"
          ? [...written]
          : Object.keys(row?.data ?? {})
        : (entry.changedFields ?? []).filter((f) => written.has(f));
      const differing = hit.filter(
        (f) => !row || o.action !== "update" || !jsonEqual(row.data[f], (o.data as JsonObject)[f]),
      );
      if (differing.length === 0) continue;
      newest = entry;
      for (const field of differing) fields.add(field);
    }
    if (!newest) return undefined;
    return {
      object: "stale_notification",
      model: o.model,
      id: o.id,
      writtenBy: `user:${newest.actor}`,
      readAt,
      observedSyncId: newest.syncId,
      conflictingFields: [...fields],
      currentValues: row ? Object.fromEntries([...fields].map((f) => [f, row.data[f]])) : {},
    };
  }

  #receipt(commit: Commit, more: { notifications?: StaleNotification[]; missingIds?: string[] }): BulkItem {
    const held = more.notifications !== undefined;
    const receipt: CommitReceipt = {
      object: "commit_receipt",
      clientTxId: commit.clientTxId ?? "",
      serverTxId: `stx_${this.#receipts.size + 1}`,
      success: !held,
      status: held ? "rejected" : "confirmed",
      lastSyncId: this.head,
      logId: this.logId,
      ops: commit.operations.length,
      ...(more.missingIds?.length && { missingIds: more.missingIds }),
      ...(held && {
        notifications: more.notifications,
        error: { code: "stale_context", message: errorSentences.stale_context },
      }),
    };
    return { httpStatus: 200, ...receipt };
  }

  #entry(o: Operation, before: Row | undefined, commit: Commit, actor: string, syncId: number): LogEntry {
    const createdAt = new Date(Date.UTC(2030, 0, 1) + syncId).toISOString();
    const model = this.#schema.models[o.model] ?? this.#schema.models[tableOf(o.model)];
    const after = applyOperation(before, { action: o.action, id: o.id, data: o.data as JsonObject }, model, createdAt);
    return {
      object: "log_entry",
      syncId,
      model: o.model,
      id: o.id,
      verb: VERB[o.action],
      data: o.action === "delete" ? null : (after?.data ?? null),
      changedFields: o.action === "update" ? changedFields(o, before) : null,
      clientTxId: commit.clientTxId ?? "",
      clientId: commit.clientId ?? null,
      transactionId: null,
      actor,
      participantKind: "user",
      claim: null,
      createdAt,
    };
  }

  #append(entry: LogEntry): void {
    const key = recordKey(entry);
    this.log.push(entry);
    const row = rowOf(entry, this.rows.get(key));
    if (row) this.rows.set(key, { ...row, model: entry.model, id: entry.id });
    else this.rows.delete(key);
  }
}

function rowOf(entry: LogEntry, before: Row | undefined): ServerRow | undefined {
  if (entry.data === null) return undefined;
  const archived =
    entry.verb === "archived" ? entry.createdAt : entry.verb === "updated" ? (before?.archivedAt ?? null) : null;
  return { data: entry.data as JsonObject, archivedAt: archived, syncId: entry.syncId };
}

const changedFields = (o: Operation, before: Row | undefined): string[] =>
  Object.entries(o.data ?? {})
    .filter(([f, value]) => !jsonEqual(before?.data[f], value as Json))
    .map(([f]) => f);

function isNoOp(o: Operation, before: Row | undefined): boolean {
  switch (o.action) {
    case "create":
      return (
        before !== undefined && Object.entries(o.data ?? {}).every(([f, v]) => jsonEqual(before.data[f], v as Json))
      );
    case "update":
      return changedFields(o, before).length === 0;
    case "archive":
      return before?.archivedAt !== null;
    case "unarchive":
      return before?.archivedAt === null;
    case "delete":
      return before === undefined;
  }
}

function refusal(code: ErrorCode): BulkItem {
  const { type, status } = errorCodes[code];
  const says = errorSentences[code];
  return { httpStatus: status, type, code, message: says };
}
