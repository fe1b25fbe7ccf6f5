import { ownValue } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import type { CheckedReference, UniqueFields } from "../../schema/rules/declared-values.ts";
import { idsIn, valueTexts } from "../../schema/rules/declared-values.ts";
import { isVisible } from "../../tokens/rules/scope.ts";
import { type CommitRequest, recordKey } from "./commit-request.ts";
import { MOST_DEPENDENTS, type Restriction, stillReferencing } from "./follow-deletes.ts";
import { type NamedRecord, valueKey } from "./record-values.ts";
import type { NewEntry, RecordState, TenantState } from "./tenant-state.ts";
import { exists, holdersOf, mayChange, type Records, recordOf } from "./value-holders.ts";

/** What a commit would leave behind. */
export interface Left {
  readonly records: Records;
  readonly entries: readonly NewEntry[];
  readonly restrictions: readonly Restriction[];
}

/** `of`: the record that is in the way, if it is one that the commit names. */
export interface ValueRefusal {
  readonly refusal: Refusal;
  readonly of?: NamedRecord;
}

/**
 * Checks the unique fields and the references of what a commit leaves behind, so that the order of its operations does
 * not matter: two records can exchange a value.
 */
export function checkValues(state: TenantState, commit: CommitRequest, left: Left): ValueRefusal | undefined {
  const { byModel } = state.values.declared;
  if (byModel.size === 0) return undefined;
  const taken = new Map<string, string>();
  for (const entry of left.entries) {
    const record = left.records.get(recordKey(entry.model, entry.id));
    if (!record) continue;
    for (const declared of byModel.get(entry.model) ?? []) {
      if (!mayChange(entry, declared)) continue;
      const refusal =
        declared.kind === "unique"
          ? checkUnique(state, commit, left.records, { entry, record, declared, taken })
          : checkReference(state, left.records, { entry, record, declared });
      if (refusal) return { refusal, of: entry };
    }
  }
  const refusal = checkRestrictions(state, commit, left);
  return refusal && { refusal };
}

interface Checked<Declared> {
  readonly entry: NewEntry;
  /** As the commit leaves it. */
  readonly record: RecordState;
  readonly declared: Declared;
}

function checkUnique(
  state: TenantState,
  commit: CommitRequest,
  records: Records,
  { entry: { model, id }, record, declared, taken }: Checked<UniqueFields> & { readonly taken: Map<string, string> },
): Refusal | undefined {
  const [text] = valueTexts(declared, record.data);
  if (text === undefined) return undefined;
  const value = { model, declared, text };
  const key = valueKey(value);
  const other = taken.get(key) ?? id;
  taken.set(key, other);
  const [holder] = [other, ...holdersOf(state, records, value)].filter((one) => one !== id);
  if (holder === undefined) return undefined;
  const { field, fields } = declared;
  const seen = seenBy(state, commit, records, [{ model, id: holder }]);
  return refuse("not_unique", {
    param: `data.${field}`,
    fields,
    ...(seen.length > 0 && { records: seen }),
    message: `Another record has the same ${fields.map((name) => `"${name}"`).join(", ")}.`,
  });
}

function checkReference(
  state: TenantState,
  records: Records,
  { entry: { model, id: own }, record, declared: { field, target } }: Checked<CheckedReference>,
): Refusal | undefined {
  // An id that was there before stays: the field may not have been checked then.
  const before = state.records.get(recordKey(model, own));
  const kept = before && before.bytes !== "not read" ? idsIn(ownValue(before.data, field)) : [];
  const absent = idsIn(ownValue(record.data, field)).find(
    (id) => !kept.includes(id) && !exists(state, records, { model: target, id }),
  );
  if (absent === undefined) return undefined;
  const name = state.models.get(target)?.name ?? target;
  return refuse("invalid_reference", {
    param: `data.${field}`,
    message: `"${field}" names the ${name} "${absent.slice(0, 80)}", which does not exist.`,
  });
}

/** How many of the records are named. */
const MOST_NAMED = 10;

function checkRestrictions(
  state: TenantState,
  commit: CommitRequest,
  { records, restrictions }: Left,
): Refusal | undefined {
  const held = stillReferencing(state, records, restrictions);
  if (held.length === 0) return undefined;
  const seen = seenBy(state, commit, records, held);
  return refuse("still_referenced", {
    ...(seen.length > 0 && { records: seen.slice(0, MOST_NAMED) }),
    message: `${holding(seen.length, held.length)} the records to delete.`,
  });
}

/** The writer is not told how many there are that it may not read. */
function holding(seen: number, all: number): string {
  if (seen === 0) return "Records that the token cannot read reference";
  const count = seen > MOST_DEPENDENTS ? `More than ${MOST_DEPENDENTS}` : seen;
  const others = seen < all ? ", and others that the token cannot read, reference" : "";
  return `${count} ${seen === 1 ? "record" : "records"}${others || (seen === 1 ? " references" : " reference")}`;
}

/** Those that the writer may read, under their models' names as declared. */
const seenBy = (
  state: TenantState,
  { principal: { scope } }: CommitRequest,
  records: Records,
  names: readonly NamedRecord[],
): NamedRecord[] =>
  names
    .filter((name) => isVisible(scope, name.model, recordOf(state, records, name)?.groups ?? []))
    .map(({ model, id }) => ({ model: state.models.get(model)?.name ?? model, id }));
