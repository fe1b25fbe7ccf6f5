import {
  type Action,
  type FieldChanges,
  type Json,
  type JsonObject,
  jsonEqual,
  type OnStale,
  ownValue,
  type StaleNotification,
  type Verb,
} from "@holdfast/sdk/protocol";

/** One log entry about a record, as far as judging staleness needs it. */
export interface PastEntry {
  readonly syncId: number;
  readonly verb: Verb;
  readonly changedFields: readonly string[] | null;
  /** `<kind>:<participant>` */
  readonly writtenBy: string;
  readonly clientId: string | null;
}

/**
 * The author of a write. Entries by the same participant with the same non-empty `clientId` do not count as changes by
 * others.
 */
export interface Writer {
  readonly writtenBy: string;
  readonly clientId: string | null;
}

export const isOwn = (writer: Writer, entry: Writer): boolean =>
  writer.clientId !== null && writer.clientId === entry.clientId && writer.writtenBy === entry.writtenBy;

/** What happens to a write, or a commit with a premise, that is stale. One that does not say it is refused. */
export const policyOf = ({ onStale = "reject" }: { readonly onStale?: OnStale }): OnStale => onStale;

/** Whether a record has an entry after a position; one that is not there may have had one. */
export const hasMoved = (record: { readonly syncId: number } | null | undefined, readAt: number): boolean =>
  !record || record.syncId > readAt;

/** Whether a write or a premise on a record has to be judged. Positions suffice if the record has not moved. */
export const mayBeStale = (
  write: { readonly readAt?: number | undefined; readonly onStale?: OnStale },
  record: { readonly syncId: number },
): boolean => write.readAt !== undefined && policyOf(write) !== "overwrite" && hasMoved(record, write.readAt);

/** A conflict: the fields of a StaleNotification that come from the log. */
export type StaleConflict = Pick<StaleNotification, "writtenBy" | "observedSyncId" | "conflictingFields"> &
  Required<Pick<StaleNotification, "currentValues">>;

export interface StaleQuestion {
  readonly action: Action;
  readonly data: JsonObject | undefined;
  /** They fit whatever is there, so they count only if nothing is. */
  readonly changes?: FieldChanges | undefined;
  readonly conflict: "field" | "record";
  /** The current row; undefined if there is none. */
  readonly row: JsonObject | undefined;
  /** Entries about this record after `readAt`, by others only, oldest first. */
  readonly newer: readonly PastEntry[];
}

/** Whether this write would overwrite changes that its author has not seen. */
export function judgeStale({ action, data, changes, conflict, row, newer }: StaleQuestion): StaleConflict | undefined {
  const newest = newer.at(-1);
  if (!newest) return undefined;
  if (action === "delete" && row === undefined) return undefined;
  const by = { writtenBy: newest.writtenBy, observedSyncId: newest.syncId };
  const moved = changedFields(newer);
  if (action !== "update" && action !== "create")
    return { ...by, conflictingFields: [...(moved ?? Object.keys(row ?? {}))], currentValues: { ...row } };
  const written = Object.keys(data ?? {}).filter((name) => name !== "id");
  if (row === undefined)
    return { ...by, conflictingFields: [...written, ...Object.keys(changes ?? {})], currentValues: {} };
  const differing = written.filter((name) => !jsonEqual(ownValue(row, name), ownValue(data, name)));
  if (differing.length === 0) return undefined;
  const colliding =
    conflict === "record" || moved === undefined ? differing : differing.filter((name) => moved.has(name));
  if (colliding.length === 0) return undefined;
  const culprit =
    (conflict === "record" || moved === undefined
      ? undefined
      : newer.filter((entry) => entry.changedFields?.some((name) => colliding.includes(name))).at(-1)) ?? newest;
  return {
    writtenBy: culprit.writtenBy,
    observedSyncId: culprit.syncId,
    conflictingFields: colliding,
    currentValues: pick(row, colliding),
  };
}

/** Judges a premise on a row. With `fields`, only changes of these count; without, any newer entry does. */
export function judgePremise(
  fields: readonly string[] | undefined,
  row: JsonObject | undefined,
  newer: readonly PastEntry[],
): StaleConflict | undefined {
  const relevant =
    fields === undefined
      ? newer
      : newer.filter(
          (entry) => entry.changedFields === null || entry.changedFields.some((name) => fields.includes(name)),
        );
  const newest = relevant.at(-1);
  if (!newest) return undefined;
  const moved = changedFields(relevant);
  const conflictingFields =
    fields === undefined
      ? [...(moved ?? Object.keys(row ?? {}))]
      : fields.filter((name) => moved === undefined || moved.has(name));
  return {
    writtenBy: newest.writtenBy,
    observedSyncId: newest.syncId,
    conflictingFields,
    currentValues: row ? pick(row, conflictingFields) : {},
  };
}

/** The fields that updates changed. Undefined if an entry concerns the whole record. */
function changedFields(entries: readonly PastEntry[]): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  for (const entry of entries) {
    if (entry.changedFields === null) return undefined;
    for (const name of entry.changedFields) fields.add(name);
  }
  return fields;
}

const pick = (row: JsonObject, names: readonly string[]): Record<string, Json> =>
  Object.fromEntries(names.map((name) => [name, ownValue(row, name) ?? null]));
