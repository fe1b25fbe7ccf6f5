import { type Json, type JsonObject, type Model, type OnDelete, ownValue } from "@holdfast/sdk/protocol";

/** Fields whose values no two records of a model share. */
export interface UniqueFields {
  readonly kind: "unique";
  /** The name under which the values are kept. */
  readonly name: string;
  /** The field that declares it. */
  readonly field: string;
  /** The fields whose values count together. */
  readonly fields: readonly string[];
}

/** A field whose ids have to be those of records. */
export interface CheckedReference {
  readonly kind: "reference";
  readonly name: string;
  readonly field: string;
  readonly fields: readonly string[];
  /** The model that it references, in lower case. */
  readonly target: string;
  readonly onDelete: OnDelete;
}

export type DeclaredValue = UniqueFields | CheckedReference;

/** The declarations of a schema whose values are kept, so that commits find the records that have them. */
export interface DeclaredValues {
  /** By lower-case model; models without any are left out. */
  readonly byModel: ReadonlyMap<string, readonly DeclaredValue[]>;
  /** The references to a model, by its lower-case name. */
  readonly referencing: ReadonlyMap<
    string,
    readonly { readonly model: string; readonly reference: CheckedReference }[]
  >;
}

export function declaredValues(models: Iterable<readonly [name: string, model: Model]>): DeclaredValues {
  const byModel = new Map<string, readonly DeclaredValue[]>();
  const referencing = new Map<string, { model: string; reference: CheckedReference }[]>();
  for (const [name, { fields }] of models) {
    const model = name.toLowerCase();
    const own = valuesOf(fields);
    if (own.length > 0) byModel.set(model, own);
    for (const reference of own)
      if (reference.kind === "reference")
        referencing.set(reference.target, [...(referencing.get(reference.target) ?? []), { model, reference }]);
  }
  return { byModel, referencing };
}

function valuesOf(fields: Model["fields"]): readonly DeclaredValue[] {
  const byName = new Map<string, DeclaredValue>();
  for (const [field, { unique, references, onDelete }] of Object.entries(fields)) {
    const together = unique === true ? [field] : (unique ?? []);
    // Two fields may declare the same combination, in any order.
    const name = `unique ${[...together].sort().join()}`;
    if (together.length > 0 && !byName.has(name))
      byName.set(name, { kind: "unique", name, field, fields: [...together].sort() });
    if (references === undefined || onDelete === undefined) continue;
    const reference = `reference ${field}`;
    byName.set(reference, {
      ...{ kind: "reference", name: reference, field, fields: [field] },
      ...{ target: references.toLowerCase(), onDelete },
    });
  }
  return [...byName.values()];
}

/**
 * The values of a record, as they are kept: as JSON. A combination has none if one of its values is absent or null, and
 * a reference one for each id. The schema push computes the same in SQL: see kernel/commits/db/record-values.ts.
 */
export function valueTexts(declared: DeclaredValue, data: JsonObject): readonly string[] {
  if (declared.kind === "reference") return idsIn(ownValue(data, declared.field)).map((id) => JSON.stringify(id));
  const values = declared.fields.map((field) => ownValue(data, field));
  return values.some((value) => value === undefined || value === null) ? [] : [JSON.stringify(values)];
}

/** The ids in a reference, each once. */
export const idsIn = (value: Json | undefined): readonly string[] => [
  ...new Set((Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string")),
];
