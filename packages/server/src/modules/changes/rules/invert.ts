import { type Json, type JsonObject, jsonEqual, ownValue, type Verb } from "@holdfast/sdk/protocol";

/** An entry of a record's history. */
export interface PastChange {
  readonly verb: Verb;
  /** The row after it. Null: there is none, or its values were erased. */
  readonly data: JsonObject | null;
  readonly changedFields: readonly string[] | null;
  readonly isArchived: boolean;
  /** It is to be taken back. */
  readonly selected: boolean;
}

/** A record from the first change on that is to be taken back. */
export interface RecordPast {
  /** The change before. Undefined: there is none, or the log does not have it. */
  readonly prior: Omit<PastChange, "selected"> | undefined;
  /** The first one is to be taken back. */
  readonly changes: readonly PastChange[];
}

/** An operation on the record. */
export interface Inverse {
  readonly action: "create" | "update" | "delete" | "archive" | "unarchive";
  readonly data?: JsonObject;
}

export interface Kept {
  readonly why: "changed" | "unknown" | "erased";
  readonly fields?: Readonly<Record<string, { readonly before: Json; readonly set: Json; readonly now: Json }>>;
}

export interface Inverted {
  /** In this order; empty: nothing has to change. */
  readonly operations: readonly Inverse[];
  /** What it does not take back. */
  readonly kept: Kept | undefined;
}

export interface InvertOptions {
  /** What becomes of a record that was created. */
  readonly created: "delete" | "archive";
  /** Takes back what others have changed since. */
  readonly overwrite: boolean;
}

/** The row at some time. */
interface State {
  readonly data: JsonObject;
  readonly isArchived: boolean;
}

/**
 * Takes changes of a record back. If no one else has written since the first of them, the record becomes as it was before. Else
 * each field becomes what it was before they set it, unless others have set it since.
 */
export function invert({ prior, changes }: RecordPast, options: InvertOptions): Inverted {
  const [first] = changes;
  const last = changes.at(-1);
  if (!first || !last) return NOTHING;
  if (!prior && first.verb !== "created") return keep({ why: "unknown" });
  if ([prior, ...changes].some((one) => one && isErased(one))) return keep({ why: "erased" });
  const before = prior && stateOf(prior);
  const now = stateOf(last);
  if (changes.every(({ selected }) => selected)) return { operations: toward(now, before, options), kept: undefined };
  if (!before) return now ? ofCreated(now, options) : NOTHING;
  const end = now ? changes.length : endOfDeleted(changes);
  const base = now ?? (end === undefined ? undefined : stateOf(changes[end - 1] ?? { ...first, ...prior }));
  if (!base || end === undefined) return NOTHING;
  return byField(before, base, now, changes.slice(0, end), options);
}

const NOTHING: Inverted = { operations: [], kept: undefined };
const keep = (kept: Kept): Inverted => ({ operations: [], kept });

const isErased = ({ verb, data }: Pick<PastChange, "verb" | "data">): boolean =>
  verb === "erased" || (data === null && verb !== "deleted");

const stateOf = ({ data, isArchived }: Pick<PastChange, "data" | "isArchived">): State | undefined =>
  data === null ? undefined : { data, isArchived };

/** Others have written to a record that was created. */
function ofCreated(now: State, options: InvertOptions): Inverted {
  return options.overwrite
    ? { operations: toward(now, undefined, options), kept: undefined }
    : keep({ why: "changed", fields: {} });
}

/** How many of the changes were before the record's deletion, if that is to be taken back. */
function endOfDeleted(changes: readonly PastChange[]): number | undefined {
  const deletion = lastIndexOf(changes, ({ verb }) => verb === "deleted");
  return changes[deletion]?.selected ? deletion : undefined;
}

function byField(
  before: State,
  base: State,
  now: State | undefined,
  changes: readonly PastChange[],
  options: InvertOptions,
): Inverted {
  const target: Record<string, Json> = { ...base.data };
  const fields: Record<string, { before: Json; set: Json; now: Json }> = {};
  const touched = new Set(changes.flatMap((one) => (one.selected ? fieldsOf(one) : [])));
  for (const field of touched) {
    const setters = changes.filter((one) => fieldsOf(one).includes(field));
    const ours = lastIndexOf(setters, ({ selected }) => selected);
    const others = lastIndexOf(setters.slice(0, ours), ({ selected }) => !selected);
    const was = valueIn(others < 0 ? before.data : setters[others]?.data, field);
    const isLast = ours === setters.length - 1;
    if (isLast || options.overwrite) target[field] = was;
    else if (!jsonEqual(valueIn(base.data, field), was))
      fields[field] = { before: was, set: valueIn(setters[ours]?.data, field), now: valueIn(base.data, field) };
  }
  const isArchived = archivedBefore(before, base, changes);
  const kept = Object.keys(fields).length > 0 ? { why: "changed" as const, fields } : undefined;
  return { operations: toward(now, { data: target, isArchived }, options), kept };
}

/** Whether it was archived before they said so; as it is, if others did. */
function archivedBefore(before: State, base: State, changes: readonly PastChange[]): boolean {
  const setters = changes.filter(({ verb }) => verb === "archived" || verb === "unarchived");
  if (!setters.at(-1)?.selected) return base.isArchived;
  return setters[lastIndexOf(setters, ({ selected }) => !selected)]?.isArchived ?? before.isArchived;
}

const lastIndexOf = (changes: readonly PastChange[], holds: (change: PastChange) => boolean): number =>
  changes.map(holds).lastIndexOf(true);

const fieldsOf = ({ verb, data, changedFields }: PastChange): readonly string[] =>
  verb === "created" ? Object.keys(data ?? {}).filter((field) => field !== "id") : (changedFields ?? []);

const valueIn = (data: JsonObject | null | undefined, field: string): Json => (data && ownValue(data, field)) ?? null;

/** The operations that make one state of the other. */
function toward(now: State | undefined, target: State | undefined, { created }: InvertOptions): readonly Inverse[] {
  if (!target) {
    if (!now || (created === "archive" && now.isArchived)) return [];
    return [{ action: created }];
  }
  if (!now) {
    const { id: _, ...data } = target.data;
    return [{ action: "create", data }, ...(target.isArchived ? [{ action: "archive" as const }] : [])];
  }
  const data = Object.fromEntries(
    [...new Set([...Object.keys(target.data), ...Object.keys(now.data)])]
      .filter((field) => field !== "id" && !jsonEqual(valueIn(now.data, field), valueIn(target.data, field)))
      .map((field) => [field, valueIn(target.data, field)]),
  );
  return [
    ...(Object.keys(data).length > 0 ? [{ action: "update" as const, data }] : []),
    ...(now.isArchived === target.isArchived
      ? []
      : [{ action: target.isArchived ? ("archive" as const) : ("unarchive" as const) }]),
  ];
}
