import { recordKey, tableOf } from "../core/log/tables.ts";
import type { Action } from "../protocol/commits/action.ts";
import { applyOperation, type Row } from "../protocol/commits/apply.ts";
import { attributionOf } from "../protocol/commits/attribution-of.ts";
import type { CommitBody, CommitReceipt } from "../protocol/commits/commit.ts";
import { writtenFields } from "../protocol/commits/field-change.ts";
import type { Operation } from "../protocol/commits/operation.ts";
import { operationParam } from "../protocol/commits/operation-param.ts";
import type { StaleNotification } from "../protocol/commits/stale.ts";
import { type ErrorCode, errorCodes } from "../protocol/errors/error-codes.ts";
import { errorSentences } from "../protocol/errors/error-sentences.ts";
import type { JsonObject } from "../protocol/json.ts";
import { jsonEqual } from "../protocol/json-equal.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import type { SnapshotLine } from "../protocol/log/snapshot.ts";
import { ownValue } from "../protocol/own-value.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { ModelClaims } from "./model-claims.ts";
import { ModelRooms } from "./model-rooms.ts";
import { type LeftRows, ModelValues } from "./model-values.ts";

/** One item of a bulk's answer. */
export type BulkItem = { httpStatus: number } & Record<string, unknown>;

/** As the SDK sends them: with every id. */
type Commit = Omit<CommitBody, "operations"> & { readonly operations: readonly Operation[] };

interface ServerRow extends Row {
  readonly syncId: number;
  /** The entry that created it, and the last one. */
  readonly made: LogEntry;
  readonly last: LogEntry;
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
  readonly #now: () => number;
  readonly #receipts = new Map<string, { body: string; item: BulkItem; at: number }>();
  readonly #listeners = new Set<() => void>();
  readonly #refusals: ((operation: Operation) => ErrorCode | undefined)[] = [];

  readonly #values: ModelValues;
  readonly claims: ModelClaims;
  readonly rooms = new ModelRooms();

  constructor(schema: ModelSchema, now: () => number = () => 0) {
    this.#schema = schema;
    this.#now = now;
    this.#values = new ModelValues(schema);
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

  /** Forgets the receipts that are at least this old, so that their commits would be made again. */
  forgetReceipts(ageMs: number): void {
    for (const [name, { at }] of this.#receipts) if (this.#now() - at >= ageMs) this.#receipts.delete(name);
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
    if (item.httpStatus === 200) this.#receipts.set(name, { body, item, at: this.#now() });
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
      ({ model, id, syncId, archivedAt, data, made, last }): SnapshotLine => ({
        model,
        id,
        syncId,
        ...(archivedAt && { archivedAt }),
        ...{ createdAt: made.createdAt, createdBy: writerOf(made) },
        ...(last !== made && { updatedAt: last.createdAt, updatedBy: writerOf(last) }),
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

  /** Erases a record as a secret key does: its entries lose their values, and the log says so. */
  erase(model: string, id: string): void {
    const key = recordKey({ model, id });
    const last = this.log.findLast((entry) => recordKey(entry) === key);
    if (!last) return;
    for (const [at, entry] of this.log.entries())
      if (recordKey(entry) === key) this.log[at] = { ...entry, data: null, erased: true };
    const { record: _, archivedAt: __, ...rest } = last;
    const made = { clientTxId: `erase-${this.head}`, clientId: null, actor: "key", changedFields: null } as const;
    this.#append({ ...rest, ...made, verb: "erased", data: null, syncId: this.head + 1 });
    for (const listener of this.#listeners) listener();
  }

  #decide(commit: Commit, actor: string): BulkItem {
    // Each question is asked of every operation before the next one.
    for (const operation of commit.operations) {
      const code = this.#refusals.map((refuses) => refuses(operation)).find((c) => c !== undefined);
      if (code) return refusal(code);
      const against = this.#claimAgainst(operation, actor);
      if (against) return { ...against, param: operationParam(commit.operations.indexOf(operation)) };
    }
    if (commit.logId !== undefined && commit.logId !== this.logId) return refusal("other_log");
    if (commit.operations.some(({ readAt = 0 }) => readAt > this.head)) return refusal("read_at_in_future");
    if (commit.operations.some((o, at) => this.#isRefusedCreate(o, actor, commit.operations.slice(0, at))))
      return refusal("already_exists");
    const written = new Set<string>();
    const stale = commit.operations.flatMap((o) => {
      const key = recordKey(o);
      // What the commit itself has written to a record before is no news.
      const found = written.has(key) ? undefined : this.#staleness(o, commit.clientId, actor);
      const before = this.rows.get(key);
      if (!isNoOp(o, before, this.#after(before, o, actor)) && (before || o.action === "create")) written.add(key);
      return found ? [{ found, onStale: o.onStale }] : [];
    });
    if (stale.length > 0)
      return stale.some(({ onStale }) => onStale === "reject")
        ? refusal("stale_context")
        : this.#receipt(commit, { notifications: stale.map(({ found }) => found) });
    const missingIds: string[] = [];
    const entries: LogEntry[] = [];
    const pending = new Map<string, ServerRow | undefined>();
    for (const operation of commit.operations) {
      const key = recordKey(operation);
      const before = pending.has(key) ? pending.get(key) : this.rows.get(key);
      if (!before && operation.action !== "create")
        missingIds.push(...(missingIds.includes(operation.id) ? [] : [operation.id]));
      else if (!isNoOp(operation, before, this.#after(before, operation, actor))) {
        const entry = this.#entry(operation, before, commit, actor, this.head + entries.length + 1);
        entries.push(entry);
        pending.set(key, entry.data === null ? undefined : rowOf(entry, before));
      }
    }
    const code = this.#follow(commit, actor, entries, pending);
    if (code) return refusal(code);
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

  /** Adds what becomes of the records that reference deleted ones. Returns why the commit cannot be. */
  #follow(
    commit: Commit,
    actor: string,
    entries: LogEntry[],
    pending: Map<string, ServerRow | undefined>,
  ): ErrorCode | undefined {
    // Otherwise each commit would copy all records.
    if (!this.#values.areDeclared) return undefined;
    const own = entries.length;
    const followed = new Set<string>();
    for (;;) {
      const rows = this.#rowsWith(entries, pending);
      const gone = entries.filter((entry) => {
        const key = recordKey(entry);
        return !followed.has(key) && this.rows.has(key) && !rows.has(key);
      });
      if (gone.length === 0) return this.#values.refusalOf(this.rows, rows, entries, entries.length - own);
      for (const entry of gone) followed.add(recordKey(entry));
      for (const operation of this.#values.dependentsOf(this.rows, rows, gone)) {
        if (this.#claimAgainst(operation, actor)) return "claim_conflict";
        const key = recordKey(operation);
        const before = pending.has(key) ? pending.get(key) : this.rows.get(key);
        const entry = this.#entry(operation, before, commit, actor, this.head + entries.length + 1);
        entries.push(entry);
        pending.set(key, rowOf(entry, before));
      }
    }
  }

  #rowsWith(entries: readonly LogEntry[], pending: ReadonlyMap<string, ServerRow | undefined>): LeftRows {
    const rows = new Map<string, ServerRow & { model: string; id: string }>(this.rows);
    for (const { model, id } of entries) {
      const row = pending.get(recordKey({ model, id }));
      if (row) rows.set(recordKey({ model, id }), { ...row, model, id });
      else rows.delete(recordKey({ model, id }));
    }
    return rows;
  }

  #claimAgainst(o: Operation, actor: string): BulkItem | undefined {
    const fields = o.action === "update" ? writtenFields(o) : undefined;
    const against = this.claims.judge(actor, { model: o.model, id: o.id, fields, claim: o.claim });
    return against && { httpStatus: against.status, ...(against.body as object) };
  }

  /** A create that says what the same participant created there, untouched since, is no refusal: it is the same create once more. */
  #isRefusedCreate(operation: Operation, actor: string, before: readonly Operation[]): boolean {
    if (operation.action !== "create") return false;
    const key = recordKey(operation);
    const last = before.findLast((o) => recordKey(o) === key && (o.action === "create" || o.action === "delete"));
    if (last) return last.action === "create";
    const row = this.rows.get(key);
    if (!row) return false;
    const entry = this.log[row.syncId - 1];
    const wanted = this.#after(undefined, operation, actor, entry?.createdAt);
    return entry?.verb !== "created" || entry.actor !== actor || !jsonEqual(row.data, wanted?.data);
  }

  #after(
    before: Row | undefined,
    { model: name, action, id, data, changes }: Operation,
    actor: string,
    now = "",
  ): Row | undefined {
    const model = ownValue(this.#schema.models, name) ?? ownValue(this.#schema.models, tableOf(name));
    return applyOperation(before, { action, id, data: data as JsonObject, changes }, model, {
      now,
      by: `user:${actor}`,
    });
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
    if (!row) return notification(newest, [...written, ...Object.keys(o.changes ?? {})], {});
    const fields = written.filter(
      (f) => !jsonEqual(ownValue(row.data, f), ownValue(o.data as JsonObject, f)) && (!moved || moved.includes(f)),
    );
    if (fields.length === 0) return undefined;
    const culprit = moved && newer.findLast((e) => e.changedFields?.some((f) => fields.includes(f)));
    return notification(
      culprit ?? newest,
      fields,
      Object.fromEntries(fields.map((f) => [f, ownValue(row.data, f) ?? null])),
    );
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

  #entry(o: Operation, before: ServerRow | undefined, commit: Commit, actor: string, syncId: number): LogEntry {
    const createdAt = new Date(Date.UTC(2030, 0, 1) + syncId).toISOString();
    const after = this.#after(before, o, actor, createdAt);
    return {
      object: "log_entry",
      syncId,
      model: o.model,
      id: o.id,
      verb: VERB[o.action],
      data: o.action === "delete" ? null : (after?.data ?? null),
      changedFields: o.action === "update" ? changedFields(before, after) : null,
      clientTxId: commit.clientTxId ?? "",
      clientId: commit.clientId ?? null,
      transactionId: null,
      actor,
      participantKind: "user",
      claim: null,
      createdAt,
      ...attributionOf(commit),
      ...(o.action === "update" && after?.archivedAt && { archivedAt: after.archivedAt }),
      ...(before &&
        o.action !== "delete" && { record: { createdAt: before.made.createdAt, createdBy: writerOf(before.made) } }),
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

const writerOf = ({ participantKind, actor }: LogEntry): string => `${participantKind}:${actor}`;

function rowOf(entry: LogEntry, before: ServerRow | undefined): ServerRow | undefined {
  if (entry.data === null) return undefined;
  const archived =
    entry.verb === "archived" ? entry.createdAt : entry.verb === "updated" ? (before?.archivedAt ?? null) : null;
  const made = before?.made ?? entry;
  return { data: entry.data as JsonObject, archivedAt: archived, syncId: entry.syncId, made, last: entry };
}

/** The fields that updates touched; undefined when an entry concerned the whole record. */
function movedFields(entries: readonly LogEntry[]): readonly string[] | undefined {
  const touched = entries.map((e) => e.changedFields);
  return touched.includes(null) ? undefined : [...new Set(touched.flatMap((fields) => fields ?? []))];
}

const changedFields = (before: Row | undefined, after: Row | undefined): string[] =>
  Object.keys(after?.data ?? {}).filter(
    (field) => !jsonEqual(ownValue(before?.data, field), ownValue(after?.data, field)),
  );

function isNoOp({ action }: Operation, before: Row | undefined, after: Row | undefined): boolean {
  switch (action) {
    case "create":
      return before !== undefined;
    case "update":
      return changedFields(before, after).length === 0;
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
