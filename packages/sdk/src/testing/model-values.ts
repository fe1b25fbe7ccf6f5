import { recordKey, tableOf } from "../core/log/tables.ts";
import type { Row } from "../protocol/commits/apply.ts";
import type { Operation } from "../protocol/commits/operation.ts";
import type { ErrorCode } from "../protocol/errors/error-codes.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import { ownValue } from "../protocol/own-value.ts";
import type { Field, ModelSchema } from "../protocol/schema/model-schema.ts";

/** All records as a commit leaves them. */
export type LeftRows = ReadonlyMap<string, Row & { readonly model: string; readonly id: string }>;

type Changed = Pick<Operation, "action" | "model" | "id" | "data">;

/** The most records that a commit changes because they reference deleted ones. */
const MOST_DEPENDENTS = 1_000;

/**
 * Unique fields and checked references, as the service judges them: by what a commit leaves. Every record is looked at
 * each time.
 */
export class ModelValues {
  readonly #schema: ModelSchema;
  /** Whether a field of any model is unique or has checked references. */
  readonly areDeclared: boolean;

  constructor(schema: ModelSchema) {
    this.#schema = schema;
    const fields = Object.values(schema.models).flatMap((model) => Object.values(model.fields));
    this.areDeclared = fields.some(({ unique, onDelete }) => unique !== undefined || onDelete !== undefined);
  }

  /** What becomes of the records that reference deleted ones, in the order of the service. */
  dependentsOf(
    before: LeftRows,
    rows: LeftRows,
    gone: readonly { readonly model: string; readonly id: string }[],
  ): readonly Changed[] {
    const found = new Map<string, { row: Held; fields: Map<string, string[]>; isDeleted: boolean }>();
    for (const target of gone)
      for (const [model, name, { onDelete }] of this.#references(target.model)) {
        if (onDelete !== "cascade" && onDelete !== "setNull") continue;
        const had = new Set(holdersOf(before, model, name, target.id).map(({ id }) => id));
        for (const row of holdersOf(rows, model, name, target.id).filter(({ id }) => had.has(id))) {
          const one = found.get(recordKey(row)) ?? { row, fields: new Map(), isDeleted: false };
          found.set(recordKey(row), one);
          if (onDelete === "cascade") one.isDeleted = true;
          else one.fields.set(name, [...(one.fields.get(name) ?? []), target.id]);
        }
      }
    return [...found.values()].map(({ row: { model, id, data }, fields, isDeleted }) => {
      if (isDeleted) return { action: "delete", model, id };
      const left = [...fields].map(([name, ids]) => [name, without(ownValue(data, name) ?? null, ids)]);
      return { action: "update", model, id, data: Object.fromEntries(left) as JsonObject };
    });
  }

  /** Why what a commit leaves cannot stay. `before`: the records before it; `changed`: how many changed besides. */
  refusalOf(before: LeftRows, rows: LeftRows, entries: readonly LogEntry[], changed: number): ErrorCode | undefined {
    if (changed > MOST_DEPENDENTS) return "too_many_dependents";
    for (const [at, entry] of entries.entries()) {
      const row = rows.get(recordKey(entry));
      if (!row) continue;
      // Of two records that take a value, the later one is in the way.
      const later = new Set(entries.slice(at + 1).map(recordKey));
      const taking = (other: Held, fields: readonly string[]) =>
        later.has(recordKey(other)) && !isTaken(before, row, fields);
      for (const [name, field] of Object.entries(this.#model(entry.model)?.fields ?? {})) {
        const together = field.unique === true ? [name] : (field.unique ?? []);
        if (together.some((one) => isWritten(entry, one)) && isTaken(rows, row, together, taking)) return "not_unique";
        if (field.onDelete === undefined || !isWritten(entry, name)) continue;
        const kept = idsIn(ownValue(before.get(recordKey(entry))?.data, name));
        const added = idsIn(ownValue(row.data, name)).filter((id) => !kept.includes(id));
        if (added.some((id) => !rows.has(recordKey({ model: field.references ?? "", id })))) return "invalid_reference";
      }
    }
    const gone = entries.filter((entry) => before.has(recordKey(entry)) && !rows.has(recordKey(entry)));
    const isHeld = gone.some(({ model, id }) =>
      this.#references(model).some(
        ([from, name, { onDelete }]) => onDelete === "restrict" && holdersOf(rows, from, name, id).length > 0,
      ),
    );
    return isHeld ? "still_referenced" : undefined;
  }

  #model(name: string) {
    return ownValue(this.#schema.models, name) ?? ownValue(this.#schema.models, tableOf(name));
  }

  #references(target: string): readonly (readonly [model: string, name: string, field: Field])[] {
    return Object.entries(this.#schema.models).flatMap(([model, { fields }]) =>
      Object.entries(fields)
        .filter(([, { references }]) => references !== undefined && tableOf(references) === tableOf(target))
        .map(([name, field]) => [model, name, field] as const),
    );
  }
}

type Held = LeftRows extends ReadonlyMap<string, infer R> ? R : never;

const holdersOf = (rows: LeftRows, model: string, name: string, id: string): readonly Held[] =>
  [...rows.values()]
    .filter((row) => tableOf(row.model) === tableOf(model) && idsIn(ownValue(row.data, name)).includes(id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

const isWritten = ({ verb, changedFields }: LogEntry, field: string): boolean =>
  verb === "created" || (verb === "updated" && changedFields?.includes(field) === true);

const isTaken = (
  rows: LeftRows,
  { model, id, data }: Held,
  fields: readonly string[],
  except: (other: Held, fields: readonly string[]) => boolean = () => false,
): boolean =>
  fields.length > 0 &&
  fields.every((field) => (ownValue(data, field) ?? null) !== null) &&
  [...rows.values()].some(
    (row) =>
      row.id !== id &&
      tableOf(row.model) === tableOf(model) &&
      fields.every((field) => ownValue(row.data, field) === ownValue(data, field)) &&
      !except(row, fields),
  );

const idsIn = (value: Json | undefined): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");

const without = (value: Json, ids: readonly string[]): Json =>
  Array.isArray(value) ? value.filter((item) => typeof item !== "string" || !ids.includes(item)) : null;
