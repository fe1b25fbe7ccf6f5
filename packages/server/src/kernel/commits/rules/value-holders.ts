import { type CheckedReference, type DeclaredValue, valueTexts } from "../../schema/rules/declared-values.ts";
import { recordKey } from "./commit-request.ts";
import { type NamedRecord, type NamedValue, noteMissing, type RecordValues, valueKey } from "./record-values.ts";
import type { NewEntry, RecordState, TenantState } from "./tenant-state.ts";

/** The records of a commit so far, over those of its tenant. */
export type Records = ReadonlyMap<string, RecordState | null>;

/** The ids of the records that have a value now, in order. Empty, and noted as missing, if that is not known. */
export function holdersOf(state: TenantState, records: Records, value: NamedValue): readonly string[] {
  const { holders, missing } = state.values;
  const key = valueKey(value);
  const known = holders.get(key);
  if (known) return [...known].filter((id) => hasValue(state, records, value, id)).sort();
  noteMissing(missing, missing.holders, key, value);
  return [];
}

function hasValue(state: TenantState, records: Records, { model, declared, text }: NamedValue, id: string): boolean {
  const record = recordOf(state, records, { model, id });
  if (record === undefined) return state.values.existing.get(recordKey(model, id)) !== false;
  // A record whose values were not read has not been changed by the round.
  return record !== null && (record.bytes === "not read" || valueTexts(declared, record.data).includes(text));
}

/** Undefined: the round has not loaded it. */
export function recordOf(
  state: TenantState,
  records: Records,
  { model, id }: NamedRecord,
): RecordState | null | undefined {
  const key = recordKey(model, id);
  return records.has(key) ? records.get(key) : state.records.get(key);
}

/** Whether a record exists. True, and noted as missing, if that is not known. */
export function exists(state: TenantState, records: Records, name: NamedRecord): boolean {
  const record = recordOf(state, records, name);
  if (record !== undefined) return record !== null;
  const key = recordKey(name.model, name.id);
  const { existing, missing } = state.values;
  const known = existing.get(key);
  if (known === undefined) noteMissing(missing, missing.targets, key, name);
  return known !== false;
}

/** Whether an entry may have changed a value. */
export const mayChange = ({ verb, changedFields }: NewEntry, { fields }: DeclaredValue): boolean =>
  verb === "created" || (verb === "updated" && fields.some((field) => changedFields?.includes(field) !== false));

/** Notes the values that an entry gives its record. */
export function noteValues({ declared, holders, changed }: RecordValues, entry: NewEntry): void {
  const { model, id, after } = entry;
  for (const value of declared.byModel.get(model) ?? []) {
    if (after && !mayChange(entry, value)) continue;
    const texts = after ? valueTexts(value, after.data) : [];
    if (entry.verb !== "created" || texts.length > 0) changed.set(recordKey(model, id), { model, id });
    for (const text of texts) holders.get(valueKey({ model, declared: value, text }))?.add(id);
  }
}

/** The references to a record's model, as the values that name it. */
export const referencesTo = (
  { declared }: RecordValues,
  { model, id }: NamedRecord,
): readonly (NamedValue & { readonly declared: CheckedReference })[] =>
  (declared.referencing.get(model) ?? []).map(({ model: from, reference }) => ({
    model: from,
    declared: reference,
    text: JSON.stringify(id),
  }));
