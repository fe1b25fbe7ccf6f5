import { recordKey, tableOf } from "../core/log/tables.ts";
import { applyOperation, type Row } from "../protocol/commits/apply.ts";
import type { CommitBody, CommitReceipt } from "../protocol/commits/commit.ts";
import type { Action, Operation } from "../protocol/commits/operation.ts";
import type { StaleNotification } from "../protocol/commits/stale.ts";
import { type ErrorCode, errorCodes } from "../protocol/errors/error-codes.ts";
import { errorSentences } from "../protocol/errors/error-sentences.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import { jsonEqual } from "../protocol/json-equal.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import type { SnapshotLine } from "../protocol/log/snapshot.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
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
  /** Counted up by a test that changes `rows` without an entry. */
  rowsVersion = 0;
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
    this.claims = new ModelClaims(now, () => this.head);
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
    const { logId: _, ...rest } = commit;
    const body = JSON.stringify(rest);
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
  ): { from: number; to: number; entries: LogEntry[]; stamp: number; logId: string; rowsVersion: number } {
    const entries = this.log.slice(after, after + limit);
    const { head: stamp, logId, rowsVersion } = this;
    return { from: after, to: after + entries.length, entries, stamp, logId, rowsVersion };
  }

  snapshot(): { logId: string; rowsVersion: number; stamp: number; lines: SnapshotLine[] } {
    const lines = [...this.rows.values()].map(
      ({ model, id, syncId, archivedAt, data }): SnapshotLine => ({
        model,
        id,
        syncId,
        ...(archivedAt && { archivedAt }),
        data,
      }),
    );
    return { logId: this.logId, rowsVersion: this.rowsVersion, stamp: this.head, lines };
  }

  /** A page of a snapshot, as of the head before its first one. */
  snapshotPage(
    cursor: string | null,
    limit = Number.POSITIVE_INFINITY,
  ): ReturnType<ModelServer["snapshot"]> & { cursor: string | null } {
    const all = this.snapshot();
    const [stamp = all.stamp, after = ""] = (cursor === null ? [] : JSON.parse(cursor)) as [number?, string?];
    const rest = all.lines
      .filter((connection) => recordKey(connection) > after)
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
    // Each question is asked of every operation before the next one.
    for (const operation of commit.operations) {
      const code = this.#refusals.map((refuses) => refuses(operation)).find((c) => c !== undefined);
      if (code) return refusal(code);
      const against = this.#claimAgainst(operation, actor);
      if (against) return { ...against, param: `operations[${commit.operations.indexOf(operation)}]` };
    }
    if (commit.logId !== undefined && commit.logId !== this.logId) return refusal("other_log");
    if (commit.operations.some(({ readAt = 0 }) => readAt > this.head)) return refusal("read_at_in_future");
    if (commit.operations.some((o) => o.action === "create" && this.#isRefusedCreate(o, actor)))
      return refusal("already_exists");
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
    // One that only repeats creates is confirmed where they are.
    const createdAt = commit.operations
      .filter((o) => o.action === "create")
      .map((o) => this.rows.get(recordKey(o))?.syncId ?? 0)
      .at(-1);
    const lastSyncId = entries.length === 0 ? createdAt : undefined;
    return this.#receipt(commit, { missingIds, lastSyncId });
  }

  #claimAgainst(o: Operation, actor: string): BulkItem | undefined {
    const fields = o.action === "update" ? Object.keys(o.data ?? {}) : undefined;
    const against = this.claims.judge(actor, { model: o.model, id: o.id, fields, claim: o.claim });
    return against && { httpStatus: against.status, ...(against.body as object) };
  }

  /** A create that says what the same participant created there, untouched since, is no refusal: it is the same create once more. */
  #isRefusedCreate(operation: Operation, actor: string): boolean {
    const row = this.rows.get(recordKey(operation));
    if (!row) return false;
    const entry = this.log[row.syncId - 1];
    const wanted = this.#after(undefined, operation, "");
    return entry?.verb !== "created" || entry.actor !== actor || !jsonEqual(row.data, wanted?.data);
  }

  #after(before: Row | undefined, { model: name, action, id, data }: Operation, at: string): Row | undefined {
    const model = this.#schema.models[name] ?? this.#schema.models[tableOf(name)];
    return applyOperation(before, { action, id, data: data as JsonObject }, model, at);
  }

  #staleness(o: Operation, clientId: string | undefined, actor: string): StaleNotification | undefined {
    if (o.readAt === undefined || o.onStale === "overwrite") return undefined;
    const { readAt } = o;
    const row = this.rows.get(recordKey(o));
    // That it is there is a question of its own; that it was there, and others deleted it, is news.
    if (row && o.action === "create") return undefined;
    const newer = this.log
      .slice(readAt)
      .filter((e) => recordKey(e) === recordKey(o) && !(e.actor === actor && e.clientId === clientId));
    const newest = newer.at(-1);
    if (!newest || (!row && o.action === "delete")) return undefined;
    const moved = movedFields(newer);
    const notification = (by: LogEntry, fields: readonly string[], values: JsonObject): StaleNotification => ({
      object: "stale_notification",
      model: o.model,
      id: o.id,
      writtenBy: `user:${by.actor}`,
      readAt,
      observedSyncId: by.syncId,
      conflictingFields: [...fields],
      currentValues: values,
    });
    if (o.action !== "update" && o.action !== "create")
      return notification(newest, moved ?? Object.keys(row?.data ?? {}), row?.data ?? {});
    const written = Object.keys(o.data ?? {}).filter((f) => f !== "id");
    if (!row) return notification(newest, written, {});
    const fields = written.filter(
      (f) => !jsonEqual(row.data[f], (o.data as JsonObject)[f]) && (!moved || moved.includes(f)),
    );
    if (fields.length === 0) return undefined;
    const culprit = moved && newer.findLast((e) => e.changedFields?.some((f) => fields.includes(f)));
    return notification(culprit ?? newest, fields, Object.fromEntries(fields.map((f) => [f, row.data[f] ?? null])));
  }

  #receipt(
    commit: Commit,
    more: { notifications?: StaleNotification[]; missingIds?: string[]; lastSyncId?: number | undefined },
  ): BulkItem {
    const held = more.notifications !== undefined;
    const receipt: CommitReceipt = {
      object: "commit_receipt",
      clientTxId: commit.clientTxId ?? "",
      serverTxId: `stx_${this.#receipts.size + 1}`,
      success: !held,
      status: held ? "rejected" : "confirmed",
      lastSyncId: more.lastSyncId ?? this.head,
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
    const after = this.#after(before, o, createdAt);
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

/** The fields that updates touched; undefined when an entry concerned the whole record. */
function movedFields(entries: readonly LogEntry[]): readonly string[] | undefined {
  const touched = entries.map((e) => e.changedFields);
  return touched.includes(null) ? undefined : [...new Set(touched.flatMap((fields) => fields ?? []))];
}

const changedFields = (o: Operation, before: Row | undefined): string[] =>
  Object.entries(o.data ?? {})
    .filter(([f, value]) => !jsonEqual(before?.data[f], value as Json))
    .map(([f]) => f);

function isNoOp(o: Operation, before: Row | undefined): boolean {
  switch (o.action) {
    case "create":
      return before !== undefined;
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
